"""Cropping, padding and mirroring: what moves pixels and computes none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from penstock._core import PadMode
from penstock.errors import TransformError
from penstock.geometry import Ints, Size, Sizes
from penstock.rng import Draws
from penstock.transforms import functional as F
from penstock.transforms.arguments import (
    MAX_SIDE_PX,
    BorderLook,
    Borders,
    Colour,
    Fill,
    Fills,
    PaddingMode,
    fill_for,
    plain_fill,
    read_border_look,
    read_fill,
    read_padding,
    read_probability,
    read_range,
    read_size,
)
from penstock.transforms.inputs import query_size
from penstock.transforms.move_targets import move_targets
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, out_sizes, repeat
from penstock.transforms.op import ImageOp, Params, TargetOp, refuse_any
from penstock.transforms.targets import Targets
from penstock.transforms.torch_draws import integer, rand


@dataclass(frozen=True, slots=True, repr=False)
class CenterCrop(ImageOp):
    """Keep the middle of an image; one that is smaller than `size` gets a black border first."""

    size: int | Sequence[int]
    _box: Size = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_box=Size(*read_size("CenterCrop", self.size)))

    def transform(self, inpt: Any, params: Params) -> Any:
        """Keep the middle."""
        del params
        return F.center_crop(inpt, output_size=[self._box.height, self._box.width])

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn: the box follows from the image's size."""
        del draws
        lacking_height = np.maximum(self._box.height - sizes.height, 0)
        lacking_width = np.maximum(self._box.width - sizes.width, 0)
        crop = CropMove(
            centred(sizes.height + lacking_height - self._box.height),
            centred(sizes.width + lacking_width - self._box.width),
            repeat(self._box.height, sizes),
            repeat(self._box.width, sizes),
        )
        if not (lacking_height.any() or lacking_width.any()):
            return (crop,)
        border = PadMove(
            left=lacking_width // 2,
            top=lacking_height // 2,
            right=(lacking_width + 1) // 2,
            bottom=(lacking_height + 1) // 2,
            mode=PadMode.CONSTANT,
            fill=(0, 0, 0),
        )
        return border, crop


@dataclass(frozen=True, slots=True, repr=False)
class RandomCrop(ImageOp):
    """Keep a box of `size` from a random place, after adding `padding` if given.

    With `pad_if_needed`, an image that is smaller than `size` gets a border wide enough on both
    sides; without it, such an image is an error. `fill` and `padding_mode` are as in `Pad`.
    """

    size: int | Sequence[int]
    padding: int | Sequence[int] | None = None
    pad_if_needed: bool = False
    fill: Fills = 0
    padding_mode: PaddingMode = "constant"
    _box: Size = field(init=False, repr=False, compare=False)
    _borders: Borders = field(init=False, repr=False, compare=False)
    _look: BorderLook = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        padding = 0 if self.padding is None else self.padding
        self._keep(
            _box=Size(*read_size("RandomCrop", self.size)),
            _borders=read_padding("RandomCrop", padding),
            _look=read_border_look(
                "RandomCrop", self.padding_mode, plain_fill("RandomCrop", self.fill)
            ),
        )

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the place of the box."""
        left, top, right, bottom = self._borders
        height, width = query_size(flat_inputs)
        height, width = height + top + bottom, width + left + right
        if self.pad_if_needed:
            lacking_height = max(self._box.height - height, 0)
            lacking_width = max(self._box.width - width, 0)
            top, bottom = top + lacking_height, bottom + lacking_height
            left, right = left + lacking_width, right + lacking_width
            height, width = height + 2 * lacking_height, width + 2 * lacking_width
        spare_height, spare_width = height - self._box.height, width - self._box.width
        if spare_height < 0 or spare_width < 0:
            raise TransformError(
                f"RandomCrop: Required crop size {(self._box.height, self._box.width)} is larger "
                f"than {'padded ' if any(self._borders) else ''}input image size "
                f"{(height, width)}. Resize first, or set pad_if_needed=True."
            )
        padding = [left, top, right, bottom]
        return {
            "needs_crop": spare_height > 0 or spare_width > 0,
            "top": integer(0, spare_height + 1) if spare_height else 0,
            "left": integer(0, spare_width + 1) if spare_width else 0,
            "height": self._box.height,
            "width": self._box.width,
            "needs_pad": any(padding),
            "padding": padding,
        }

    def transform(self, inpt: Any, params: Params) -> Any:
        """Pad and crop, where there is anything to do."""
        if params["needs_pad"]:
            fill = fill_for(self.fill, inpt)
            inpt = F.pad(inpt, padding=params["padding"], fill=fill, padding_mode=self.padding_mode)
        if params["needs_crop"]:
            box = {side: params[side] for side in ("top", "left", "height", "width")}
            inpt = F.crop(inpt, **box)
        return inpt

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Draw the place of the box in each image, padded if need be."""
        padding = cut_and_pad("RandomCrop", self._padding(sizes), draws, sizes)
        padded = out_sizes(padding, sizes)
        small = (padded.height < self._box.height) | (padded.width < self._box.width)
        reason = f"but the crop is {self._box}. Resize first, or set pad_if_needed=True."
        refuse_any("RandomCrop", small, draws, padded, lambda _: reason)
        crop = CropMove(
            draws.integers(padded.height - self._box.height + 1),
            draws.integers(padded.width - self._box.width + 1),
            repeat(self._box.height, sizes),
            repeat(self._box.width, sizes),
        )
        return (*padding, crop)

    def _padding(self, sizes: Sizes) -> PadMove:
        left, top, right, bottom = (repeat(border, sizes) for border in self._borders)
        if self.pad_if_needed:
            lacking_height = np.maximum(self._box.height - (top + sizes.height + bottom), 0)
            lacking_width = np.maximum(self._box.width - (left + sizes.width + right), 0)
            left, right = left + lacking_width, right + lacking_width
            top, bottom = top + lacking_height, bottom + lacking_height
        return PadMove(left, top, right, bottom, *self._look)


def centred(spare: Ints) -> Ints:
    """Half of what is left over, rounded to the even neighbour as Python's round does."""
    return np.rint(spare / 2.0).astype(np.int64)


@dataclass(frozen=True, slots=True, repr=False)
class Pad(ImageOp):
    """Add a border of `padding` pixels on each side; a negative number cuts off instead.

    `padding` is one number, (left and right, top and bottom), or (left, top, right, bottom).
    `fill` colours the border of mode "constant"; "edge" repeats the outermost pixels,
    "reflect" mirrors the image without them and "symmetric" with them.
    """

    padding: int | Sequence[int]
    fill: Fills = 0
    padding_mode: PaddingMode = "constant"
    _borders: Borders = field(init=False, repr=False, compare=False)
    _look: BorderLook = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _borders=read_padding("Pad", self.padding),
            _look=read_border_look("Pad", self.padding_mode, plain_fill("Pad", self.fill)),
        )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Add the border."""
        del params
        fill = fill_for(self.fill, inpt)
        padding = list(self._borders)
        return F.pad(inpt, padding=padding, fill=fill, padding_mode=self.padding_mode)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn: every image gets the same border."""
        left, top, right, bottom = (repeat(border, sizes) for border in self._borders)
        padded = PadMove(left, top, right, bottom, *self._look)
        return cut_and_pad("Pad", padded, draws, sizes)


def cut_and_pad(where: str, padded: PadMove, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
    """Moves for a border whose sides may be negative, which crops; no moves without a border."""
    sides = np.stack([padded.left, padded.top, padded.right, padded.bottom])
    if (sides >= 0).all():
        return (padded,) if sides.any() else ()
    cut_left, cut_top, cut_right, cut_bottom = -np.minimum(sides, 0)
    kept = Sizes(sizes.height - cut_top - cut_bottom, sizes.width - cut_left - cut_right)
    gone = (kept.height < 1) | (kept.width < 1)
    reason = "and negative padding cuts away all of it. Cut less, or resize first."
    refuse_any(where, gone, draws, sizes, lambda _: reason)
    left, top, right, bottom = np.maximum(sides, 0)
    return (
        CropMove(cut_top, cut_left, kept.height, kept.width),
        PadMove(left, top, right, bottom, padded.mode, padded.fill),
    )


@dataclass(frozen=True, slots=True, repr=False)
class RandomZoomOut(ImageOp):
    """Put the image, with probability `p`, at a random place of a larger one of colour `fill`.

    The sides of the larger one are the image's, times a factor drawn from `side_range`.
    """

    fill: Fills = 0
    side_range: Sequence[float] = (1.0, 4.0)
    p: float = 0.5
    has_chance: ClassVar[bool] = True
    _colour: Colour = field(init=False, repr=False, compare=False)
    _factors: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _colour=read_fill("RandomZoomOut", plain_fill("RandomZoomOut", self.fill)),
            _factors=read_range("RandomZoomOut", "side_range", self.side_range, least=1),
        )
        read_probability("RandomZoomOut", self.p)

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the factor and the place, in float32."""
        height, width = query_size(flat_inputs)
        smallest, largest = self._factors
        factor = smallest + rand(1) * (largest - smallest)
        spare_width, spare_height = int(width * factor) - width, int(height * factor) - height
        across, down = rand(2)
        left, top = int(spare_width * across), int(spare_height * down)
        return {"padding": [left, top, spare_width - left, spare_height - top]}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Add the border."""
        return F.pad(inpt, **params, fill=fill_for(self.fill, inpt))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[PadMove]:
        """Draw whether to do it, the factor and the place."""
        chance, factor, across, down = draws.units(4)
        smallest, largest = self._factors
        factor = np.where(chance < self.p, smallest + factor * (largest - smallest), 1.0)
        height, width = np.floor(sizes.height * factor), np.floor(sizes.width * factor)
        refuse_any(
            "RandomZoomOut",
            np.maximum(height, width) > MAX_SIDE_PX,
            draws,
            sizes,
            lambda row: (
                f"and would become {height[row]:.0f}x{width[row]:.0f}. "
                "Narrow side_range, or resize first."
            ),
        )
        spare_height = height.astype(np.int64) - sizes.height
        spare_width = width.astype(np.int64) - sizes.width
        top = (spare_height * down).astype(np.int64)
        left = (spare_width * across).astype(np.int64)
        right, bottom = spare_width - left, spare_height - top
        return (PadMove(left, top, right, bottom, PadMode.CONSTANT, self._colour),)


@dataclass(frozen=True, slots=True, repr=False)
class FixedSizeCrop(TargetOp):
    """Crop an image that is larger than `size` at random; pad a smaller one, right and below.

    One draw places the crop both across and down. Objects of which a crop leaves nothing are
    dropped. This is the transform of that name in torchvision's reference training of detectors;
    torchvision itself has none, so a call without a key draws one from torch's generator.
    """

    size: int | Sequence[int]
    fill: Fill = 0
    padding_mode: PaddingMode = "constant"
    _out: Size = field(init=False, repr=False, compare=False)
    _look: BorderLook = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _out=Size(*read_size("FixedSizeCrop", self.size)),
            _look=read_border_look("FixedSizeCrop", self.padding_mode, self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[CropMove, PadMove]:
        """Draw the place of each crop."""
        place = draws.uniform()
        height = np.minimum(sizes.height, self._out.height)
        width = np.minimum(sizes.width, self._out.width)
        top = ((sizes.height - height) * place).astype(np.int64)
        left = ((sizes.width - width) * place).astype(np.int64)
        none = np.zeros_like(height)
        right, bottom = self._out.width - width, self._out.height - height
        return (
            CropMove(top, left, height, width),
            PadMove(none, none, right, bottom, *self._look),
        )

    def sample_targets(
        self, draws: Draws, sizes: Sizes, targets: Targets
    ) -> tuple[tuple[Move, ...], Targets]:
        """Move targets along, and drop objects that a crop has cut away."""
        moves = self.sample(draws, sizes)
        moved = move_targets(moves, targets, sizes)
        if moved.boxes is None:
            return moves, moved
        left, top, right, bottom = moved.boxes.T
        crop = moves[0]
        cut = (crop.height < sizes.height) | (crop.width < sizes.width)
        return moves, moved.keep(~cut[moved.owners] | ((left < right) & (top < bottom)))


@dataclass(frozen=True, slots=True, repr=False)
class _RandomFlip(ImageOp):
    p: float = 0.5
    has_chance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        read_probability(type(self).__name__, self.p)


@dataclass(frozen=True, slots=True, repr=False)
class RandomHorizontalFlip(_RandomFlip):
    """Mirror an image left to right with probability `p`."""

    def transform(self, inpt: Any, params: Params) -> Any:
        """Mirror it."""
        del params
        return F.horizontal_flip(inpt)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[FlipMove]:
        """One draw decides for each image."""
        del sizes
        flipped = draws.uniform() < self.p
        return (FlipMove(horizontal=flipped, vertical=np.zeros_like(flipped)),)


@dataclass(frozen=True, slots=True, repr=False)
class RandomVerticalFlip(_RandomFlip):
    """Mirror an image top to bottom with probability `p`."""

    def transform(self, inpt: Any, params: Params) -> Any:
        """Mirror it."""
        del params
        return F.vertical_flip(inpt)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[FlipMove]:
        """One draw decides for each image."""
        del sizes
        flipped = draws.uniform() < self.p
        return (FlipMove(horizontal=np.zeros_like(flipped), vertical=flipped),)
