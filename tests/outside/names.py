"""Puts adapters in the places of torchvision's transforms."""

from __future__ import annotations

from torchvision.transforms import v2
from torchvision.transforms.v2._transform import _RandomApplyTransform

from penstock import transforms as T
from tests.outside.adapter import ORIGINALS, Adapter
from tests.outside.mixing import Mixing
from tests.outside.policies import AutoAugment
from tests.outside.sanitize import SanitizeBoundingBoxes

# Left as they are: enums, functions (see functional.py), conversions to tensors, what takes
# functions, and Compose, since torchvision's tests mix in torchvision's own conversions.
NOT_ADAPTED = {
    *("AutoAugmentPolicy", "InterpolationMode", "functional"),
    *("ConvertImageDtype", "PILToTensor", "RGB", "ToDtype", "ToImage", "ToPILImage"),
    *("ToPureTensor", "ToTensor", "Normalize", "Identity", "Lambda", "Compose"),
}
ADAPTED = [name for name in T.__all__ if hasattr(v2, name) and name not in NOT_ADAPTED]


# What needs more than drawing and moving.
SPECIAL: dict[str, type[Adapter]] = {
    "AutoAugment": AutoAugment,
    "CutMix": Mixing,
    "MixUp": Mixing,
    "SanitizeBoundingBoxes": SanitizeBoundingBoxes,
}


def adapt() -> None:
    """From here on, `torchvision.transforms.v2` has penstock's transforms under these names."""
    for name in ADAPTED:
        _replace(name, SPECIAL.get(name, Adapter))


def _replace(name: str, base: type[Adapter]) -> None:
    original = getattr(v2, name)
    ORIGINALS[name] = original
    attributes = {
        "decides_first": issubclass(original, _RandomApplyTransform),
        "_v1_transform_cls": _comparable_v1(original),
    }
    setattr(v2, name, type(name, (base,), attributes))


def _comparable_v1(original: type[v2.Transform]) -> type | None:
    """The older transform that torchvision's tests compare results with, where it draws nothing."""
    older = original._v1_transform_cls
    return None if older is None or hasattr(older, "get_params") else older
