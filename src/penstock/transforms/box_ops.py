"""What is done to boxes alone: sorting out, clamping, another way to write them down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from penstock.errors import TransformError
from penstock.geometry import Bools, Sizes
from penstock.transforms.arguments import read_number
from penstock.transforms.op import BoxOp
from penstock.transforms.targets import BoxFormat, Targets
from penstock.transforms.targets.box_format import read_box_format
from penstock.transforms.targets.move import clamp_boxes

_CLAMPING_MODES = ("soft", "hard", "auto", None)


@dataclass(frozen=True, slots=True, repr=False)
class SanitizeBoundingBoxes(BoxOp):
    """Drop objects whose box is too small, or reaches outside its image.

    Too small is a side below `min_size` or an area below `min_area`, in pixels. Everything an
    object carries goes with its box; `labels_getter`, which says in torchvision what goes along,
    is taken for its sake and changes nothing.
    """

    min_size: float = 1.0
    min_area: float = 1.0
    labels_getter: Callable[[Any], Any] | str | None = "default"

    def __post_init__(self) -> None:
        read_number("SanitizeBoundingBoxes", "min_size", self.min_size, least=1)
        read_number("SanitizeBoundingBoxes", "min_area", self.min_area, least=1)
        getter = self.labels_getter
        if not (getter is None or getter == "default" or callable(getter)):
            raise TransformError(
                f"SanitizeBoundingBoxes: labels_getter must be 'default', a function or None, "
                f"got {getter!r}."
            )

    def apply(self, targets: Targets, sizes: Sizes) -> Targets:
        """Keep the objects with a good box; without boxes, all of them."""
        if targets.boxes is None:
            return targets
        left, top, right, bottom = targets.boxes.T
        width, height = right - left, bottom - top
        owners = targets.owners
        good: Bools = (width >= self.min_size) & (height >= self.min_size)
        good &= width * height >= self.min_area
        good &= (left >= 0) & (top >= 0)
        good &= (right <= sizes.width[owners]) & (bottom <= sizes.height[owners])
        return targets.keep(good)


@dataclass(frozen=True, slots=True, repr=False)
class ClampBoundingBoxes(BoxOp):
    """Cut boxes at the borders of their image.

    `clamping_mode` None leaves them alone; the others differ in torchvision for rotated boxes only.
    """

    clamping_mode: Literal["soft", "hard", "auto"] | None = "auto"

    def __post_init__(self) -> None:
        if self.clamping_mode not in _CLAMPING_MODES:
            raise TransformError(
                f"ClampBoundingBoxes: clamping_mode must be soft, hard, auto or None, "
                f"got {self.clamping_mode!r}."
            )

    def apply(self, targets: Targets, sizes: Sizes) -> Targets:
        """Clamp every box."""
        if targets.boxes is None or self.clamping_mode is None:
            return targets
        clamped = clamp_boxes(targets.boxes, sizes, targets.owners)
        return targets.moved(clamped, targets.keypoints)


@dataclass(frozen=True, slots=True, repr=False)
class ConvertBoundingBoxFormat(BoxOp):
    """Deliver boxes as XYXY, XYWH or CXCYWH, whichever way the data has them."""

    format: BoxFormat | str
    _format: BoxFormat = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_format=read_box_format("ConvertBoundingBoxFormat", self.format))

    def apply(self, targets: Targets, sizes: Sizes) -> Targets:
        """Note the format; boxes are corners until they are delivered."""
        del sizes
        return replace(targets, format=self._format)
