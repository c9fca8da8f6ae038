"""Batches prepared by workers on any node of a Ray cluster; needs `ray`.

`RayLoader` is a `penstock.Loader` whose images others prepare: the same batches, bit for bit, each
exactly once, whatever happens to the workers. `read` gives a data set to Ray Data, and needs what
`ray[data]` brings. `search_schedule` searches an augmentation schedule, and needs what `ray[tune]`
brings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.ray.loader import RayLoader
from penstock.ray.metrics import RayMetrics
from penstock.ray.worker import WorkerInfo

if TYPE_CHECKING:
    from penstock.ray.dataset import read
    from penstock.ray.search import FoundSchedule, search_schedule
    from penstock.ray.trial import Trial

__all__ = [
    "FoundSchedule",
    "RayLoader",
    "RayMetrics",
    "Trial",
    "WorkerInfo",
    "read",
    "search_schedule",
]

# Imported when they are asked for: they take a second, and libraries that Ray itself does not need.
_LATE = {
    "read": ("penstock.ray.dataset", "ray[data]"),
    "FoundSchedule": ("penstock.ray.search", "ray[tune]"),
    "Trial": ("penstock.ray.trial", "ray[tune]"),
    "search_schedule": ("penstock.ray.search", "ray[tune]"),
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, needed = _LATE[name]
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        raise ImportError(
            f"penstock.ray.{name}: {error} Install what it needs: pip install '{needed}'"
        ) from error
