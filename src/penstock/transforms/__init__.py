"""Transforms with torchvision v2's names, arguments and results on Pillow images.

They declare and draw; the loader does. Put those that move pixels first, your own functions among
them, and ToDtype and Normalize last.
"""

from penstock.transforms.compose import Compose
from penstock.transforms.crop import CenterCrop, RandomCrop
from penstock.transforms.flip import RandomHorizontalFlip, RandomVerticalFlip
from penstock.transforms.interpolation import InterpolationMode
from penstock.transforms.pad import Pad
from penstock.transforms.python_step import PythonStep
from penstock.transforms.resize import Resize
from penstock.transforms.resized_crop import RandomResizedCrop
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD, Normalize, ToDtype

__all__ = [
    "IMAGENET_MEAN",
    "IMAGENET_STD",
    "CenterCrop",
    "Compose",
    "InterpolationMode",
    "Normalize",
    "Pad",
    "PythonStep",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToDtype",
]
