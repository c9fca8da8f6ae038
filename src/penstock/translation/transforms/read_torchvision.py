"""Torchvision's transforms, each as ours of the same name with the same arguments.

First those that change pixels, which `read_steps` places; then those that change what values are:
tensors, types, ranges, and erasing, which works on finished values.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from penstock import transforms as T
from penstock._core import Element
from penstock.errors import TransformError
from penstock.transforms.containers import require_loadable
from penstock.transforms.values import read_element
from penstock.translation.transforms.identify import class_name, torchvision_generation
from penstock.translation.transforms.pipeline import Pipeline, Stage, StageError

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
    "RandomChannelPermutation": (),
    "RandomCrop": ("size", "padding", "pad_if_needed", "fill", "padding_mode"),
    "RandomEqualize": ("p",),
    "RandomGrayscale": ("p",),
    "RandomHorizontalFlip": ("p",),
    "RandomInvert": ("p",),
    "RandomPerspective": ("distortion_scale", "p", *_WARP),
    "RandomPhotometricDistort": ("brightness", "contrast", "saturation", "hue", "p"),
    "RandomPosterize": ("bits", "p"),
    "RandomResize": ("min_size", "max_size", "interpolation", "antialias"),
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
_FOR_TENSORS = ("ConvertImageDtype", "ToDtype")
_POLICIES = ("AutoAugment", "RandAugment", "TrivialAugmentWide")
_CONTAINERS = ("RandomApply", "RandomChoice", "RandomOrder")

# torchvision does these by tensors, or from numbers that it computes by least squares; ours come
# from Pillow's arithmetic. How near they are (docs/augmentations.md). One that becomes exact is
# taken out here, and is then translated like any other.
NOT_TO_THE_BYTE = {
    "AugMix": "within a level, except for 1 value in 100 along the edges of what is rotated",
    "ElasticTransform": "within a level; with nearest or bicubic, except for 2 pixels in 1,000",
    "RandomPerspective": "within a level; the last digits of its numbers differ",
}

# These do the same to a gray image as to one with three equal channels.
SAME_FOR_GRAY = (
    *("CenterCrop", "Pad", "RandomAffine", "RandomCrop", "RandomHorizontalFlip"),
    *("RandomResizedCrop", "RandomRotation", "RandomVerticalFlip", "Resize"),
)

# Boxes of whole numbers are cut off after these, where the last bit of a product can decide.
NOT_FOR_WHOLE_BOXES = ("ElasticTransform", "RandomAffine", "RandomPerspective", "RandomRotation")


def is_image_op(transform: Any) -> bool:
    """Whether torchvision's transform has an equivalent among ours."""
    if torchvision_generation(transform) is None:
        return False
    return class_name(transform) in _ARGUMENTS or class_name(transform) in _CONTAINERS


def is_box_op(transform: Any) -> bool:
    """Whether torchvision's transform is about boxes, and has an equivalent among ours."""
    return torchvision_generation(transform) == 2 and class_name(transform) in _BOX_ARGUMENTS


def make_ours(transform: Any) -> Any:
    """Return our transform for one of torchvision's; TransformError if its arguments do not fit."""
    name = class_name(transform)
    if name in _CONTAINERS:
        return _make_container(name, transform)
    taken = _ARGUMENTS[name] if name in _ARGUMENTS else _BOX_ARGUMENTS[name]
    arguments = {argument: _plain(getattr(transform, argument)) for argument in taken}
    if name == "RandomCrop" and torchvision_generation(transform) == 2:
        arguments["padding"] = _as_pad_takes_it(arguments["padding"])
    if name == "RandomIoUCrop":
        arguments["sampler_options"] = _plain(transform.options)
    if name in _POLICIES and torchvision_generation(transform) == 1:
        arguments["flavor"] = "torchvision_v1"
    if name == "GaussianBlur":
        v1 = torchvision_generation(transform) == 1
        arguments["flavor"] = "torchvision_v1" if v1 else "torchvision"
    ours = getattr(T, name)(**arguments)
    require_loadable(ours)
    return ours


def _as_pad_takes_it(kept: Any) -> Any:
    """Left, top, right, bottom, from the left, right, top, bottom that v2.RandomCrop keeps."""
    if kept is None:
        return None
    left, right, top, bottom = kept
    return left, top, right, bottom


def names_within(transform: Any) -> set[str]:
    """Return the names of the classes of a transform and of all that it contains."""
    names = {class_name(transform)}
    for inner in getattr(transform, "transforms", ()):
        names |= names_within(inner)
    return names


def _make_container(name: str, transform: Any) -> Any:
    inner = [_make_inner(name, step) for step in transform.transforms]
    weighted = () if name == "RandomOrder" else (transform.p,)
    ours = getattr(T, name)(inner, *weighted)
    require_loadable(ours)
    return ours


def _make_inner(where: str, transform: Any) -> Any:
    if class_name(transform) == "Compose" and torchvision_generation(transform) is not None:
        return T.Compose([_make_inner(where, step) for step in transform.transforms])
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


def read_value_step(step: Any, pipeline: Pipeline) -> None:
    """Append our equivalent of the step; TransformError says why there is none."""
    read = VALUE_STEPS[class_name(step)]
    if pipeline.stage == Stage.PILLOW and class_name(step) in _FOR_TENSORS:
        why = "torchvision leaves Pillow images as they are; after ToImage() it would count"
        pipeline.read(step, read, why)
    else:
        pipeline.read(step, read)


def _to_tensor(step: Any, pipeline: Pipeline) -> None:
    del step
    if pipeline.stage != Stage.ARRAY:
        _require(pipeline, Stage.PILLOW)
    pipeline.add_to_tensor()


def _to_bytes(step: Any, pipeline: Pipeline) -> None:
    del step
    if pipeline.stage in (Stage.PILLOW, Stage.ARRAY):
        pipeline.stage = Stage.BYTES


def _leave_alone(step: Any, pipeline: Pipeline) -> None:
    del step, pipeline


def _to_pillow(step: Any, pipeline: Pipeline) -> None:
    _require(pipeline, Stage.BYTES)
    if step.mode is not None:
        raise TransformError(f"it asks for mode {step.mode!r}. Leave mode out.")
    pipeline.stage = Stage.PILLOW


def _to_rgb(step: Any, pipeline: Pipeline) -> None:
    del step
    if pipeline.stage == Stage.NUMBERS and pipeline.is_gray:
        raise TransformError("the image has one channel and is normalised already.")
    pipeline.is_gray = False


def _to_dtype(step: Any, pipeline: Pipeline) -> None:
    if pipeline.has_targets and _changes_boxes(step.dtype):
        raise TransformError("it gives boxes another type too. Name tv_tensors.Image alone.")
    dtype = _dtype_of_images(step.dtype)
    if dtype is None:
        return
    if pipeline.stage == Stage.PILLOW:
        _leave_pillow_image(dtype, pipeline)
        return
    if pipeline.stage == Stage.BYTES and read_element("ToDtype", dtype) == Element.UINT8:
        return
    pipeline.add_values(T.ToDtype(dtype, bool(step.scale)))


def _convert_dtype(step: Any, pipeline: Pipeline) -> None:
    if pipeline.stage == Stage.PILLOW:
        if torchvision_generation(step) == 2:
            _leave_pillow_image(step.dtype, pipeline)
            return
        raise StageError("it meets a Pillow image, which torchvision refuses.")
    element = read_element("ConvertImageDtype", step.dtype)
    if pipeline.stage == Stage.BYTES and element == Element.UINT8:
        return
    if torchvision_generation(step) == 2:
        pipeline.add_values(T.ToDtype(step.dtype, scale=True))
    elif element != Element.FLOAT32:
        raise TransformError(
            f"of torchvision's older transforms, only float32 is known, not {element.name.lower()}."
        )
    elif pipeline.stage == Stage.BYTES:
        pipeline.add_values(T.ToTensor())


def _leave_pillow_image(dtype: Any, pipeline: Pipeline) -> None:
    """Torchvision changes the type of tensors only; given to a Loader, it is meant for batches."""
    if pipeline.for_loader and read_element("ToDtype", dtype) != Element.UINT8:
        name = str(dtype).removeprefix("torch.")
        raise StageError(
            f"it meets a Pillow image, which torchvision leaves as it is, without {name}. Put "
            f'ToImage() before it, or write penstock.transforms.ToDtype("{name}", scale=True).'
        )


def _normalize(step: Any, pipeline: Pipeline) -> None:
    _require(pipeline, Stage.NUMBERS)
    mean, std = tuple(map(float, step.mean)), tuple(map(float, step.std))
    if pipeline.is_gray and (len(mean) != 1 or len(std) != 1):
        raise TransformError(
            f"the image has one channel, mean {len(mean)} values and std {len(std)}."
        )
    pipeline.normalise(mean, std)


def _erase(step: Any, pipeline: Pipeline) -> None:
    value = _erasing_value(step)
    is_noise = isinstance(value, str)
    if pipeline.is_gray and (is_noise or len(value) != 1):
        raise TransformError("the image has one channel, and what it is erased with has not.")
    ours = T.RandomErasing(step.p, tuple(step.scale), tuple(step.ratio), value)
    if pipeline.stage == Stage.NUMBERS:
        pipeline.erasings.append(ours)
    elif pipeline.stage == Stage.PILLOW:
        raise TransformError("it meets a Pillow image. Put it after ToTensor() or ToImage().")
    elif is_noise:
        raise TransformError("noise in bytes depends on the processor. Put it after ToDtype(...).")
    else:
        pipeline.add(ours)


VALUE_STEPS: dict[str, Callable[[Any, Pipeline], None]] = {
    "ToTensor": _to_tensor,
    "PILToTensor": _to_bytes,
    "ToImage": _to_bytes,
    "ToPureTensor": _leave_alone,
    "ToPILImage": _to_pillow,
    "RGB": _to_rgb,
    "ToDtype": _to_dtype,
    "ConvertImageDtype": _convert_dtype,
    "Normalize": _normalize,
    "RandomErasing": _erase,
}


def _require(pipeline: Pipeline, stage: Stage) -> None:
    if pipeline.stage != stage:
        raise StageError(f"it needs {stage.value} and meets {pipeline.stage.value}.")


def _dtype_of_images(dtype: Any) -> Any:
    """A dtype for all, or for each class of torchvision's tensors."""
    if not isinstance(dtype, dict):
        return dtype
    for kind, wanted in dtype.items():
        if getattr(kind, "__name__", "") == "Image":
            return wanted
    return dtype.get("others")


def _changes_boxes(dtype: Any) -> bool:
    if not isinstance(dtype, dict):
        return False
    named = {getattr(kind, "__name__", kind): wanted for kind, wanted in dtype.items()}
    return named.get("BoundingBoxes", named.get("others")) is not None


def _erasing_value(step: Any) -> tuple[float, ...] | str:
    """What is erased with; the newer transform keeps None for noise."""
    value = step.value
    if value is None or value == "random":
        return "random"
    return (float(value),) if isinstance(value, (int, float)) else tuple(map(float, value))
