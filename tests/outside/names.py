"""Puts adapters in the places of torchvision's transforms."""

from __future__ import annotations

from torchvision.transforms import v2
from torchvision.transforms.v2._transform import _RandomApplyTransform

from tests.outside.adapter import ORIGINALS, Adapter
from tests.outside.mixing import Mixing
from tests.outside.policies import AutoAugment
from tests.outside.sanitize import SanitizeBoundingBoxes

# Compose stays torchvision's: its tests mix in torchvision's own conversions to tensors.
ADAPTED = (
    "AugMix",
    "AutoAugment",
    "CenterCrop",
    "ClampBoundingBoxes",
    "ColorJitter",
    "ConvertBoundingBoxFormat",
    "ElasticTransform",
    "GaussianBlur",
    "GaussianNoise",
    "Grayscale",
    "Pad",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomOrder",
    "RandomPerspective",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "SanitizeBoundingBoxes",
    "ScaleJitter",
    "TrivialAugmentWide",
)


# What needs more than drawing and moving.
SPECIAL: dict[str, type[Adapter]] = {
    "AutoAugment": AutoAugment,
    "SanitizeBoundingBoxes": SanitizeBoundingBoxes,
}


def adapt() -> None:
    """From here on, `torchvision.transforms.v2` has penstock's transforms under these names."""
    for name in ADAPTED:
        _replace(name, SPECIAL.get(name, Adapter))
    _replace("MixUp", Mixing)
    _replace("CutMix", Mixing)


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
