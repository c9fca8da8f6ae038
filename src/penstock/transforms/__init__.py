"""Transforms with torchvision v2's names, arguments and results on Pillow images.

They declare and draw; the loader does. Put those that move pixels first, your own functions among
them, and ToDtype and Normalize last. A list written for torchvision's v2 runs with `v2.` replaced.
"""

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
from penstock.transforms.containers import Compose, RandomApply, RandomChoice, RandomOrder
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
    "ssd",
]


def __dir__() -> list[str]:
    return sorted(__all__)
