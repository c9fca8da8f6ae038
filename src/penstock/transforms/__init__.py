"""Transforms with torchvision v2's names, arguments and results on Pillow images.

They declare and draw; the loader does. Put those that move pixels first, your own functions among
them, and ToDtype and Normalize last.
"""

from penstock.transforms.box_ops import (
    ClampBoundingBoxes,
    ConvertBoundingBoxFormat,
    SanitizeBoundingBoxes,
)
from penstock.transforms.compose import Compose
from penstock.transforms.crop import CenterCrop, RandomCrop
from penstock.transforms.fixed_size_crop import FixedSizeCrop
from penstock.transforms.flip import RandomHorizontalFlip, RandomVerticalFlip
from penstock.transforms.interpolation import InterpolationMode
from penstock.transforms.iou_crop import RandomIoUCrop
from penstock.transforms.pad import Pad
from penstock.transforms.presets import classification, classification_eval, detection, ssd
from penstock.transforms.python_step import PythonStep
from penstock.transforms.random_sizes import RandomShortestSize, ScaleJitter
from penstock.transforms.resize import Resize
from penstock.transforms.resized_crop import RandomResizedCrop
from penstock.transforms.targets import BoxFormat, Targets
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD, Normalize, ToDtype
from penstock.transforms.zoom_out import RandomZoomOut

__all__ = [
    "IMAGENET_MEAN",
    "IMAGENET_STD",
    "BoxFormat",
    "CenterCrop",
    "ClampBoundingBoxes",
    "Compose",
    "ConvertBoundingBoxFormat",
    "FixedSizeCrop",
    "InterpolationMode",
    "Normalize",
    "Pad",
    "PythonStep",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomIoUCrop",
    "RandomResizedCrop",
    "RandomShortestSize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "SanitizeBoundingBoxes",
    "ScaleJitter",
    "Targets",
    "ToDtype",
    "classification",
    "classification_eval",
    "detection",
    "ssd",
]
