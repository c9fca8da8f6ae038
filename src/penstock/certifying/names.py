"""Which file each image comes from, where that is known for certain.

A wrong name would match an image with another one, so anything that is not certain has no names,
and `Names.why` says what stands in the way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.data.column_source import ColumnSource
from penstock.printable import printable
from penstock.sources import Source


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a side's samples, batch by batch as they come; or why there are none."""

    batches: tuple[tuple[str, ...], ...] | None  # at least as many as are needed
    why: str = ""  # there are none

    def listed(self) -> list[str]:
        """Return all names; none if there are none."""
        return [name for batch in self.batches or () for name in batch]


NO_NAMES = Names(None, "its images have no names")
NOT_ASKED = Names(None, "you asked for positions")


def names_of_loader(loader: Any, most: int | None) -> Names:
    """Return the names that a loader of penstock's gives in its coming epoch."""
    if not getattr(loader, "order_is_ours", True):
        return Names(None, "its order is that of a sampler which cannot be asked twice")
    source: Source = loader.source
    name = _namer(source)
    listed: list[tuple[str, ...]] = []
    for batch in loader.batch_sampler:
        listed.append(tuple(map(name, batch)))
        if most is not None and sum(map(len, listed)) >= most:
            break
    return Names(tuple(listed))


def names_of_torch_loader(loader: Any, most: int | None) -> Names:
    """Return the names that a DataLoader of torch's gives: only if it takes samples in order."""
    batches = loader.batch_sampler
    if batches is not None and not _is_of_torch(batches, "BatchSampler"):
        return Names(None, f"a {type(batches).__name__} makes its batches")
    sampler = loader.sampler if batches is None else batches.sampler
    if not _is_of_torch(sampler, "SequentialSampler"):
        return Names(None, f"its order is that of a {type(sampler).__name__}")
    if not getattr(loader, "in_order", True):
        return Names(None, "its batches come in any order (in_order=False)")
    size: int = 1 if batches is None else batches.batch_size
    found = names_of_dataset(loader.dataset, None if most is None else most + size)
    flat = found.listed()
    if found.batches is None:
        return found
    return Names(tuple(tuple(flat[begin : begin + size]) for begin in range(0, len(flat), size)))


def names_of_dataset(dataset: Any, most: int | None) -> Names:
    """Return the names of a Dataset's samples: of penstock's, ImageFolder's and subsets of them."""
    name = _dataset_namer(dataset)
    if name is None:
        return Names(None, f"a {type(dataset).__name__} has no list `samples` of its files")
    count = len(dataset) if most is None else min(most, len(dataset))
    return Names(tuple((name(index),) for index in range(count)))


def _dataset_namer(dataset: Any) -> Callable[[int], str] | None:
    if _is_of_torch(dataset, "Subset"):
        inner, indices = _dataset_namer(dataset.dataset), dataset.indices
        return None if inner is None else lambda index: inner(int(indices[index]))
    ours = sys.modules.get("penstock.torch")
    if ours is not None and isinstance(dataset, ours.Dataset):
        return _namer(dataset.source)
    samples = getattr(dataset, "samples", None)
    if not isinstance(samples, Sequence) or not samples or len(samples) != len(dataset):
        return None
    if not all(_is_listed(entry) for entry in samples):
        return None
    root = getattr(dataset, "root", None)
    folder = os.path.abspath(root) if isinstance(root, (str, os.PathLike)) else None
    return lambda index: _relative(os.fspath(samples[index][0]), folder)


def _is_listed(entry: Any) -> bool:
    is_pair = isinstance(entry, (list, tuple)) and len(entry) > 0
    return is_pair and isinstance(entry[0], (str, os.PathLike))


def _relative(path: str, folder: str | None) -> str:
    """Return a path from the folder of the data set on, as penstock names its samples."""
    if folder is not None and os.path.abspath(path).startswith(folder + os.sep):
        path = os.path.relpath(path, folder)
    return printable(path.replace(os.sep, "/"))


def _namer(source: Source) -> Callable[[int], str]:
    name = source.file_name if isinstance(source, ColumnSource) else source.name
    return lambda index: printable(name(index))


def _is_of_torch(thing: Any, name: str) -> bool:
    """Whether a class is torch's own or penstock's in its place, and not one derived from it."""
    kind = type(thing)
    home = kind.__module__
    return kind.__name__ == name and home.startswith(("torch.utils.data.", "penstock.torch."))
