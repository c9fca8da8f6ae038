"""Torchvision's transforms on images, each as ours of the same name with the same arguments."""

from __future__ import annotations

from enum import Enum
from typing import Any

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.translation.transforms.identify import torchvision_generation

_WARP = ("interpolation", "fill")

# Arguments by the names of the attributes that torchvision keeps them in.
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "AugMix": ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", *_WARP),
    "AutoAugment": ("policy", *_WARP),
    "CenterCrop": ("size",),
    "ColorJitter": ("brightness", "contrast", "saturation", "hue"),
    "ElasticTransform": ("alpha", "sigma", *_WARP),
    "GaussianBlur": ("kernel_size", "sigma"),
    "Grayscale": ("num_output_channels",),
    "Pad": ("padding", "fill", "padding_mode"),
    "RandAugment": ("num_ops", "magnitude", "num_magnitude_bins", *_WARP),
    "RandomAdjustSharpness": ("sharpness_factor", "p"),
    "RandomAffine": ("degrees", "translate", "scale", "shear", "center", *_WARP),
    "RandomAutocontrast": ("p",),
    "RandomCrop": ("size", "padding", "pad_if_needed", "fill", "padding_mode"),
    "RandomEqualize": ("p",),
    "RandomGrayscale": ("p",),
    "RandomHorizontalFlip": ("p",),
    "RandomInvert": ("p",),
    "RandomPerspective": ("distortion_scale", "p", *_WARP),
    "RandomPhotometricDistort": ("brightness", "contrast", "saturation", "hue", "p"),
    "RandomPosterize": ("bits", "p"),
    "RandomResizedCrop": ("size", "scale", "ratio", "interpolation", "antialias"),
    "RandomRotation": ("degrees", "expand", "center", *_WARP),
    "RandomShortestSize": ("min_size", "max_size", "interpolation", "antialias"),
    "RandomSolarize": ("threshold", "p"),
    "RandomVerticalFlip": ("p",),
    "Resize": ("size", "interpolation", "max_size", "antialias"),
    "ScaleJitter": ("target_size", "scale_range", "interpolation", "antialias"),
    "TrivialAugmentWide": ("num_magnitude_bins", *_WARP),
}
_BOX_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "ClampBoundingBoxes": ("clamping_mode",),
    "ConvertBoundingBoxFormat": ("format",),
    "RandomIoUCrop": ("min_scale", "max_scale", "min_aspect_ratio", "max_aspect_ratio", "trials"),
    "RandomZoomOut": ("fill", "side_range", "p"),
    "SanitizeBoundingBoxes": ("min_size", "min_area"),
}
_POLICIES = ("AutoAugment", "RandAugment", "TrivialAugmentWide")
_CONTAINERS = ("RandomApply", "RandomChoice", "RandomOrder")

# torchvision does these by tensors, or from numbers that it computes by least squares; ours come
# from Pillow's arithmetic. How near they are (docs/augmentations.md). One that becomes exact is
# taken out here, and is then translated like any other.
NOT_TO_THE_BYTE = {
    "AugMix": "within a level, but for 1 value in 100 along the edges of what is turned",
    "ElasticTransform": "within a level; with nearest or bicubic, but for 2 pixels in 1,000",
    "RandomPerspective": "within a level; the last digits of its numbers differ",
}

# These do the same to a gray image as to one with three equal channels.
SAME_FOR_GRAY = (
    "CenterCrop",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
)

# Boxes of whole numbers are cut off after these, where the last bit of a product can decide.
NOT_FOR_WHOLE_BOXES = ("ElasticTransform", "RandomAffine", "RandomPerspective", "RandomRotation")


def class_name(transform: Any) -> str:
    """Return the name of a transform's class."""
    return type(transform).__name__


def is_image_op(transform: Any) -> bool:
    """Whether torchvision's transform has one of ours beside it."""
    if torchvision_generation(transform) is None:
        return False
    return class_name(transform) in _ARGUMENTS or class_name(transform) in _CONTAINERS


def is_box_op(transform: Any) -> bool:
    """Whether torchvision's transform is about boxes, and has one of ours beside it."""
    return torchvision_generation(transform) == 2 and class_name(transform) in _BOX_ARGUMENTS


def make_ours(transform: Any) -> Any:
    """Return our transform for one of torchvision's; TransformError if its arguments do not fit."""
    name = class_name(transform)
    if name in _CONTAINERS:
        return _make_container(name, transform)
    taken = _ARGUMENTS[name] if name in _ARGUMENTS else _BOX_ARGUMENTS[name]
    arguments = {argument: _plain(getattr(transform, argument)) for argument in taken}
    if name == "RandomIoUCrop":
        arguments["sampler_options"] = _plain(transform.options)
    if name in _POLICIES and torchvision_generation(transform) == 1:
        arguments["flavor"] = "torchvision_v1"
    if name == "GaussianBlur":
        v1 = torchvision_generation(transform) == 1
        arguments["flavor"] = "torchvision_v1" if v1 else "torchvision"
    return getattr(T, name)(**arguments)


def names_within(transform: Any) -> set[str]:
    """Return the names of the classes of a transform and of all that it contains."""
    names = {class_name(transform)}
    for inner in getattr(transform, "transforms", ()):
        names |= names_within(inner)
    return names


def _make_container(name: str, transform: Any) -> Any:
    inner = [_require(name, step) for step in transform.transforms]
    if name == "RandomApply":
        return T.RandomApply(inner, transform.p)
    return T.RandomChoice(inner, transform.p) if name == "RandomChoice" else T.RandomOrder(inner)


def _require(where: str, transform: Any) -> Any:
    if class_name(transform) == "Compose" and torchvision_generation(transform) is not None:
        return T.Compose([_require(where, step) for step in transform.transforms])
    if class_name(transform) == "Identity" and torchvision_generation(transform) is not None:
        return T.Identity()
    if not is_image_op(transform):
        raise TransformError(f"{where}: {class_name(transform)} has no equivalent.")
    if class_name(transform) == "Grayscale" and transform.num_output_channels != 3:
        raise TransformError(f"{where}: Grayscale leaves some images with one channel.")
    return make_ours(transform)


def _plain(value: Any) -> Any:
    """An argument in the spelling that a user of ours would choose."""
    if isinstance(value, Enum):
        return value.value
    return tuple(value) if isinstance(value, list) else value
