"""Transforms with torchvision v2's names, arguments and results on Pillow images.

A transform checks its arguments and draws what happens to the images of a batch; the loader then
carries that out. Put those that move pixels first, your own functions among them, and ToDtype and
Normalize last. A list written for torchvision's v2 runs with `v2.` replaced.

| file | holds |
|---|---|
| op.py, arguments.py | what all transforms share; reading their arguments |
| moves.py, effects.py | what they draw |
| resize.py, crop.py, warp.py | where pixels lie; warp_matrices.py has the arithmetic of warps |
| colour.py, filter.py | what values they have; torch_blur.py blurs as the installed torch does |
| policies/ | AutoAugment, RandAugment and others that choose among many ops |
| values.py, conversions.py | the end of a pipeline; torchvision's steps that change nothing here |
| containers.py, python_step.py | Compose, RandomApply and others; the user's own functions |
| targets.py, move_targets.py, boxes.py | boxes, labels and keypoints; how they follow the image |
| batch_op.py, mixing.py | MixUp and CutMix, which work on whole batches |
| presets.py | whole pipelines |
| functional/ | single functions, on images, arrays, tensors and targets |
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.boxes import (
    ClampBoundingBoxes,
    ConvertBoundingBoxFormat,
    RandomIoUCrop,
    SanitizeBoundingBoxes,
)
from penstock.transforms.colour import (
    ColorJitter,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPhotometricDistort,
    RandomPosterize,
    RandomSolarize,
)
from penstock.transforms.containers import (
    Compose,
    MultiView,
    RandomApply,
    RandomChoice,
    RandomOrder,
)
from penstock.transforms.conversions import (
    RGB,
    ConvertImageDtype,
    Identity,
    Lambda,
    PILToTensor,
    ToImage,
    ToPILImage,
    ToPureTensor,
)
from penstock.transforms.crop import (
    CenterCrop,
    FixedSizeCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    RandomZoomOut,
)
from penstock.transforms.filter import GaussianBlur, GaussianNoise, RandomErasing
from penstock.transforms.mixing import CutMix, MixUp
from penstock.transforms.policies.auto_augment import AutoAugment, AutoAugmentPolicy
from penstock.transforms.policies.population import PopulationBasedAugment
from penstock.transforms.policies.rand_augment import AugMix, RandAugment, TrivialAugmentWide
from penstock.transforms.presets import classification, classification_eval, detection, ssd
from penstock.transforms.python_step import PythonStep
from penstock.transforms.resize import RandomResizedCrop, RandomShortestSize, Resize, ScaleJitter
from penstock.transforms.targets import BoxFormat, Targets
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD, Normalize, ToDtype, ToTensor
from penstock.transforms.warp import (
    ElasticTransform,
    RandomAffine,
    RandomPerspective,
    RandomRotation,
)

if TYPE_CHECKING:
    from penstock.transforms import functional

__all__ = [
    "IMAGENET_MEAN",
    "IMAGENET_STD",
    "RGB",
    "AugMix",
    "AutoAugment",
    "AutoAugmentPolicy",
    "BoxFormat",
    "CenterCrop",
    "ClampBoundingBoxes",
    "ColorJitter",
    "Compose",
    "ConvertBoundingBoxFormat",
    "ConvertImageDtype",
    "CutMix",
    "ElasticTransform",
    "FixedSizeCrop",
    "GaussianBlur",
    "GaussianNoise",
    "Grayscale",
    "Identity",
    "InterpolationMode",
    "Lambda",
    "MixUp",
    "MultiView",
    "Normalize",
    "PILToTensor",
    "Pad",
    "PopulationBasedAugment",
    "PythonStep",
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
    "Targets",
    "ToDtype",
    "ToImage",
    "ToPILImage",
    "ToPureTensor",
    "ToTensor",
    "TrivialAugmentWide",
    "classification",
    "classification_eval",
    "detection",
    "functional",
    "ssd",
]


def __getattr__(name: str) -> Any:
    """Import `functional` when it is asked for: a loader does not need it."""
    if name == "functional":
        return import_module("penstock.transforms.functional")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
