"""FiveCrop and TenCrop, which make several images of one: for calls only."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.errors import TransformTypeError
from penstock.transforms import functional as F
from penstock.transforms.arguments import read_size
from penstock.transforms.inputs import BOXES, IMAGES, MASK, TARGETS, has_any, kind_of
from penstock.transforms.op import CalledOnly, Params


class _SeveralCrops(CalledOnly, ABC):
    """Gives a tuple of images for each image."""

    __slots__ = ()

    changes: ClassVar[int] = IMAGES | TARGETS
    why_not_loaded: ClassVar[str] = (
        "it gives several images for one, which MultiView does in the loader"
    )

    def check_inputs(self, flat_inputs: Sequence[Any]) -> None:
        """Raise for boxes and masks, which would be needed for every crop."""
        if has_any(flat_inputs, BOXES | MASK):
            raise TransformTypeError(
                f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}(). "
                "Crop once, with CenterCrop, or leave them out."
            )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Cut out the crops; keypoints stay as they are, with a warning."""
        del params
        if kind_of(inpt) & TARGETS:
            warnings.warn(
                f"{type(self).__name__}() is currently passing through inputs of type "
                f"{type(inpt).__name__}: they stay as they are.",
                stacklevel=2,
            )
            return inpt
        return self._crops(inpt)

    @abstractmethod
    def _crops(self, inpt: Any) -> Any:
        """Return the crops of one image."""


@dataclass(frozen=True, slots=True, repr=False)
class FiveCrop(_SeveralCrops):
    """The four corners and the middle of an image, each of `size`: a tuple of five."""

    size: int | Sequence[int]
    _box: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_box=read_size("FiveCrop", self.size))

    def _crops(self, inpt: Any) -> Any:
        return F.five_crop(inpt, list(self._box))


@dataclass(frozen=True, slots=True, repr=False)
class TenCrop(_SeveralCrops):
    """What FiveCrop gives, and the same of the mirrored image: a tuple of ten.

    It is mirrored left to right, or top to bottom with `vertical_flip`.
    """

    size: int | Sequence[int]
    vertical_flip: bool = False
    _box: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_box=read_size("TenCrop", self.size))

    def _crops(self, inpt: Any) -> Any:
        return F.ten_crop(inpt, list(self._box), vertical_flip=self.vertical_flip)
