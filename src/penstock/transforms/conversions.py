"""torchvision's steps between Pillow images and tensors, which change nothing here.

They exist so that a list written for torchvision runs as it is. Their place in the list matters:
after `ToImage` torchvision computes on tensors, where some steps round differently than on Pillow
images. Results here are always Pillow's, so such a step after `ToImage` is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import TransformError
from penstock.transforms.filter import RandomErasing
from penstock.transforms.op import BoxOp, Transform
from penstock.transforms.python_step import PythonStep
from penstock.transforms.values import FinalOp, ToDtype, ToTensor

# These move bytes without computing any, so a tensor and a Pillow image come out the same.
_MOVE_BYTES = ("CenterCrop", "Pad", "RandomCrop", "RandomHorizontalFlip", "RandomVerticalFlip")


class Conversion(Transform):
    """Changes the type of an image in torchvision, and nothing here."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, repr=False)
class Identity(Conversion):
    """Change nothing."""


@dataclass(frozen=True, slots=True, repr=False)
class RGB(Conversion):
    """Give an image three channels, which all images have here."""


@dataclass(frozen=True, slots=True, repr=False)
class ToImage(Conversion):
    """Make a tensor of the image, which the loader does at the end."""


@dataclass(frozen=True, slots=True, repr=False)
class PILToTensor(Conversion):
    """Make a tensor of the image, which the loader does at the end."""


@dataclass(frozen=True, slots=True, repr=False)
class ToPureTensor(Conversion):
    """Make a plain tensor of torchvision's Image, which is what the loader gives."""


@dataclass(frozen=True, slots=True, repr=False)
class ToPILImage(Conversion):
    """Make a Pillow image of a tensor, so that torchvision too computes what follows by Pillow."""

    mode: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in (None, "RGB"):
            raise TransformError(
                f"ToPILImage: images are RGB here, mode is {self.mode!r}. Leave mode out."
            )


@dataclass(frozen=True, slots=True, repr=False)
class ConvertImageDtype(ToDtype):
    """`ToDtype(dtype, scale=True)` by torchvision's older name."""

    dtype: Any = "float32"
    scale: bool = field(default=True, init=False, repr=False)


class Lambda(PythonStep):
    """Calls `lambd(image)` with an RGB Pillow image, in Python: `PythonStep` by another name."""

    __slots__ = ()

    def __init__(self, lambd: Callable[..., Any], *types: type) -> None:
        if types:
            listed = ", ".join(kind.__name__ for kind in types)
            raise TransformError(
                f"Lambda: it is called on images only, and types are given ({listed}). "
                "Leave them out."
            )
        PythonStep.__init__(self, lambd)


def moves_bytes_only(step: Any) -> bool:
    """Whether a transform, ours or torchvision's, gives the same on tensors as on Pillow images."""
    fill = getattr(step, "fill", 0)
    has_whole_fill = (
        isinstance(fill, (int, float)) and float(fill).is_integer() and 0 <= fill <= 255
    )
    return type(step).__name__ in _MOVE_BYTES and has_whole_fill


@dataclass(slots=True)
class Form:
    """Whether torchvision would have a Pillow image or a tensor, step after step of a list."""

    _tensor: str = ""  # the step that made a tensor of it
    _end: str = ""  # the first of those that change values
    _end_on_pillow: bool = False

    def follow(self, position: int, op: object) -> None:
        """Go one step further; TransformError if torchvision would give a different result."""
        name = op.name if isinstance(op, PythonStep) else type(op).__name__
        where = f"{name} (step {position + 1})"
        if isinstance(op, Conversion):
            self._convert(where, op)
        elif isinstance(op, FinalOp):
            self._finish(where, op)
        elif self._tensor and not self._end:
            self._check_on_tensor(where, op)

    def _convert(self, where: str, op: Conversion) -> None:
        if isinstance(op, (ToImage, PILToTensor)):
            if self._end_on_pillow:
                raise TransformError(
                    f"{where}: comes after {self._end}, which in torchvision has no effect on an "
                    f"image that is not a tensor yet. Put {type(op).__name__} before it."
                )
            self._tensor = self._tensor or where
        elif isinstance(op, ToPILImage):
            if self._end:
                raise TransformError(
                    f"{where}: comes after {self._end}, which ends the work on pixels. "
                    "Leave it out, or move it before that."
                )
            self._tensor = ""

    def _finish(self, where: str, op: FinalOp) -> None:
        if isinstance(op, ToTensor) and self._tensor and not self._end:
            raise TransformError(
                f"{where}: comes after {self._tensor}, which has made a tensor already. "
                'Leave one of them out, or write ToDtype("float32", scale=True) here.'
            )
        if not self._end:
            self._end = where
            self._end_on_pillow = not self._tensor and not isinstance(op, ToTensor)

    def _check_on_tensor(self, where: str, op: object) -> None:
        if isinstance(op, BoxOp) or moves_bytes_only(op):
            return
        if isinstance(op, RandomErasing) and not isinstance(op.value, str):
            return
        if isinstance(op, PythonStep):
            raise TransformError(
                f"{where}: comes after {self._tensor}, so in torchvision it is given a tensor; "
                f"here it is given a Pillow image. Put it before {self._tensor}."
            )
        raise TransformError(
            f"{where}: comes after {self._tensor}, so torchvision computes it on a tensor, which "
            f"rounds otherwise than on a Pillow image. Put it before {self._tensor}, which gives "
            "what torchvision gives in that order."
        )
