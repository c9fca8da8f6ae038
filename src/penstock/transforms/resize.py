"""Resizing: to a given size, into one, to a random one, or of a random part of the image.

All of it exactly as Pillow does. Where torchvision has an argument `antialias` it is taken; it
matters to tensors only: Pillow always smooths when it shrinks, and so does the loader.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock._core import PadMode
from penstock.errors import TransformError
from penstock.geometry import Bools, Floats, Ints, Size, Sizes
from penstock.rng import Draws
from penstock.transforms import functional as F
from penstock.transforms.arguments import (
    MAX_SIDE_PX,
    Colour,
    Fill,
    Interpolation,
    InterpolationMode,
    read_fill,
    read_integer,
    read_interpolation,
    read_range,
    read_size,
)
from penstock.transforms.inputs import query_size
from penstock.transforms.moves import CropMove, PadMove, ResizeMove, repeat
from penstock.transforms.op import ImageOp, Params, refuse_any
from penstock.transforms.torch_draws import integer, log_uniform, rand, uniform

Sides = Ints | Floats  # whole numbers of pixels, whatever the type

BOX_TRIES = 10


@dataclass(frozen=True, slots=True, repr=False)
class Resize(ImageOp):
    """Resize to `size`, exactly as Pillow does.

    `size` is (height, width); or one number for the shorter side, the other following in
    proportion, at most `max_size`; or None with `max_size` for the longer side.
    """

    size: int | Sequence[int] | None
    interpolation: Interpolation = InterpolationMode.BILINEAR
    max_size: int | None = None
    antialias: bool | None = True
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)
    _sides: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _mode=read_interpolation("Resize", self.interpolation),
            _sides=_read_sides(self.size, self.max_size),
        )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Resize it."""
        del params
        return F.resize(
            inpt,
            list(self._sides) or None,
            interpolation=self._mode.value,
            max_size=self.max_size,
            antialias=self.antialias,
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Nothing is drawn: the size follows from the image's."""
        advice = "or give size as (height, width)"
        return (_resize("Resize", draws, sizes, *self._out_sides(sizes), self._mode, advice),)

    def _out_sides(self, sizes: Sizes) -> tuple[Sides, Sides]:
        """Follow torchvision: divisions in double precision, cut to integers, not rounded."""
        if len(self._sides) == 2:
            return repeat(self._sides[0], sizes), repeat(self._sides[1], sizes)
        short = np.minimum(sizes.height, sizes.width)
        long = np.maximum(sizes.height, sizes.width)
        if self._sides:
            new_short = repeat(self._sides[0], sizes)
            new_long = np.floor(self._sides[0] * long / short)
        else:
            new_short, new_long = short, long
        if self.max_size is not None:
            limited = new_long > self.max_size if self._sides else np.True_
            scaled_short = np.floor(self.max_size * new_short / new_long)
            new_short = np.where(limited, scaled_short, new_short)
            new_long = np.where(limited, self.max_size, new_long)
        upright = sizes.width <= sizes.height
        return np.where(upright, new_long, new_short), np.where(upright, new_short, new_long)


def _read_sides(size: int | Sequence[int] | None, max_size: int | None) -> tuple[int, ...]:
    """Both sides; or the shorter one alone; or none if `max_size` sets the longer side."""
    if max_size is not None:
        read_integer("Resize", "max_size", max_size, least=1)
    if size is None:
        if max_size is None:
            raise TransformError("Resize: size and max_size are both None. Give one of them.")
        return ()
    sides = read_size("Resize", size)
    if isinstance(size, Sequence) and len(size) == 2:
        if max_size is not None:
            raise TransformError(
                f"Resize: max_size={max_size} has no meaning beside size={size!r}. "
                f"Give one number for the shorter side, or leave max_size out."
            )
        return sides
    if max_size is not None and max_size <= sides[0]:
        raise TransformError(
            f"Resize: max_size={max_size} must be greater than the shorter side, size={size!r}."
        )
    return sides[:1]


@dataclass(frozen=True, slots=True, repr=False)
class RandomResizedCrop(ImageOp):
    """Keep a random box and resize it to `size`, exactly as Pillow does.

    The box covers a share of the image drawn from `scale`, with width / height drawn from `ratio`
    (evenly on a logarithmic scale). If ten draws do not fit the image, the largest central box
    within `ratio` is kept.
    """

    size: int | Sequence[int]
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: Interpolation = InterpolationMode.BILINEAR
    antialias: bool | None = True
    _out: Size = field(init=False, repr=False, compare=False)
    _shares: tuple[float, float] = field(init=False, repr=False, compare=False)
    _ratios: tuple[float, float] = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomResizedCrop"
        self._keep(
            _out=Size(*read_size(where, self.size)),
            _shares=read_range(where, "scale", self.scale, least=0),
            _ratios=read_range(where, "ratio", self.ratio, above=0),
            _mode=read_interpolation(where, self.interpolation),
        )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw up to ten boxes, and a place for the first that fits."""
        height, width = query_size(flat_inputs)
        for _ in range(BOX_TRIES):
            area = height * width * uniform(*self._shares)
            ratio = log_uniform(self._ratios)
            box_width = round(math.sqrt(area * ratio))
            box_height = round(math.sqrt(area / ratio))
            if 0 < box_width <= width and 0 < box_height <= height:
                top = integer(0, height - box_height + 1)
                left = integer(0, width - box_width + 1)
                return {"top": top, "left": left, "height": box_height, "width": box_width}
        narrowest, widest = self._ratios
        box_height, box_width = height, width
        if width / height < narrowest:
            box_height = round(width / narrowest)
        elif width / height > widest:
            box_width = round(height * widest)
        top, left = (height - box_height) // 2, (width - box_width) // 2
        return {"top": top, "left": left, "height": box_height, "width": box_width}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Crop and resize it."""
        return F.resized_crop(
            inpt,
            **params,
            size=[self._out.height, self._out.width],
            interpolation=self._mode.value,
            antialias=self.antialias,
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[CropMove, ResizeMove]:
        """Draw ten boxes and a place at once; each image takes the first box that fits."""
        draws.reserve(2 * BOX_TRIES + 2)
        heights, widths = draw_boxes(draws, sizes, self._shares, self._ratios)
        fits = (heights > 0) & (heights <= sizes.height) & (widths > 0) & (widths <= sizes.width)
        first = fits.argmax(axis=0)
        rows = np.arange(len(sizes))
        found = fits[first, rows]
        central = self._central_box(draws, sizes, found)
        height = np.where(found, heights[first, rows], central.height).astype(np.int64)
        width = np.where(found, widths[first, rows], central.width).astype(np.int64)
        spare_height, spare_width = sizes.height - height, sizes.width - width
        top = np.where(found, draws.integers(spare_height + 1), spare_height // 2)
        left = np.where(found, draws.integers(spare_width + 1), spare_width // 2)
        out_height, out_width = repeat(self._out.height, sizes), repeat(self._out.width, sizes)
        resize = ResizeMove(out_height, out_width, self._mode.pillow_filter)
        return CropMove(top, left, height, width), resize

    def _central_box(self, draws: Draws, sizes: Sizes, found: Bools) -> Sizes:
        """The largest box within `ratio`, for the samples without a try that fits."""
        if found.all():
            return sizes
        narrowest, widest = self._ratios
        ratio = sizes.width / sizes.height
        too_narrow, too_wide = ratio < narrowest, ratio > widest
        height = np.where(too_narrow, np.rint(sizes.width / narrowest), sizes.height)
        width = np.where(too_wide, np.rint(sizes.height * widest), sizes.width)
        central = Sizes(height.astype(np.int64), width.astype(np.int64))
        empty = ~found & ((central.height < 1) | (central.width < 1))
        reason = f"and no box with ratio {self.ratio!r} fits into it. Widen ratio."
        refuse_any("RandomResizedCrop", empty, draws, sizes, lambda _: reason)
        return central


def draw_boxes(
    draws: Draws, sizes: Sizes, shares: tuple[float, float], ratios: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Heights and widths, in whole pixels, of ten tries for each image: (tries, samples).

    They cover a share of the image, evenly drawn; width / height is even on a logarithmic scale.
    """
    drawn = draws.units(2 * BOX_TRIES)
    smallest, largest = shares
    area = sizes.height * sizes.width * (smallest + (largest - smallest) * drawn[0::2])
    narrowest, widest = math.log(ratios[0]), math.log(ratios[1])
    ratio = np.exp(narrowest + (widest - narrowest) * drawn[1::2])
    return np.rint(np.sqrt(area / ratio)), np.rint(np.sqrt(area * ratio))


class _ToDrawnSize(ImageOp):
    """Resizes to a size that is drawn."""

    __slots__ = ()

    antialias: bool | None
    _mode: InterpolationMode

    def transform(self, inpt: Any, params: Params) -> Any:
        """Resize it."""
        return F.resize(
            inpt, params["size"], interpolation=self._mode.value, antialias=self.antialias
        )


@dataclass(frozen=True, slots=True, repr=False)
class LetterBox(ImageOp):
    """Resize so that the whole image fits into `size`, and fill the rest with the colour `fill`.

    Height and width are multiplied by one factor and rounded to whole pixels, half to even; at
    least one pixel is left. The border is even on both sides; an odd pixel goes to the right and
    below. Detectors such as YOLO are given images like this.
    """

    size: int | Sequence[int]
    fill: Fill = 114
    interpolation: Interpolation = InterpolationMode.BILINEAR
    _out: Size = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _out=Size(*read_size("LetterBox", self.size)),
            _colour=read_fill("LetterBox", self.fill),
            _mode=read_interpolation("LetterBox", self.interpolation),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove] | tuple[ResizeMove, PadMove]:
        """Nothing is drawn: the place of the image follows from its size."""
        del draws
        ratio = np.minimum(self._out.height / sizes.height, self._out.width / sizes.width)
        height = np.maximum(np.rint(sizes.height * ratio), 1).astype(np.int64)
        width = np.maximum(np.rint(sizes.width * ratio), 1).astype(np.int64)
        resize = ResizeMove(height, width, self._mode.pillow_filter)
        spare_height, spare_width = self._out.height - height, self._out.width - width
        if not (spare_height.any() or spare_width.any()):
            return (resize,)
        top, left = spare_height // 2, spare_width // 2
        right, bottom = spare_width - left, spare_height - top
        return resize, PadMove(left, top, right, bottom, PadMode.CONSTANT, self._colour)


@dataclass(frozen=True, slots=True, repr=False)
class ScaleJitter(_ToDrawnSize):
    """Resize so that the image would just fit into `target_size`, times a factor.

    The factor is drawn from `scale_range`. As in torchvision, `target_size` is (width, height),
    unlike every other size here.
    """

    target_size: Sequence[int]
    scale_range: Sequence[float] = (0.1, 2.0)
    interpolation: Interpolation = InterpolationMode.BILINEAR
    antialias: bool | None = True
    _fit: Size = field(init=False, repr=False, compare=False)
    _factors: tuple[float, float] = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        width, height = read_size("ScaleJitter", self.target_size)
        self._keep(
            _fit=Size(height, width),
            _factors=read_range("ScaleJitter", "scale_range", self.scale_range, above=0),
            _mode=read_interpolation("ScaleJitter", self.interpolation),
        )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the factor, in float32."""
        height, width = query_size(flat_inputs)
        smallest, largest = self._factors
        factor = smallest + rand(1) * (largest - smallest)
        ratio = min(self._fit.height / height, self._fit.width / width) * factor
        return {"size": (int(height * ratio), int(width * ratio))}

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Draw the factor of each image."""
        fit = np.minimum(self._fit.height / sizes.height, self._fit.width / sizes.width)
        ratio = fit * draws.uniform(*self._factors)
        return (_resize_by("ScaleJitter", draws, sizes, ratio, self._mode),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomShortestSize(_ToDrawnSize):
    """Resize so that the shorter side has one of the lengths in `min_size`.

    If that makes the longer side longer than `max_size`, the longer side gets that length instead.
    """

    min_size: int | Sequence[int]
    max_size: int | None = None
    interpolation: Interpolation = InterpolationMode.BILINEAR
    antialias: bool | None = True
    _lengths: Floats = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomShortestSize"
        given = self.min_size if isinstance(self.min_size, Sequence) else (self.min_size,)
        lengths = [read_integer(where, "min_size", length, least=1) for length in given]
        if not lengths:
            raise TransformError(f"{where}: min_size is empty. Give at least one length.")
        if self.max_size is not None:
            read_integer(where, "max_size", self.max_size, least=1)
        self._keep(
            _lengths=np.array(lengths, dtype=np.float64),
            _mode=read_interpolation(where, self.interpolation),
        )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the length of the shorter side."""
        height, width = query_size(flat_inputs)
        length = int(self._lengths[integer(0, len(self._lengths))])
        ratio = length / min(height, width)
        if self.max_size is not None:
            ratio = min(ratio, self.max_size / max(height, width))
        return {"size": (int(height * ratio), int(width * ratio))}

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Draw the length of each image's shorter side."""
        length = self._lengths[draws.integers(len(self._lengths))]
        ratio = length / np.minimum(sizes.height, sizes.width)
        if self.max_size is not None:
            longest = self.max_size / np.maximum(sizes.height, sizes.width)
            ratio = np.minimum(ratio, longest)
        return (_resize_by("RandomShortestSize", draws, sizes, ratio, self._mode),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomResize(_ToDrawnSize):
    """Resize so that the shorter side has a length from `min_size` up to, not with, `max_size`."""

    min_size: int
    max_size: int
    interpolation: Interpolation = InterpolationMode.BILINEAR
    antialias: bool | None = True
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandomResize"
        least = read_integer(where, "min_size", self.min_size, least=1)
        read_integer(where, "max_size", self.max_size, least=least + 1)
        self._keep(_mode=read_interpolation(where, self.interpolation))

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the length of the shorter side."""
        del flat_inputs
        return {"size": [integer(int(self.min_size), int(self.max_size))]}

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Draw the length of each image's shorter side."""
        new_short = int(self.min_size) + draws.integers(int(self.max_size) - int(self.min_size))
        short = np.minimum(sizes.height, sizes.width)
        long = np.maximum(sizes.height, sizes.width)
        new_long = np.floor(new_short * long / short)
        upright = sizes.width <= sizes.height
        height = np.where(upright, new_long, new_short)
        width = np.where(upright, new_short, new_long)
        advice = "or ask for another size"
        return (_resize("RandomResize", draws, sizes, height, width, self._mode, advice),)


def _resize_by(
    where: str, draws: Draws, sizes: Sizes, ratio: Floats, mode: InterpolationMode
) -> ResizeMove:
    """Both sides times `ratio`, cut to whole pixels as torchvision does."""
    height, width = np.floor(sizes.height * ratio), np.floor(sizes.width * ratio)
    return _resize(where, draws, sizes, height, width, mode, "or ask for another size")


def _resize(
    where: str,
    draws: Draws,
    sizes: Sizes,
    height: Sides,
    width: Sides,
    mode: InterpolationMode,
    advice: str,
) -> ResizeMove:
    bad = (np.minimum(height, width) < 1) | (np.maximum(height, width) > MAX_SIDE_PX)
    refuse_any(
        where,
        bad,
        draws,
        sizes,
        lambda row: (
            f"and would become {height[row]:.0f}x{width[row]:.0f}. Crop it first, {advice}."
        ),
    )
    return ResizeMove(height.astype(np.int64), width.astype(np.int64), mode.pillow_filter)
