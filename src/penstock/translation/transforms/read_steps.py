"""Steps that each image goes through, one after the other, as a pipeline of ours.

What a transform does depends on whether it meets a Pillow image or a tensor, so that is kept track
of. For `accelerate`, a step without an equivalent stays in Python if it stands among Pillow images;
for a `Loader`, only the user's own functions do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.transforms.conversions import moves_bytes_only
from penstock.transforms.op import CalledOnly
from penstock.transforms.python_step import library_of
from penstock.translation.transforms.identify import (
    class_name,
    describe,
    full_name,
    is_of_albumentations,
    torchvision_generation,
)
from penstock.translation.transforms.pipeline import (
    Pipeline,
    RgbStep,
    Stage,
    StageError,
    microseconds_on_a_picture,
    views_are_native,
    views_made_by,
)
from penstock.translation.transforms.read_albumentations import read_albumentations
from penstock.translation.transforms.read_timm import read_timm_step
from penstock.translation.transforms.read_torchvision import (
    NOT_FOR_WHOLE_BOXES,
    NOT_TO_THE_BYTE,
    SAME_FOR_GRAY,
    VALUE_STEPS,
    is_box_op,
    is_image_op,
    make_ours,
    names_within,
    read_value_step,
)

_SEQUENTIAL = "torch.nn.modules.container.Sequential"
_IDENTITIES = ("torch.nn.modules.linear.Identity", "torchvision.transforms.v2._misc.Identity")
_PRESETS = "torchvision.transforms._presets"
_IMAGE_PRESETS = ("ImageClassification", "ObjectDetection", "SemanticSegmentation")
_TAKE_ARRAYS = ("ToTensor", "ToImage")  # of torchvision's
_PYTHON_NOTE = "runs as it is, one image at a time, while it holds Python's lock"


def flatten_steps(steps: tuple[Any, ...]) -> Iterator[Any]:
    """Return the single steps of torchvision's compositions and torch's rows of modules."""
    for step in steps:
        is_compose = class_name(step) == "Compose" and torchvision_generation(step) is not None
        if is_compose:
            yield from flatten_steps(tuple(step.transforms))
        elif full_name(type(step)) == _SEQUENTIAL:
            yield from flatten_steps(tuple(step))
        else:
            yield step


def read_step(step: Any, pipeline: Pipeline) -> None:
    """Append our equivalent of a step; TransformError says why there is none."""
    if is_of_albumentations(step):
        read_albumentations(step, pipeline)
        return
    if pipeline.layout == "hwc" and class_name(step) not in _TAKE_ARRAYS:
        raise TransformError(
            f"it meets {pipeline.stage.value}. Put Albumentations' ToTensorV2(), or torchvision's "
            "ToTensor() or ToImage(), before it."
        )
    if pipeline.has_whole_boxes:
        _check_whole_boxes(step)
    _read_one(step, pipeline)


def _read_one(step: Any, pipeline: Pipeline) -> None:
    kind = full_name(type(step))
    if kind.startswith("timm.") and _read_timm(step, pipeline):
        return
    if kind in _IDENTITIES:
        pipeline.log.not_needed(describe(step), "it changes nothing")
    elif kind.startswith(_PRESETS):
        _read_preset(step, pipeline)
    elif torchvision_generation(step) is not None and class_name(step) in VALUE_STEPS:
        read_value_step(step, pipeline)
    elif (pipeline.has_targets or pipeline.for_loader) and is_box_op(step):
        _read_box_op(step, pipeline)
    elif not is_image_op(step):
        _keep_in_python(step, _PYTHON_NOTE, pipeline)
    elif pipeline.stage == Stage.PILLOW:
        _read_on_pillow(step, pipeline)
    elif pipeline.stage == Stage.BYTES:
        _read_on_bytes(step, pipeline)
    else:
        _read_on_numbers(step, pipeline)


def _read_timm(step: Any, pipeline: Pipeline) -> bool:
    try:
        return read_timm_step(step, pipeline)
    except StageError:
        raise
    except TransformError as error:
        may_stay = pipeline.stage == Stage.PILLOW and not pipeline.for_loader
        if not may_stay:
            raise
        _keep_in_python(step, f"{error} It {_PYTHON_NOTE}", pipeline)
        return True


def _read_box_op(step: Any, pipeline: Pipeline) -> None:
    if getattr(step, "labels_getter", "default") is None:
        raise TransformError("labels_getter=None leaves labels without a box. Leave it out.")
    moves_pixels = class_name(step) in ("RandomIoUCrop", "RandomZoomOut")
    if moves_pixels and pipeline.stage != Stage.PILLOW:
        raise TransformError(f"it meets {pipeline.stage.value}. Put it before ToImage().")
    pipeline.take(step, make_ours(step))


def _read_on_pillow(step: Any, pipeline: Pipeline) -> None:
    if class_name(step) == "Grayscale":
        pipeline.take(step, make_ours(step))
        pipeline.is_gray = step.num_output_channels == 1
        return
    names = names_within(step)
    if pipeline.is_gray:
        _check_gray(step)
    near = "; ".join(NOT_TO_THE_BYTE[name] for name in sorted(names & NOT_TO_THE_BYTE.keys()))
    if pipeline.strict and near:
        _keep_near_in_python(step, near, pipeline)
        return
    try:
        ours = make_ours(step)
    except TransformError as error:
        if pipeline.for_loader:
            raise
        _keep_in_python(step, f"{error} It {_PYTHON_NOTE}", pipeline)
        return
    pipeline.take(step, ours, near)


def _read_on_bytes(step: Any, pipeline: Pipeline) -> None:
    exact = moves_bytes_only(step)
    if pipeline.strict and not exact:
        way = "." if pipeline.for_loader else ", or pass strict=False."
        raise TransformError(
            "it meets a tensor here, where torchvision does not round as on Pillow images. "
            f"Put ToImage() or PILToTensor() after it{way}"
        )
    if pipeline.is_gray:
        _check_gray(step)
    note = "" if exact else "done as on a Pillow image; by tensors it differs by a level at times"
    pipeline.take(step, make_ours(step), note)


def _read_on_numbers(step: Any, pipeline: Pipeline) -> None:
    """Append a step on values that only moves pixels: it can be done before values are computed."""
    name = class_name(step)
    moves_only = name in ("RandomHorizontalFlip", "RandomVerticalFlip")
    if name == "RandomCrop":
        moves_only = step.padding is None and not step.pad_if_needed
    if name == "CenterCrop":  # the border that it gives small images is black
        moves_only = not pipeline.is_normalised
    if not moves_only or pipeline.erasings:
        raise TransformError(
            "it meets a floating-point tensor here; the core works on bytes. "
            "Put it before ToTensor() or ToDtype(...)."
        )
    pipeline.take(step, make_ours(step), "done earlier, to the same effect")


def _check_whole_boxes(step: Any) -> None:
    wanted = getattr(step, "format", "XYXY")
    if getattr(wanted, "value", wanted) != "XYXY" or names_within(step) & set(NOT_FOR_WHOLE_BOXES):
        raise TransformError(
            "boxes are whole numbers here (int64), which torchvision rounds in this step; ours "
            "could be one pixel off. Crops, flips, resizes and borders are exact."
        )


def _check_gray(step: Any) -> None:
    colours = getattr(step, "fill", 0)
    if class_name(step) not in SAME_FOR_GRAY or not isinstance(colours, (int, float)):
        raise TransformError(
            "it meets an image of one channel here, where ours has three equal ones. "
            "Put Grayscale or .convert after it."
        )


def _keep_in_python(step: Any, note: str, pipeline: Pipeline) -> None:
    library = library_of(step)
    if library is not None and not is_image_op(step):
        pipeline.is_lost = True  # it may make a tensor
    if pipeline.for_loader and library is not None:
        raise _not_for_loader(step)
    _check_python(step, pipeline, note)
    count = views_made_by(step)
    if count:
        pipeline.is_lost = True  # what comes behind it gets a list
        raise TransformError(f"it makes {count} images of one. {views_are_native(count)}.")
    pipeline.add(T.PythonStep(RgbStep(step)))
    pipeline.log.python(describe(step), note, microseconds_on_a_picture(step), "PythonStep")


def _check_python(step: Any, pipeline: Pipeline, note: str) -> None:
    if pipeline.has_targets:
        raise TransformError(f"it would have to run in Python, where boxes cannot follow. {note}")
    if not pipeline.has_rgb_pillow:
        raise TransformError(
            f"it is not known here, and meets {pipeline.what_is_met}; a function of your own can "
            "only run between steps on RGB Pillow images."
        )
    if not callable(step):
        raise TransformError("it is not callable.")


def _keep_near_in_python(step: Any, near: str, pipeline: Pipeline) -> None:
    """Keep a step to which ours is only close, and log what taking ours would gain."""
    if pipeline.for_loader:
        raise _not_for_loader(step)
    native = None
    if pipeline.time_native is not None:
        with suppress(TransformError):
            native = pipeline.time_native(make_ours(step))
    called = microseconds_on_a_picture(step)
    gain = ""
    if native is not None and called is not None:
        gain = f", and takes about {native:,.0f} us: {called / native:,.1f} times as fast"
    note = f"{_PYTHON_NOTE}; its draws do not depend on seed. Ours is {near}{gain}"
    note += ". Pass strict=False to take it"
    _check_python(step, pipeline, note)
    pipeline.add(T.PythonStep(RgbStep(step)))
    pipeline.log.python(describe(step), note, called, "PythonStep", near=True)


def _not_for_loader(step: Any) -> TransformError:
    """Why a transform of a library's does not become a step in Python by itself."""
    name, library = class_name(step), library_of(step)
    near = sorted(names_within(step) & NOT_TO_THE_BYTE.keys())
    if near:
        how = "; ".join(f"{one} of ours is {NOT_TO_THE_BYTE[one]}" for one in near)
        return TransformError(
            f"{library} does not compute it as Pillow would. {how}. To take ours, write "
            f"penstock.transforms.{name} in its place."
        )
    if name in ("CutMix", "MixUp"):
        return TransformError("it works on whole batches. Give it as Loader(batch_transform=...).")
    ours = getattr(T, name, None)
    known = isinstance(ours, type) and not issubclass(ours, CalledOnly) and library == "torchvision"
    return TransformError(
        (f"write penstock.transforms.{name} in its place. " if known else "there is none of ours. ")
        + f"As it is, {library}'s would run in Python, with draws that do not depend on seed. If "
        "you want that, call it in a function of your own, and give that function."
    )


def _read_preset(preset: Any, pipeline: Pipeline) -> None:
    """What torchvision's weights bring along: `Weights.transforms()`."""
    kind = class_name(preset)
    if kind not in _IMAGE_PRESETS:
        raise TransformError("it is for videos or pairs of images, not for single images.")
    if not pipeline.has_rgb_pillow:
        raise TransformError(f"it meets {pipeline.what_is_met}; known are RGB Pillow images.")
    before = len(pipeline.ops)
    if getattr(preset, "resize_size", None) is not None:
        look = {"interpolation": preset.interpolation, "antialias": preset.antialias}
        pipeline.add(T.Resize(tuple(preset.resize_size), **look))
    if hasattr(preset, "crop_size"):
        pipeline.add(T.CenterCrop(tuple(preset.crop_size)))
    pipeline.add_values(T.ToTensor())
    if hasattr(preset, "mean"):
        pipeline.normalise(tuple(preset.mean), tuple(preset.std))
    pipeline.log.native(kind, ", ".join(map(class_name, pipeline.ops[before:] + pipeline.final)))
