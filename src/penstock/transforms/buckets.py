"""Resizing to one of several sizes, which follows from the image's own: buckets.

Images whose size after this is the same can share a batch. `penstock.BucketBatches` makes such
batches with the very functions that are here, so that both always agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Interpolation,
    InterpolationMode,
    read_integer,
    read_interpolation,
    read_number,
)
from penstock.transforms.crop import centred
from penstock.transforms.moves import CropMove, Move, ResizeMove
from penstock.transforms.op import ImageOp, refuse_any

# Four sides of buckets and images are multiplied in 64 bits.
_MOST_SIDE_PX = (1 << 16) - 1

# Of the search for the largest factor, as timm has them.
_LEAST_FACTOR, _MOST_FACTOR, _FACTOR_STEP = 1e-6, 100.0, 1e-5


@dataclass(frozen=True, slots=True)
class Buckets:
    """Sizes, one of which each image gets: the one whose aspect ratio is nearest.

    Ratios are compared on a logarithmic scale, in whole numbers, so that nothing is rounded. An
    image exactly between two ratios goes to the taller one. Of several buckets with the same ratio
    it goes to the largest that does not enlarge it, else to the smallest.
    """

    sizes: tuple[tuple[int, int], ...]  # (height, width), each once, from tall to wide

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The bucket of each image."""
        numbers = self._numbers(sizes)
        chosen = np.array(self.sizes, dtype=np.int64)[numbers]
        return Sizes(chosen[:, 0], chosen[:, 1])

    def _numbers(self, sizes: Sizes) -> Ints:
        by_ratio = self._by_ratio()
        height, width = sizes.height.astype(np.uint64), sizes.width.astype(np.uint64)
        if len(sizes) and max(int(height.max()), int(width.max())) > _MOST_SIDE_PX:
            # Python's own whole numbers, which are slow and have no end.
            height, width = height.astype(object), width.astype(object)
        groups = np.zeros(len(sizes), dtype=np.int64)
        for taller, wider in pairwise(group[0] for group in by_ratio):
            # An image is nearer to the wider one if the square of its ratio is above the product.
            sides = zip(self.sizes[taller], self.sizes[wider], strict=True)
            heights, widths = (first * second for first, second in sides)
            beyond = width * width * heights > height * height * widths
            groups += beyond.astype(np.int64)
        smallest = np.array([group[0] for group in by_ratio], dtype=np.int64)
        numbers: Ints = smallest[groups]
        for place, group in enumerate(by_ratio):
            for number in group[1:]:  # from small to large
                least_height, least_width = self.sizes[number]
                fits = (sizes.height >= least_height) & (sizes.width >= least_width)
                numbers = np.where((groups == place) & fits, number, numbers)
        return numbers

    def _by_ratio(self) -> list[list[int]]:
        """Numbers of buckets of one ratio together, from tall to wide, then from small to large."""
        groups: dict[tuple[int, int], list[int]] = {}
        for number in sorted(range(len(self.sizes)), key=lambda number: self.sizes[number]):
            height, width = self.sizes[number]
            divisor = math.gcd(height, width)
            groups.setdefault((height // divisor, width // divisor), []).append(number)
        return sorted(groups.values(), key=lambda group: _Ratio(*self.sizes[group[0]]))

    def describe(self) -> str:
        """Return what decides, for errors."""
        some = ", ".join(f"{height}x{width}" for height, width in self.sizes[:3])
        more = ", ..." if len(self.sizes) > 3 else ""
        return f"{len(self.sizes)} bucket{'' if len(self.sizes) == 1 else 's'} ({some}{more})"


@dataclass(frozen=True, slots=True)
class _Ratio:
    """Width / height, compared without rounding."""

    height: int
    width: int

    def __lt__(self, other: _Ratio) -> bool:
        return self.width * other.height < other.width * self.height


@dataclass(frozen=True, slots=True)
class TokenSizes:
    """The size of each image that has as many patches as a model takes, in the image's ratio.

    Both sides are multiples of the patch, rounded up, and at least one patch. The factor is found
    as timm finds it (`get_image_size_for_seq`), to the same bits.
    """

    patch_px: tuple[int, int]  # height, width
    most_tokens: int
    most_factor: float | None  # by which an image is enlarged at most

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The size of each image after resizing."""
        low = np.full(len(sizes), _LEAST_FACTOR)
        high = np.full(len(sizes), _MOST_FACTOR)
        while (open_rows := (high - low) >= _FACTOR_STEP).any():
            middle = (low + high) / 2.0
            tried = self._scaled(sizes, middle)
            tokens = (tried.height // self.patch_px[0]) * (tried.width // self.patch_px[1])
            fits = tokens <= self.most_tokens
            low = np.where(open_rows & fits, middle, low)
            high = np.where(open_rows & ~fits, middle, high)
        if self.most_factor is not None:
            low = np.minimum(low, self.most_factor)
        return self._scaled(sizes, low)

    def _scaled(self, sizes: Sizes, factors: Floats) -> Sizes:
        sides = []
        for side, patch in zip((sizes.height, sizes.width), self.patch_px, strict=True):
            patches = np.ceil(side * factors / patch).astype(np.int64)
            sides.append(np.maximum(patches, 1) * patch)
        return Sizes(sides[0], sides[1])

    def describe(self) -> str:
        """Return what decides, for errors."""
        height, width = self.patch_px
        return f"up to {self.most_tokens} tokens of {height}x{width} pixels"


def read_buckets(where: str, given: Any) -> Buckets:
    """Read a list of (height, width)."""
    if isinstance(given, Buckets):
        return given
    sizes: list[tuple[int, int]] = []
    for one in given if isinstance(given, Iterable) and not isinstance(given, str) else ():
        try:
            height, width = one
        except (TypeError, ValueError):
            raise TransformError(
                f"{where}: a bucket is (height, width), got {one!r} among the buckets."
            ) from None
        side = {"least": 1, "most": _MOST_SIDE_PX}
        size = (
            read_integer(where, "the height of a bucket", height, **side),
            read_integer(where, "the width of a bucket", width, **side),
        )
        if size in sizes:
            raise TransformError(f"{where}: bucket {size} is there twice. Name each once.")
        sizes.append(size)
    if not sizes:
        raise TransformError(
            f"{where}: buckets must be a list of (height, width), at least one, got {given!r}."
        )
    return _in_order(sizes)


def _in_order(sizes: Iterable[tuple[int, int]]) -> Buckets:
    """The same buckets in one order, so that lists in other orders are equal."""
    return Buckets(tuple(sorted(sorted(sizes), key=lambda size: _Ratio(*size))))


def buckets_of_area(where: str, area_px: Any, step: Any, most_ratio: Any) -> Buckets:
    """Sizes of about equal area: sides are multiples of `step`, and no area is above `area_px`.

    Every shorter side that keeps the longer one within `most_ratio` times it has one bucket for
    tall and one for wide images, with the longest side that the area allows.
    """
    area = read_integer(where, "area_px", area_px, least=1, most=_MOST_SIDE_PX**2)
    step_px = read_integer(where, "step", step, least=1, most=_MOST_SIDE_PX)
    ratio = read_number(where, "most_ratio", most_ratio, least=1)
    found: list[tuple[int, int]] = []
    for short in range(step_px, math.isqrt(area) + 1, step_px):
        long = area // short // step_px * step_px
        if short <= long <= min(short * ratio, _MOST_SIDE_PX):
            found += [(long, short), (short, long)] if short < long else [(short, long)]
    if not found:
        raise TransformError(
            f"{where}: no size with sides in steps of {step_px} and a ratio up to {ratio:g} has an "
            f"area up to {area:,} pixels. Raise area_px or most_ratio, or lower step."
        )
    return _in_order(found)


def read_token_sizes(where: str, patch_size: Any, most_tokens: Any, most_factor: Any) -> TokenSizes:
    """Read the arguments of ResizeToTokens."""
    sides = patch_size if isinstance(patch_size, Sequence) else (patch_size, patch_size)
    if isinstance(patch_size, str) or len(sides) != 2:
        raise TransformError(
            f"{where}: patch_size must be an integer or (height, width), got {patch_size!r}."
        )
    patch = [read_integer(where, "patch_size", side, least=1, most=1024) for side in sides]
    return TokenSizes(
        (patch[0], patch[1]),
        read_integer(where, "most_tokens", most_tokens, least=1),
        None
        if most_factor is None
        else read_number(where, "most_factor", most_factor, above=_FACTOR_STEP),
    )


@dataclass(frozen=True, slots=True, repr=False)
class ResizeToBucket(ImageOp):
    """Resize to cover the bucket whose aspect ratio is nearest to the image's, then crop to it.

    `buckets` is a list of (height, width). The shape is kept: one side becomes the bucket's, the
    other is at least as long, and what stands out is cut off at a random place ("random") or
    evenly on both sides ("center"). `sampling=penstock.BucketBatches(buckets)` gives batches in
    which all images have the same bucket.
    """

    buckets: Sequence[Sequence[int]] | Buckets
    crop: Literal["random", "center"] = "random"
    interpolation: Interpolation = InterpolationMode.BILINEAR
    sizing: Buckets = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.crop not in ("random", "center"):
            raise TransformError(
                f'ResizeToBucket: crop must be "random" or "center", got {self.crop!r}.'
            )
        self._keep(
            sizing=read_buckets("ResizeToBucket", self.buckets),
            _mode=read_interpolation("ResizeToBucket", self.interpolation),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Draw the place of each crop."""
        bucket = self.sizing.out_sizes(sizes)
        cover = _cover(sizes, bucket)
        long = np.maximum(cover.height, cover.width)
        refuse_any(
            "ResizeToBucket",
            long > _MOST_SIDE_PX,
            draws,
            sizes,
            lambda row: f"and would become {cover[row]}. Add a bucket of about its shape.",
        )
        spare_height, spare_width = cover.height - bucket.height, cover.width - bucket.width
        if self.crop == "random":
            top, left = draws.integers(spare_height + 1), draws.integers(spare_width + 1)
        else:
            top, left = centred(spare_height), centred(spare_width)
        return (
            ResizeMove(cover.height, cover.width, self._mode.pillow_filter),
            CropMove(top, left, bucket.height, bucket.width),
        )


def _cover(sizes: Sizes, bucket: Sizes) -> Sizes:
    """The smallest sizes in the images' ratios that cover the buckets, rounded to the nearest."""
    by_width = bucket.width * sizes.height >= bucket.height * sizes.width
    height = (2 * sizes.height * bucket.width + sizes.width) // (2 * sizes.width)
    width = (2 * sizes.width * bucket.height + sizes.height) // (2 * sizes.height)
    return Sizes(np.where(by_width, height, bucket.height), np.where(by_width, bucket.width, width))


@dataclass(frozen=True, slots=True, repr=False)
class ResizeToTokens(ImageOp):
    """Resize so that an image has at most `most_tokens` patches, in about its own ratio.

    For models that take images of any shape, such as NaFlex ones: both sides become multiples of
    `patch_size` (a number, or height and width), and as large as the tokens allow. An image is
    enlarged at most by `most_factor`, if given. Sizes are those of timm's ResizeToSequence.
    `sampling=penstock.BucketBatches.by_tokens(...)` gives batches of one size each.
    """

    patch_size: int | Sequence[int]
    most_tokens: int = 1024
    most_factor: float | None = None
    interpolation: Interpolation = InterpolationMode.BICUBIC
    sizing: TokenSizes = field(init=False, repr=False, compare=False)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "ResizeToTokens"
        self._keep(
            sizing=read_token_sizes(where, self.patch_size, self.most_tokens, self.most_factor),
            _mode=read_interpolation(where, self.interpolation),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Nothing is drawn: the size follows from the image's."""
        del draws
        out = self.sizing.out_sizes(sizes)
        return (ResizeMove(out.height, out.width, self._mode.pillow_filter),)
