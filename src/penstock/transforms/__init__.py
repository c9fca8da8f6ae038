"""Transforms with torchvision v2's names, arguments and results on Pillow images.

A transform checks its arguments and draws what happens to the images of a batch; the loader then
carries that out. Put those that move pixels first, your own functions among them, and ToDtype and
Normalize last. A list written for torchvision's v2 runs with `v2.` replaced. A transform can be
called too, as torchvision's: it then draws from torch's generator, as torchvision draws.

| file | holds |
|---|---|
| op.py, arguments.py | what all transforms share; reading their arguments |
| inputs.py, torch_draws.py | what a called transform is given; draws from torch's generator |
| keyed.py, apply_moves.py | calls with a key: the loader's draws and results for one sample |
| functional/ | what called transforms do to single images and targets |
| moves.py, effects.py | what they draw |
| resize.py, crop.py, warp.py | where pixels lie; warp_matrices.py has the arithmetic of warps |
| several_crops.py, video.py, linear.py | for calls only: FiveCrop and TenCrop; videos; whitening |
| buckets.py | resizing to one of several sizes, as the image's shape says |
| colour.py, filter.py | what values they have; torch_blur.py blurs as the installed torch does |
| policies/ | AutoAugment, RandAugment and others that choose among many ops |
| values.py, conversions.py | the end of a pipeline; torchvision's steps that change nothing here |
| ending.py | the end of a list in one pass, when it is called |
| containers.py, python_step.py | Compose, RandomApply and others; the user's own functions |
| targets.py, move_targets.py, boxes.py | boxes, labels and keypoints; how they follow the image |
| keypoints.py, sanitize.py | for calls: keypoints alone; which objects are dropped |
| batch_op.py, mixing.py, mix_called.py | MixUp and CutMix, which work on whole batches |
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
    SetClampingMode,
)
from penstock.transforms.buckets import ResizeToBucket, ResizeToTokens
from penstock.transforms.colour import (
    ColorJitter,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomChannelPermutation,
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
from penstock.transforms.filter import JPEG, GaussianBlur, GaussianNoise, RandomErasing
from penstock.transforms.keypoints import ClampKeyPoints, SanitizeKeyPoints
from penstock.transforms.linear import LinearTransformation
from penstock.transforms.mixing import CutMix, MixUp
from penstock.transforms.policies.auto_augment import AutoAugment, AutoAugmentPolicy
from penstock.transforms.policies.population import PopulationBasedAugment
from penstock.transforms.policies.rand_augment import AugMix, RandAugment, TrivialAugmentWide
from penstock.transforms.presets import classification, classification_eval, detection, ssd
from penstock.transforms.python_step import PythonStep
from penstock.transforms.resize import (
    LetterBox,
    RandomResize,
    RandomResizedCrop,
    RandomShortestSize,
    Resize,
    ScaleJitter,
)
from penstock.transforms.several_crops import FiveCrop, TenCrop
from penstock.transforms.targets import BoxFormat, Targets
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD, Normalize, ToDtype, ToTensor
from penstock.transforms.video import UniformTemporalSubsample
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
    "JPEG",
    "RGB",
    "AugMix",
    "AutoAugment",
    "AutoAugmentPolicy",
    "BoxFormat",
    "CenterCrop",
    "ClampBoundingBoxes",
    "ClampKeyPoints",
    "ColorJitter",
    "Compose",
    "ConvertBoundingBoxFormat",
    "ConvertImageDtype",
    "CutMix",
    "ElasticTransform",
    "FiveCrop",
    "FixedSizeCrop",
    "GaussianBlur",
    "GaussianNoise",
    "Grayscale",
    "Identity",
    "InterpolationMode",
    "Lambda",
    "LetterBox",
    "LinearTransformation",
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
    "RandomChannelPermutation",
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
    "RandomResize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "ResizeToBucket",
    "ResizeToTokens",
    "SanitizeBoundingBoxes",
    "SanitizeKeyPoints",
    "ScaleJitter",
    "SetClampingMode",
    "Targets",
    "TenCrop",
    "ToDtype",
    "ToImage",
    "ToPILImage",
    "ToPureTensor",
    "ToTensor",
    "TrivialAugmentWide",
    "UniformTemporalSubsample",
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
