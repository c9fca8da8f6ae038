"""What sampling asks of data: how many samples, which labels, how large their images are."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.data.column_source import ColumnSource
from penstock.data.image_sizes import ImageSizes, read_file_sizes, read_image_sizes
from penstock.data.open_data import open_data
from penstock.data.packed import PackedSource
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.sources import Source

_NO_SIZES = "Give a path or a Source, or an array of (height, width), one row per sample."


@dataclass(frozen=True, slots=True)
class DataFacts:
    """A data set as sampling sees it; labels and sizes are read when they are asked for."""

    length: int
    described: str  # for errors
    read_labels: Callable[[], Any]  # None: there are none
    read_sizes: Callable[[], ImageSizes] | None
    read_blocks: Callable[[], Ints | None] | None = None  # the first sample of each block

    def class_numbers(self, where: str, advice: str = "") -> Ints:
        """Return one class number per sample; LoaderError where that is not what labels are."""
        given = self.read_labels()
        if given is None:
            raise LoaderError(
                f"{where}: needs a label for each sample, but {self.described} has none.{advice}"
            )
        labels = np.asarray(given)
        if labels.ndim != 1:
            raise LoaderError(
                f"{where}: needs one class number for each sample, but {self.described} has labels "
                f"of shape {labels.shape[1:]}, as for several classes at once. Give an array with "
                "the class that counts."
            )
        if len(labels) != self.length:
            raise LoaderError(
                f"{where}: {self.described} has {self.length:,} samples, but {len(labels):,} "
                "labels."
            )
        if labels.dtype.kind == "U":
            return np.unique(labels, return_inverse=True)[1].astype(np.int64)
        if labels.dtype.kind not in "iub":
            raise LoaderError(
                f"{where}: needs class numbers, but the labels of {self.described} are "
                f"{labels.dtype}."
            )
        numbers: Ints = labels.astype(np.int64)
        if (numbers < 0).any():
            first = int(np.flatnonzero(numbers < 0)[0])
            raise LoaderError(
                f"{where}: sample {first:,} has label {numbers[first]}, which is no class. Leave "
                "such samples out with indices=."
            )
        return numbers

    def sizes(self, where: str) -> ImageSizes:
        """Return the sizes of all images; LoaderError where they cannot be known."""
        if self.read_sizes is None:
            raise LoaderError(
                f"{where}: needs the sizes of all images, which {self.described} does not say. "
                f"{_NO_SIZES}"
            )
        return self.read_sizes()


def facts_of(data: Any, where: str) -> DataFacts:
    """Read what a user gave as data: anything a Loader takes, a data set, an array or a number.

    An array holds a label per sample, or (height, width) per sample.
    """
    if isinstance(data, DataFacts):
        return data
    if isinstance(data, (int, np.integer)) and not isinstance(data, bool):
        if data < 1:
            raise LoaderError(f"{where}: data is the number {data}; there must be a sample.")
        return DataFacts(int(data), f"{data:,}, a number of samples,", lambda: None, None)
    if isinstance(data, ColumnSource):  # before `Source`, whose check would ask for the labels
        return facts_of_source(data)
    if isinstance(data, (str, bytes, os.PathLike, Source)):
        return facts_of_source(open_data(data))
    if hasattr(data, "__array__") or (
        isinstance(data, (list, tuple, range)) and data and not _is_path(data[0])
    ):
        return _of_array(data, where)
    if isinstance(data, (list, tuple)) and data:
        return facts_of_source(open_data(data))
    if hasattr(data, "__len__") and len(data):
        return _of_dataset(data)
    raise LoaderError(
        f"{where}: data must be a path, a Source, a data set with a length, an array of labels or "
        f"a number of samples, got {data!r}."
    )


def _is_path(one: Any) -> bool:
    return isinstance(one, (str, bytes, os.PathLike))


def facts_of_source(source: Source) -> DataFacts:
    """Return what sampling may ask of a source; reads nothing."""
    return DataFacts(
        len(source),
        source.describe(),
        lambda: source.labels,
        lambda: read_image_sizes(source),
        source.blocks if isinstance(source, PackedSource) else None,
    )


def _of_array(data: Any, where: str) -> DataFacts:
    try:
        array: npt.NDArray[Any] = np.asarray(data)
    except (TypeError, ValueError) as error:
        raise LoaderError(f"{where}: data cannot be read as an array ({error}).") from error
    if array.ndim not in (1, 2) or not len(array):
        raise LoaderError(
            f"{where}: data is an array of shape {array.shape}. Give one label per sample, or "
            "(height, width) per sample."
        )
    are_sizes = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
    return DataFacts(
        len(array),
        f"an array of shape {array.shape}",
        lambda: array,
        (lambda: _sizes_in(array, where)) if are_sizes else None,
    )


def _sizes_in(array: npt.NDArray[Any], where: str) -> ImageSizes:
    if (array < 1).any() or (array >= 1 << 31).any():
        wrong = int(np.flatnonzero(((array < 1) | (array >= 1 << 31)).any(axis=1))[0])
        height, width = array[wrong].tolist()
        raise LoaderError(f"{where}: sample {wrong:,} is {height}x{width}, which is no image.")
    return ImageSizes(array[:, 0].astype(np.int32), array[:, 1].astype(np.int32))


def _of_dataset(data: Any) -> DataFacts:
    """A data set of torch's kind: torchvision's have `targets`, and folders `samples`."""

    def labels() -> Any:
        found = getattr(data, "labels", None)
        return getattr(data, "targets", None) if found is None else found

    files = _files_of(getattr(data, "samples", None), len(data))
    return DataFacts(
        len(data),
        f"the {type(data).__name__} of {len(data):,} samples",
        labels,
        None if files is None else lambda: read_file_sizes(files),
    )


def _files_of(pairs: Any, count: int) -> list[str] | None:
    """The files of a torchvision folder, whose samples are (path, label)."""
    if not isinstance(pairs, Sequence) or len(pairs) != count:
        return None
    if not all(isinstance(pair, tuple) and len(pair) == 2 and _is_path(pair[0]) for pair in pairs):
        return None
    return [os.fsdecode(pair[0]) for pair in pairs]
