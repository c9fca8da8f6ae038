"""torchvision's steps between Pillow images and tensors, which change nothing in the loader.

They exist so that a list written for torchvision runs as it is. Called, they do what torchvision's
do; in the loader their place in the list matters:
after `ToImage` torchvision computes on tensors, where some steps round differently than on Pillow
images. Its results are always Pillow's, so such a step after `ToImage` is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.errors import TransformError
from penstock.transforms import functional as F
from penstock.transforms.filter import RandomErasing
from penstock.transforms.inputs import (
    ANYTHING,
    ARRAY,
    EVERYTHING,
    IMAGE,
    PILLOW,
    SINGLE_IMAGES,
    TENSOR,
    TV_TENSORS,
    chosen_kinds,
    flatten,
    plain,
)
from penstock.transforms.op import BoxOp, Params, Transform
from penstock.transforms.python_step import PythonStep
from penstock.transforms.values import FinalOp, ToDtype, ToTensor, as_torch_dtype

# These move bytes without computing any, so a tensor and a Pillow image come out the same.
_MOVE_BYTES = ("CenterCrop", "Pad", "RandomCrop", "RandomHorizontalFlip", "RandomVerticalFlip")


class Conversion(Transform):
    """Changes the type of an image when it is called, and nothing in the loader."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, repr=False)
class Identity(Conversion):
    """Change nothing."""

    def transform(self, inpt: Any, params: Params) -> Any:
        """Nothing."""
        del params
        return inpt


@dataclass(frozen=True, slots=True, repr=False)
class RGB(Conversion):
    """Give an image three channels, which all images have in the loader."""

    changes: ClassVar[int] = SINGLE_IMAGES

    def transform(self, inpt: Any, params: Params) -> Any:
        """Make three channels of a gray image."""
        del params
        return F.grayscale_to_rgb(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class ToImage(Conversion):
    """Make a tensor of the image, which the loader does at the end."""

    takes: ClassVar[int] = TENSOR | PILLOW | ARRAY
    takes_every_array: ClassVar[bool] = True

    def transform(self, inpt: Any, params: Params) -> Any:
        """Make torchvision's Image of it."""
        del params
        return F.to_image(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class PILToTensor(Conversion):
    """Make a tensor of the image, which the loader does at the end."""

    takes: ClassVar[int] = PILLOW

    def transform(self, inpt: Any, params: Params) -> Any:
        """Make a plain tensor of it."""
        del params
        return F.pil_to_tensor(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class ToPureTensor(Conversion):
    """Make a plain tensor of torchvision's Image, which is what the loader gives."""

    takes: ClassVar[int] = TV_TENSORS
    changes: ClassVar[int] = TV_TENSORS

    def transform(self, inpt: Any, params: Params) -> Any:
        """Take torchvision's class away."""
        del params
        return plain(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class ToPILImage(Conversion):
    """Make a Pillow image of a tensor, so that torchvision too computes what follows by Pillow."""

    mode: str | None = None
    takes: ClassVar[int] = TENSOR | IMAGE | ARRAY
    takes_every_array: ClassVar[bool] = True

    @property
    def refusal(self) -> str | None:
        """The loader's images are RGB."""
        if self.mode in (None, "RGB"):
            return None
        return f"ToPILImage: images of the loader are RGB, mode is {self.mode!r}. Leave mode out."

    def transform(self, inpt: Any, params: Params) -> Any:
        """Make a Pillow image of it."""
        del params
        return F.to_pil_image(inpt, mode=self.mode)


@dataclass(frozen=True, slots=True, repr=False)
class ConvertImageDtype(ToDtype):
    """`ToDtype(dtype, scale=True)` by torchvision's older name."""

    dtype: Any = "float32"
    scale: bool = field(default=True, init=False, repr=False)
    takes: ClassVar[int] = EVERYTHING

    def transform(self, inpt: Any, params: Params) -> Any:
        """Convert whatever is a tensor."""
        del params
        return F.to_dtype(inpt, dtype=as_torch_dtype(self.dtype), scale=True)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Lambda(PythonStep):
    """Calls `lambd(image)` with an RGB Pillow image, in Python: `PythonStep` by another name.

    Called, it calls `lambd` with each value of the sample that is of one of `types`, or with every
    one if there are none. The loader has images only, and refuses types.
    """

    types: tuple[type, ...] = ()

    def __init__(self, lambd: Callable[..., Any], *types: type) -> None:
        PythonStep.__init__(self, lambd)
        self._keep(types=types)

    @property
    def refusal(self) -> str | None:
        """The loader calls it on images only."""
        if not self.types:
            return None
        listed = ", ".join(kind.__name__ for kind in self.types)
        return (
            f"Lambda: the loader calls it on images only, and types are given ({listed}). "
            "Leave them out."
        )

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Call the function with each value of its types."""
        values, rebuild = flatten(inputs if len(inputs) > 1 else inputs[0])
        chosen = chosen_kinds(values, ANYTHING, every_array=True)
        types = self.types or (object,)
        return rebuild(
            [
                self.function(value) if kind and isinstance(value, types) else value
                for value, kind in zip(values, chosen, strict=True)
            ]
        )


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
