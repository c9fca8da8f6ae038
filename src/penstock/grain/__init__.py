"""Data for Grain, the input library of JAX; needs `grain`.

`Source` is a random-access data source. Its `samples` go through Grain's own shuffling, sharding
and repeating as light references, and `Source.read` decodes a whole batch of them at once.
"""

from penstock.grain.source import Draw, Sample, Source

__all__ = ["Draw", "Sample", "Source"]
