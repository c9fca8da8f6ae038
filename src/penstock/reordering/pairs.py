"""Two ops of a list that follow each other, and what the rules ask about them.

Sizes are those that were met by images of the data set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.reordering.steps import CROPS, Role, Step
from penstock.translation.transforms.identify import torchvision_generation

_FEWER, _MORE = 0.95, 1.05  # of the pixels: what is in between is not worth moving for
_NOT_NEAREST = {"bilinear", "bicubic", "lanczos"}


@dataclass(frozen=True, slots=True)
class Images:
    """The images that were met at a place in a list."""

    sizes: tuple[tuple[int, int], ...]  # height and width of each
    kinds: frozenset[str]  # "Pillow", "uint8", "float32", ...

    @property
    def pixels(self) -> int:
        """Of all together."""
        return sum(height * width for height, width in self.sizes)

    @property
    def is_of_floats(self) -> bool:
        """Whether all are tensors of floating-point numbers."""
        return all("float" in kind for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ops that follow each other, and the images before, between and after them."""

    first: Step
    second: Step
    before: Images
    between: Images
    after: Images
    has_targets: bool = False  # boxes, masks or labels that go through the list with the image

    @property
    def second_shrinks(self) -> bool:
        """Whether the second op leaves fewer pixels."""
        return self.after.pixels < _FEWER * self.between.pixels

    @property
    def first_enlarges(self) -> bool:
        """Whether the first op leaves more pixels."""
        return self.between.pixels > _MORE * self.before.pixels

    @property
    def second_crops(self) -> bool:
        """Whether the second op crops, and leaves fewer pixels."""
        return self.second.role in CROPS and self.second_shrinks

    @property
    def adds_no_colour(self) -> bool:
        """Whether all pixels that leave the crop, which is the second op, are some that came."""
        crop = self.second
        height, width = _size_of(crop)
        if crop.role is Role.CENTER_CROP:  # a smaller image gets a black border
            return all(high >= height and wide >= width for high, wide in self.between.sizes)
        is_padded = crop.argument("padding") is not None or crop.argument("pad_if_needed")
        return not is_padded or crop.argument("padding_mode") != "constant"

    @property
    def warps_in_proportion(self) -> bool:
        """Whether a warp does the same to an image of another size, before a resize that shrinks.

        What is drawn must not be in pixels.
        """
        op = self.first
        if not op.is_a("RandomRotation", "RandomAffine") or self.has_targets:
            return False
        if op.argument("expand") or op.argument("translate") or op.argument("center") is not None:
            return False
        return resizes(self.second) and self.second_shrinks and _keeps_shape(self.second)


def resizes(step: Step) -> bool:
    """Whether it resamples by weighted means; nearest neighbours are not the same mirrored."""
    is_resize = step.role in {Role.RESIZE, Role.RESIZED_CROP}
    return is_resize and step.argument("interpolation") in _NOT_NEAREST


def pads_alike(crop: Step) -> bool:
    """Whether the border that a crop may add is the same on opposite sides."""
    padding = crop.argument("padding")
    if not isinstance(padding, (list, tuple)) or len(padding) < 4:
        return True
    first, second, third, fourth = padding
    if torchvision_generation(crop.op) == 2:  # which keeps left, right, top, bottom
        return bool(first == second and third == fourth)
    return bool(first == third and second == fourth)


def _size_of(crop: Step) -> tuple[int, int]:
    size: Any = crop.argument("size")
    sides = [size] if isinstance(size, int) else list(size)
    return sides[0], sides[-1]


def _keeps_shape(step: Step) -> bool:
    size = step.argument("size")
    return step.role is Role.RESIZE and (isinstance(size, int) or len(size) == 1)
