"""Batches prepared by workers on any node of a Ray cluster; needs `ray`.

`RayLoader` is a `penstock.Loader` whose images others prepare: the same batches, bit for bit, each
exactly once, whatever happens to the workers. `read` gives a data set to Ray Data, and needs what
`ray[data]` brings.
"""

from typing import Any

from penstock.ray.loader import RayLoader
from penstock.ray.metrics import RayMetrics
from penstock.ray.worker import WorkerInfo

__all__ = ["RayLoader", "RayMetrics", "WorkerInfo", "read"]


def __getattr__(name: str) -> Any:
    """Import Ray Data when it is asked for: it takes a second, and libraries of its own."""
    if name == "read":
        from penstock.ray.dataset import read

        return read
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
