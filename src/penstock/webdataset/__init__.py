"""Batches of tar archives under the keys that the library webdataset gives; it is not needed.

`loader` reads archives in which the files of a sample share the name up to the first dot.
"""

from penstock.webdataset.keyed_loader import KeyedLoader, loader

__all__ = ["KeyedLoader", "loader"]
