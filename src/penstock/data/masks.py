"""Where a loader gets the masks of its images from, and which of them it wants."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from penstock.data.column_source import ColumnSource
from penstock.data.targets import has_objects
from penstock.errors import DecodeError, LoaderError
from penstock.geometry import Ints, Size, Sizes
from penstock.limits import Limits, using
from penstock.packing.items import MASKS
from penstock.packing.mask_runs import are_runs, check_mask_area, read_header
from penstock.sources import MaskPairs, Source, read_label_map
from penstock.sources.mask_pairs import sizes_differ

MOST_FILL = 65_535


# The masks of one sample: run lengths as a packed file has them (one row of bytes), or
# (masks, height, width) of uint8 or uint16.
Masks = npt.NDArray[Any]


def count_of(masks: Masks) -> int:
    """Return how many masks a sample has."""
    return read_header(masks)[0] if masks.ndim == 1 else len(masks)


def size_of(masks: Masks) -> Size:
    """Return the size of a sample's masks."""
    return read_header(masks)[1] if masks.ndim == 1 else Size(*masks.shape[1:])


class MaskKind(Enum):
    """What a mask describes."""

    OBJECTS = "objects"  # one for each object, 0 and 1
    LABELS = "labels"  # one for the whole image, a class number for each pixel


class MaskReader(Protocol):
    """Masks of a data set."""

    @property
    def kind(self) -> MaskKind:
        """What each of the masks describes."""
        ...

    def read(self, index: int) -> Masks:
        """Return a sample's masks; DecodeError, without its name, if that cannot be done."""
        ...


@dataclass(frozen=True, slots=True)
class MaskUse:
    """The masks that a loader wants."""

    reader: MaskReader
    fill: int  # what comes in from outside
    limits: Limits = field(default_factory=Limits)

    @property
    def kind(self) -> MaskKind:
        """What each of the masks describes."""
        return self.reader.kind


def read_masks(
    use: MaskUse | None, samples: Ints, pool: Executor
) -> tuple[dict[int, Masks], dict[int, str]]:
    """Return the masks of these samples by position, and the reasons where there are none."""
    masks: dict[int, Masks] = {}
    failed: dict[int, str] = {}
    if use is None:
        return masks, failed
    reader = use.reader

    def read(index: int) -> Masks | str:
        try:
            with using(use.limits):
                return reader.read(index)
        except DecodeError as error:
            return str(error)

    # Run lengths only need to be looked up; files must be decoded.
    over = map if use.kind is MaskKind.OBJECTS else pool.map
    for item, found in enumerate(over(read, samples.tolist())):
        if isinstance(found, str):
            failed[item] = found
        else:
            masks[item] = found if use.fill <= 255 else found.astype(np.uint16)
    return masks, failed


class StoredMasks:
    """The column of masks of a data set."""

    def __init__(self, source: ColumnSource) -> None:
        self._source = source
        self.kind = MaskKind.OBJECTS if has_objects(source.schema) else MaskKind.LABELS

    def read(self, index: int) -> Masks:
        """Return a sample's masks."""
        encoded = self._source.masks(index)
        if self.kind is MaskKind.OBJECTS and are_runs(encoded):
            check_mask_area(*read_header(encoded))
            return np.array(encoded)  # a copy: the file might change between two looks at it
        if self.kind is MaskKind.LABELS:
            if not len(encoded):
                raise DecodeError(
                    "it has no mask; without boxes or keypoints each image needs one. Repack it "
                    "with one, or leave it out"
                )
            return read_label_map(encoded.tobytes())[None]
        height, width = self._source.image_size(index)
        stack: Masks = np.zeros((0, width), np.uint8)
        if len(encoded):
            stack = read_label_map(encoded.tobytes())
        if stack.shape[1] != width or stack.shape[0] % height:
            raise DecodeError(
                f"masks of {stack.shape[0]}x{stack.shape[1]} do not fit an image "
                f"of {height}x{width}. Repack it"
            )
        return stack.reshape(-1, height, width)


@dataclass(frozen=True, slots=True)
class PairMasks:
    """Mask files beside image files."""

    pairs: MaskPairs
    kind: MaskKind = MaskKind.LABELS

    def read(self, index: int) -> Masks:
        """Return a sample's mask."""
        path = self.pairs.mask_path(index)
        try:
            return read_label_map(path)[None]
        except DecodeError as error:
            raise DecodeError(f"{error} ({os.path.relpath(path, self.pairs.mask_root)})") from error


def misfits(masks: dict[int, Masks], sizes: Sizes) -> dict[int, str]:
    """Say which masks do not have their image's size; `sizes` has a row for each item."""
    found = {}
    for item, stack in masks.items():
        mask, image = size_of(stack), sizes[item]
        if mask != image:
            found[item] = sizes_differ((mask.height, mask.width), (image.height, image.width))
    return found


def open_masks(
    source: Source, asked: object, fill: object, targets: object, limits: Limits
) -> MaskUse | None:
    """Return the masks that a loader delivers, or None.

    `asked` is the loader's `masks`: True, False, None for masks of whole images only, or where the
    masks of `source` are. `fill` is its `mask_fill`, `targets` what it was given under that name.
    """
    reader = _reader_of(source)
    if asked is True and reader is None:
        raise LoaderError(
            f"Loader: masks=True, but {source.describe()} has no masks. Leave it out; or pack a "
            "data set that has masks, or give their folder: masks='path/to/masks'."
        )
    unmasked = ("labels", "none", "yolo")
    others = targets in unmasked if isinstance(targets, str) else targets is not None
    wanted = reader is not None and asked is not False
    if reader is not None and asked is None:
        wanted = reader.kind is MaskKind.LABELS and targets not in unmasked
    if wanted and others:
        got = repr(targets) if isinstance(targets, str) else "Targets"
        raise LoaderError(
            f"Loader: targets={got} and the masks of {source.describe()} cannot be had together. "
            "Leave out targets=, or the masks (masks=False)."
        )
    use = MaskUse(reader, _read_fill(fill), limits) if reader is not None and wanted else None
    if fill and (use is None or use.kind is MaskKind.OBJECTS):
        raise LoaderError(
            f"Loader: mask_fill={fill} is for masks of whole images, and none are delivered here. "
            "Leave it out."
        )
    return use


def _read_fill(fill: object) -> int:
    if isinstance(fill, bool) or not isinstance(fill, int) or not 0 <= fill <= MOST_FILL:
        raise LoaderError(
            f"Loader: mask_fill must be a whole number from 0 to {MOST_FILL:,}, got {fill!r}."
        )
    return fill


def _reader_of(source: Source) -> MaskReader | None:
    if isinstance(source, MaskPairs):
        return PairMasks(source)
    if isinstance(source, ColumnSource) and MASKS in source.schema:
        return StoredMasks(source)
    return None
