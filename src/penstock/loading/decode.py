"""`penstock.decode`: images on their own, without a loader.

The result is that of `Image.open(file).convert("RGB").crop(box).resize(size)` in Pillow, bit for
bit. Of a JPEG only the blocks that the box needs are decoded. Formats that the core does not know
are decoded by Pillow, whole.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock._core import EnginePart, Route, Status
from penstock.errors import CoreError, DecodeError, LoaderError
from penstock.geometry import Ints, Sizes
from penstock.limits import Limits
from penstock.loading.fetch import Positions, open_images
from penstock.loading.shared_engine import shared_engine, wait_for
from penstock.loading.to_torch import require_torch
from penstock.planner.lower import lower
from penstock.planner.rules import BY_NAME
from penstock.planner.rules.rule import rewrite_moves
from penstock.reference.libraries.pillow import check_pixels, decode_rgb, open_listening
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused
from penstock.rng import Draws
from penstock.transforms.arguments import Interpolation, InterpolationMode
from penstock.transforms.moves import CropMove, Move
from penstock.transforms.resize import Resize
from penstock.usable_cores import usable_cores

# A file, or the bytes of one.
Given: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview"
Box: TypeAlias = Sequence[int]  # left, top, right, bottom
Library = Literal["numpy", "pillow", "torch"]
Pixels = npt.NDArray[np.uint8]

_LIBRARIES = ("numpy", "pillow", "torch")
_FIDELITIES = ("exact", "fast")
_REDUCE = BY_NAME["reduce_in_decoder"]


def decode(
    image: Given,
    box: Box | None = None,
    size: int | Sequence[int] | None = None,
    *,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fidelity: Literal["exact", "fast"] = "exact",
    output: Library = "numpy",
    limits: Limits | None = None,
) -> Any:
    """Decode one image, or a part of it, to RGB; and resize it.

    - `image`: a path, or the bytes of a file.
    - `box`: left, top, right and bottom of the part that is wanted, in pixels within the image.
    - `size`: (height, width) of the result, or one number for its shorter side.
    - `interpolation`: of the resize, as Pillow does it.
    - `fidelity`: "fast" may decode a large JPEG at 1/2, 1/4 or 1/8 before it is resized.
    - `output`: "numpy" for (height, width, 3), "torch" for (3, height, width), "pillow".
    - `limits`: the largest image that is decoded; see `penstock.Limits`.

    As in Pillow, the image is not turned as its EXIF data say, and of several frames it is the
    first. DecodeError for what is no image, or damaged.
    """
    options = _Options.read("decode", size, interpolation, fidelity, output, limits)
    (pixels,) = _decode([image], [box], options, threads=1)
    return options.deliver(pixels)


def decode_batch(
    images: Iterable[Given],
    boxes: Iterable[Box | None] | None = None,
    size: int | Sequence[int] | None = None,
    *,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fidelity: Literal["exact", "fast"] = "exact",
    output: Library = "numpy",
    limits: Limits | None = None,
    threads: int | None = None,
) -> Any:
    """Decode several images at once, on all cores or so many `threads`; see `decode`.

    `boxes` has a box for each image, or None for the whole of it. With `size` as (height, width),
    the result is one array (images, height, width, 3), or one tensor (images, 3, height, width);
    otherwise, and with output="pillow", a list.
    """
    where = "decode_batch"
    options = _Options.read(where, size, interpolation, fidelity, output, limits)
    if isinstance(images, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise LoaderError(f"{where}: images must be several, got one. Use penstock.decode.")
    given = list(images)
    wanted = [None] * len(given) if boxes is None else list(boxes)
    if len(wanted) != len(given):
        raise LoaderError(
            f"{where}: {len(given)} images, but {len(wanted)} boxes. Give a box for each image; "
            "None keeps all of it."
        )
    if threads is not None and threads < 1:
        raise LoaderError(f"{where}: threads must be 1 or more, got {threads}.")
    decoded = _decode(given, wanted, options, threads or usable_cores())
    if options.is_fixed and output != "pillow":
        height, width = options.resize.size  # type: ignore[union-attr, misc]  # is_fixed says so
        stacked = np.stack(decoded) if decoded else np.empty((0, height, width, 3), np.uint8)
        return options.deliver(stacked)
    return [options.deliver(pixels) for pixels in decoded]


@dataclass(frozen=True, slots=True)
class _Options:
    """What holds for all images of a call."""

    where: str
    resize: Resize | None
    is_fast: bool
    output: Library
    limits: Limits

    @classmethod
    def read(
        cls,
        where: str,
        size: int | Sequence[int] | None,
        interpolation: Interpolation,
        fidelity: str,
        output: Library,
        limits: Limits | None,
    ) -> _Options:
        for name, value, known in (
            ("output", output, _LIBRARIES),
            ("fidelity", fidelity, _FIDELITIES),
        ):
            if value not in known:
                raise LoaderError(f"{where}: {name} must be one of {known}, got {value!r}.")
        if output == "torch":
            require_torch()
        resize = None if size is None else Resize(size, interpolation)
        return cls(where, resize, fidelity == "fast", output, limits or Limits())

    @property
    def is_fixed(self) -> bool:
        """Whether all results have one size."""
        size = None if self.resize is None else self.resize.size
        return isinstance(size, Sequence) and len(size) == 2  # one alone is the shorter side

    def moves(self, crop: CropMove, sizes: Sizes) -> tuple[Move, ...]:
        """What is done to images of these sizes."""
        if self.resize is None:
            return (crop,)
        draws = Draws(0, 0, np.arange(len(sizes)), 0)
        moves = (crop, *self.resize.sample(draws, crop.out_sizes(sizes)))
        return rewrite_moves(moves, sizes, [_REDUCE]) if self.is_fast else moves

    def deliver(self, pixels: Pixels) -> Any:
        """One image, or a stack of them, as the user wants it."""
        if self.output == "pillow":
            return PIL.Image.fromarray(pixels)
        if self.output == "torch":
            return require_torch().from_numpy(np.moveaxis(pixels, -1, -3))
        return pixels


class _Images:
    """Images in memory, as a source of them."""

    classes = None
    labels = None

    def __init__(self, where: str, given: Sequence[Given], limits: Limits) -> None:
        self._names = [
            f"{where}: image {index}" if _is_memory(one) else f"{where}: {os.fspath(one)!s}"  # type: ignore[arg-type]
            for index, one in enumerate(given)
        ]
        self.files = [self._read(index, one, limits) for index, one in enumerate(given)]

    def __len__(self) -> int:
        return len(self.files)

    def open(self, index: int) -> BinaryIO:
        return io.BytesIO(self.files[index])

    def name(self, index: int) -> str:
        return self._names[index]

    def describe(self) -> str:
        return f"{len(self)} images in memory"

    def _read(self, index: int, one: Given, limits: Limits) -> bytes:
        if isinstance(one, (bytes, bytearray, memoryview)):
            data = bytes(one)
        elif isinstance(one, (str, os.PathLike)):
            data = self._read_file(index, os.fspath(one), limits)
        else:
            raise LoaderError(
                f"{self.name(index)}: an image must be a path or bytes, got {type(one).__name__}."
            )
        if len(data) > limits.record_bytes:
            raise DecodeError(
                f"{self.name(index)}: {len(data):,} bytes, more than "
                f"Limits(record_bytes={limits.record_bytes:,}) allows."
            )
        return data

    def _read_file(self, index: int, path: str, limits: Limits) -> bytes:
        try:
            with open_regular(path) as file:
                return file.read(limits.record_bytes + 1)
        except OSError as error:
            raise_if_refused(error, self.name(index))
            raise DecodeError(
                f"{self.name(index)}: it cannot be read: {error.strerror or error}."
            ) from error


def _is_memory(one: object) -> bool:
    return not isinstance(one, (str, os.PathLike))


def _decode(
    given: Sequence[Given], boxes: Sequence[Box | None], options: _Options, threads: int
) -> list[Pixels]:
    if not given:
        return []
    images = _Images(options.where, given, options.limits)
    part = open_images(shared_engine(threads), 0, images.files)
    wait_for(part)
    for position in np.flatnonzero(part.unreadable).tolist():
        raise DecodeError(f"{images.name(position)}: {part.problem(position)}.")
    by_pillow = np.flatnonzero(part.route == Route.PILLOW)
    _take_from_pillow(part, images, by_pillow, options.limits)
    every = np.arange(len(given), dtype=np.int32)
    sizes = Sizes(part.height.astype(np.int64), part.width.astype(np.int64))
    for position in every.tolist():
        try:
            check_pixels(*_side_pair(sizes, position), options.limits.pixels)
        except DecodeError as error:
            raise DecodeError(f"{images.name(position)}: {error}.") from error
    crop = _read_boxes(images, boxes, sizes)
    steps = lower(options.moves(crop, sizes), sizes)
    after = steps.out_sizes
    results = [np.empty((*_side_pair(after, row), 3), dtype=np.uint8) for row in every.tolist()]
    part.run_to_arrays(every, steps.programs(), results)
    wait_for(part)
    doubtful = every[part.status != Status.OK]
    if len(doubtful):
        # What the core is not sure of, Pillow decides.
        before = sizes
        _take_from_pillow(part, images, doubtful, options.limits)
        now = Sizes(part.height.astype(np.int64), part.width.astype(np.int64))
        for position in doubtful.tolist():
            if now[position] != before[position]:
                raise DecodeError(
                    f"{images.name(position)}: its header says {before[position]}, but Pillow "
                    f"gives {now[position]}."
                )
        part.run_to_arrays(
            doubtful, steps.pick(doubtful).programs(), [results[row] for row in doubtful.tolist()]
        )
        wait_for(part)
        for position in doubtful[part.status[doubtful] != Status.OK].tolist():
            said = part.message(position)
            name = images.name(position)
            raise CoreError(f"{name}: the core failed on pixels that Pillow gave it ({said}).")
    return results


def _take_from_pillow(
    part: EnginePart, images: _Images, positions: Ints | Positions, limits: Limits
) -> None:
    for position in positions.tolist():
        try:
            pixels, _ = open_listening(decode_rgb, images, position, limits.pixels)
        except DecodeError as error:
            raise DecodeError(f"{images.name(position)}: {error}.") from error
        part.set_pixels(position, pixels)


def _read_boxes(images: _Images, boxes: Sequence[Box | None], sizes: Sizes) -> CropMove:
    """The boxes as crops of these images; LoaderError for one that is not inside."""
    read = []
    for position, box in enumerate(boxes):
        height, width = _side_pair(sizes, position)
        if box is None:
            read.append((0, 0, height, width))
            continue
        try:
            left, top, right, bottom = (int(side) for side in box)
            is_whole = all(side == int(side) for side in box)
        except (TypeError, ValueError):
            is_whole = False
        if not is_whole:
            raise LoaderError(
                f"{images.name(position)}: a box is four whole numbers (left, top, right, bottom), "
                f"got {box!r}."
            )
        if not (0 <= left < right <= width and 0 <= top < bottom <= height):
            raise LoaderError(
                f"{images.name(position)}: the box {tuple(box)} (left, top, right, bottom) is "
                f"empty or not within the image, which is {width} wide and {height} high."
            )
        read.append((top, left, bottom - top, right - left))
    return CropMove(*np.array(read, dtype=np.int64).T)


def _side_pair(sizes: Sizes, row: int) -> tuple[int, int]:
    return int(sizes.height[row]), int(sizes.width[row])
