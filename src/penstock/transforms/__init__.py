"""Transforms with torchvision v2's names, arguments and results on Pillow images.

They declare and draw; the loader does. Put those that move pixels first, your own functions among
them, and ToDtype and Normalize last. A list written for torchvision's v2 runs with `v2.` replaced.
"""

from penstock.transforms.affine import RandomAffine
from penstock.transforms.blur import GaussianBlur
from penstock.transforms.box_ops import (
    ClampBoundingBoxes,
    ConvertBoundingBoxFormat,
    SanitizeBoundingBoxes,
)
from penstock.transforms.colour_effects import (
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from penstock.transforms.colour_jitter import ColorJitter, RandomPhotometricDistort
from penstock.transforms.compose import Compose
from penstock.transforms.containers import RandomApply, RandomChoice, RandomOrder
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
from penstock.transforms.crop import CenterCrop, RandomCrop
from penstock.transforms.elastic import ElasticTransform
from penstock.transforms.erasing import RandomErasing
from penstock.transforms.fixed_size_crop import FixedSizeCrop
from penstock.transforms.flip import RandomHorizontalFlip, RandomVerticalFlip
from penstock.transforms.interpolation import InterpolationMode
from penstock.transforms.iou_crop import RandomIoUCrop
from penstock.transforms.mixup import CutMix, MixUp
from penstock.transforms.noise import GaussianNoise
from penstock.transforms.pad import Pad
from penstock.transforms.perspective import RandomPerspective
from penstock.transforms.policies.auto_augment import AutoAugment, AutoAugmentPolicy
from penstock.transforms.policies.population import PopulationBasedAugment
from penstock.transforms.policies.rand_augment import AugMix, RandAugment, TrivialAugmentWide
from penstock.transforms.presets import classification, classification_eval, detection, ssd
from penstock.transforms.python_step import PythonStep
from penstock.transforms.random_sizes import RandomShortestSize, ScaleJitter
from penstock.transforms.resize import Resize
from penstock.transforms.resized_crop import RandomResizedCrop
from penstock.transforms.rotation import RandomRotation
from penstock.transforms.targets import BoxFormat, Targets
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD, Normalize, ToDtype, ToTensor
from penstock.transforms.zoom_out import RandomZoomOut

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
