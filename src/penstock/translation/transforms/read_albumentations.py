"""Albumentations' transforms read as steps of a pipeline of ours.

The core does what only moves bytes; and Normalize, ToFloat and ToTensorV2, if all of their 256
results are the same to the last bit. The rest is called as it is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.transforms.values import FinalOp, FinalSpec, reduce_final
from penstock.translation.transforms.albumentations_ops import (
    ArrayCalls,
    Call,
    RandomBox,
    adds_pixels,
    read_moves,
    takes_probability,
)
from penstock.translation.transforms.identify import (
    ALBUMENTATIONS_COMPOSITION,
    class_name,
    describe,
    full_name,
    imported,
    is_composed,
    is_of_albumentations,
)
from penstock.translation.transforms.pipeline import Pipeline, Stage, microseconds_on_a_picture

_KNOWN_VERSION = "2.0.8"  # whose arithmetic and draws the tests compare with
_IN_A_ROW = (f"{ALBUMENTATIONS_COMPOSITION}.Compose", f"{ALBUMENTATIONS_COMPOSITION}.Sequential")
_CHOOSING = tuple(
    f"{ALBUMENTATIONS_COMPOSITION}.{name}"
    for name in ("OneOf", "OneOrOther", "RandomOrder", "SomeOf")
)
_NOTE = "computed by OpenCV, one image at a time; what it draws depends on seed, epoch and sample"

_LEVELS_255 = 255.0
_VALUE_STEPS = ("FromFloat", "Normalize", "ToFloat", "ToTensor3D", "ToTensorV2")

# Only with p of 0 or 1, and unless their arguments make them choose a place or a size.
_DRAW_NOTHING = frozenset(
    {
        *("CenterCrop", "Compose", "Crop", "HorizontalFlip", "InvertImg", "LongestMaxSize"),
        *("NoOp", "Normalize", "Pad", "PadIfNeeded", "Resize", "Sequential", "SmallestMaxSize"),
        *("ToFloat", "ToGray", "ToTensorV2", "Transpose", "VerticalFlip"),
    }
)


def read_albumentations(transform: Any, pipeline: Pipeline) -> None:
    """Append the equivalents of a transform's parts; what has none is logged as refused."""
    version = imported("albumentations").__version__
    if version != _KNOWN_VERSION:
        raise TransformError(f"it comes from Albumentations {version}; known is {_KNOWN_VERSION}.")
    _check_seed(transform, pipeline)
    for step in _flatten(transform):
        with pipeline.refusing(step):
            _check_parts(step)
            _read_step(step, pipeline)


def _flatten(transform: Any) -> Iterator[Any]:
    if full_name(type(transform)) in _IN_A_ROW and transform.p >= 1 and not _extras(transform):
        for inner in transform.transforms:
            yield from _flatten(inner)
    else:
        yield transform


def _extras(transform: Any) -> str:
    """What a composition does beside changing images."""
    if getattr(transform, "processors", None):
        return "it has bbox_params or keypoint_params; boxes and keypoints are not followed here."
    if getattr(transform, "additional_targets", None):
        return "it has additional_targets; only one image is followed here."
    return ""


def _check_parts(step: Any) -> None:
    """Raise for what works on more than one image, or returns more."""
    composed = is_composed(step)
    if composed and full_name(type(step)) not in (*_IN_A_ROW, *_CHOOSING):
        raise TransformError("how it calls its transforms is not known here.")
    extras = _extras(step)
    if extras:
        raise TransformError(extras)
    if composed:
        for inner in step.transforms:
            _check_parts(inner)
            if class_name(inner) in _VALUE_STEPS:
                raise TransformError(f"it may leave {class_name(inner)} out. Put that after it.")
        return
    if not is_of_albumentations(step):
        raise TransformError("it is not a transform of Albumentations.")
    needed = sorted(set(step.targets_as_params) - {"image"})
    if needed:
        raise TransformError(f"it needs {', '.join(needed)} beside the image.")
    if "image" not in step.available_keys:
        raise TransformError("it does not work on images.")


def _read_step(step: Any, pipeline: Pipeline) -> None:
    if pipeline.stage not in (Stage.ARRAY, Stage.FLOAT_ARRAY):
        raise TransformError(
            f"it meets {pipeline.stage.value}. Albumentations takes np.array(image), and nothing "
            "of it may come after ToTensorV2."
        )
    name = class_name(step)
    is_its_own = type(step).__module__.startswith("albumentations.")
    if step.p <= 0:
        pipeline.log.not_needed(describe(step), "p is 0")
    elif is_its_own and name in _VALUE_STEPS:
        _read_values(step, pipeline)
    elif is_its_own and _read_moves(step, pipeline):
        return
    elif pipeline.stage != Stage.ARRAY:
        raise TransformError(
            "it meets a floating-point array; the core works on bytes. Put it before Normalize "
            "or ToFloat."
        )
    elif is_its_own and name == "RandomResizedCrop" and step.p >= 1:
        pipeline.add(RandomBox(tuple(step.scale), tuple(step.ratio)))
        note = f"the box is drawn and decoded natively, then resized; {_NOTE}"
        _call(step, Call(step, only_resizes=True), note, pipeline)
    else:
        _call(step, Call(step), _NOTE, pipeline)


def _read_moves(step: Any, pipeline: Pipeline) -> bool:
    """Append what only moves bytes; False if the step does more, or comes too late to be moved."""
    ours = read_moves(step)
    is_late = pipeline.stage == Stage.FLOAT_ARRAY
    if ours is None or (is_late and adds_pixels(ours)):
        return False
    if not ours:
        pipeline.log.not_needed(describe(step), "it changes nothing")
        return True
    if step.p < 1 and not takes_probability(ours):
        ours = [T.RandomApply(ours, step.p)]
    for op in ours:
        pipeline.add(op)
    note = "done earlier, to the same effect" if is_late else ""
    pipeline.log.native(describe(step), ", ".join(map(repr, ours)), note)
    return True


def _call(step: Any, call: Call, note: str, pipeline: Pipeline) -> None:
    last = pipeline.ops[-1] if pipeline.ops else None
    try:
        alone = ArrayCalls((call,))
    except Exception as error:
        raise TransformError(
            f"every thread needs a copy of it, and copying fails ({class_name(error)}: {error})."
        ) from error
    if isinstance(last, T.PythonStep) and isinstance(last.function, ArrayCalls):
        pipeline.ops[-1] = T.PythonStep(last.function.followed_by(call), as_array=True)
    else:
        pipeline.add(T.PythonStep(alone, as_array=True))
    pipeline.log.python(describe(step), note, _mean_microseconds(call))


def _mean_microseconds(call: Call) -> float | None:
    """The mean time per image of a call that is made with probability `p`."""
    always, rng = call.always(), np.random.default_rng(0)
    python_rng = random.Random(0)
    each = microseconds_on_a_picture(
        lambda pixels: always.run(pixels, rng, python_rng), as_array=True
    )
    return None if each is None else each * call.transform.p


def _read_values(step: Any, pipeline: Pipeline) -> None:
    """Append our equivalent of the step; TransformError says why there is none."""
    name = class_name(step)
    if step.p < 1:
        raise TransformError(f"with p={step.p} some images come out of another type. Set p=1.")
    if name == "ToTensorV2":
        is_bytes = pipeline.stage == Stage.ARRAY
        pipeline.stage = Stage.BYTES if is_bytes else Stage.NUMBERS
        pipeline.log.not_needed(describe(step), "the core's images are what it makes")
        return
    if pipeline.stage != Stage.ARRAY:
        raise TransformError(f"it meets {pipeline.stage.value}, where its rounding is not known.")
    if name == "Normalize":
        ours: FinalOp = _normalize(step)
        pipeline.is_normalised = True
    elif name == "ToFloat":
        ours = T.ToTensor()
    else:
        raise TransformError("it has no equivalent.")
    _check_last_bits(step, ours)
    pipeline.add_values(ours)
    pipeline.stage = Stage.FLOAT_ARRAY
    pipeline.log.native(describe(step), repr(ours))


def _normalize(step: Any) -> T.Normalize:
    if step.normalization != "standard":
        raise TransformError(
            f"normalization={step.normalization!r} depends on the image; known is 'standard'."
        )
    if step.max_pixel_value != _LEVELS_255:
        raise TransformError(f"max_pixel_value is {step.max_pixel_value}; known is 255.")
    return T.Normalize(_numbers(step.mean), _numbers(step.std), flavor="albumentations")


def _numbers(given: Any) -> tuple[float, ...]:
    return tuple(float(number) for number in np.atleast_1d(given))


def _check_last_bits(step: Any, ours: FinalOp) -> None:
    """Compare all possible results, so that no version of the library has to be trusted."""
    levels = np.repeat(np.arange(256, dtype=np.uint8).reshape(1, 256, 1), 3, axis=2)
    mine = _finished(levels, reduce_final([(0, ours)]))
    theirs = step.apply(levels)
    if theirs.dtype != mine.dtype or not np.array_equal(mine, theirs):
        raise TransformError(
            "its results are not to the last bit those of any known arithmetic, with the "
            "Albumentations that is installed."
        )


def _finished(levels: npt.NDArray[np.uint8], spec: FinalSpec) -> npt.NDArray[np.float32]:
    """What the core makes of levels, each operation rounded to float32."""
    values = levels.astype(np.float32) * np.float32(spec.scale) / np.float32(spec.divisor)
    mean, std, gain = (np.array(given, np.float32) for given in (spec.mean, spec.std, spec.gain))
    finished: npt.NDArray[np.float32] = (values - mean) / std * gain
    return finished


def _check_seed(transform: Any, pipeline: Pipeline) -> None:
    """Log what is lost of a seed that ties several transforms together."""
    seed = getattr(transform, "seed", None)
    if seed is None or sum(map(_draws, _parts(transform))) < 2:
        return
    why = (
        f"seed={seed} gives all of its transforms the same random numbers, so that their choices "
        "go together; here each draws its own."
    )
    if pipeline.strict:
        ways = "Leave seed out, and give it to accelerate or to the Loader."
        if not pipeline.for_loader:
            ways += " Or pass strict=False."
        pipeline.log.refuse(class_name(transform), f"{why} {ways}")
    else:
        pipeline.log.not_needed(f"seed={seed}", why)


def _parts(transform: Any) -> Iterator[Any]:
    """The transform and all that it is made of."""
    yield transform
    if is_composed(transform):
        for part in transform.transforms:
            yield from _parts(part)


def _draws(transform: Any) -> bool:
    chooses_place = "random" in (
        getattr(transform, "position", None),
        getattr(transform, "pad_position", None),
    )
    chooses_size = isinstance(getattr(transform, "max_size", None), (list, tuple))
    is_sure = getattr(transform, "p", None) in (0, 1)
    known = class_name(transform) in _DRAW_NOTHING
    return not (known and is_sure) or chooses_place or chooses_size
