"""A list of transforms as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.errors import TransformError
from penstock.transforms.conversions import Conversion
from penstock.transforms.op import ImageOp, Transform
from penstock.transforms.python_step import PythonStep
from penstock.transforms.values import FinalOp

Op: TypeAlias = ImageOp | PythonStep | FinalOp | Conversion


@dataclass(frozen=True, slots=True, repr=False)
class Compose(Transform):
    """Do `transforms` one after the other; an empty list changes nothing.

    Each is one of ours, another Compose, or a function of your own (see `PythonStep`). Those that
    move pixels come first, ToDtype, ToTensor and Normalize last. The loader puts ours in the place
    of torchvision's, timm's and Albumentations' transforms, or says why it cannot.
    """

    transforms: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.transforms, str) or not isinstance(self.transforms, Sequence):
            raise TransformError(
                f"Compose: transforms must be a list of transforms, got {self.transforms!r}."
            )
        self._keep(transforms=tuple(as_transform(given) for given in self.transforms))

    def __repr__(self) -> str:
        if not self.transforms:
            return "Compose([])"
        lines = [f"    {transform!r},".replace("\n", "\n    ") for transform in self.transforms]
        return "\n".join(["Compose([", *lines, "])"])


def flatten(transform: object) -> Iterator[Op]:
    """The single ops of a transform, in the order written."""
    ours = as_transform(transform)
    if isinstance(ours, Compose):
        for inner in ours.transforms:
            yield from flatten(inner)
    else:
        yield ours


def as_transform(given: Any) -> Compose | Op:
    """Return one of ours as it is, and anything else that can be called as a step in Python."""
    if isinstance(given, Transform) and given.works_on_batches:
        raise TransformError(
            f"{given!r} works on whole batches, not on single images. "
            "Give it as Loader(batch_transform=...)."
        )
    if isinstance(given, (Compose, ImageOp, PythonStep, FinalOp, Conversion)):
        return given
    return PythonStep(given)
