"""Albumentations' transforms that change what values are: Normalize, ToFloat, ToTensorV2."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.transforms.values import FinalOp, FinalSpec, reduce_final
from penstock.translation.transforms.identify import describe
from penstock.translation.transforms.lines import Log
from penstock.translation.transforms.stages import Pipeline, Stage

_PART = "transform"
_LEVELS_255 = 255.0
VALUE_STEPS = ("FromFloat", "Normalize", "ToFloat", "ToTensor3D", "ToTensorV2")


def read_values(step: Any, pipeline: Pipeline, log: Log) -> None:
    """Append what the step comes to; TransformError says why there is nothing."""
    name = type(step).__name__
    if step.p < 1:
        raise TransformError(f"with p={step.p} some images come out of another type. Set p=1.")
    if name == "ToTensorV2":
        is_bytes = pipeline.stage == Stage.ARRAY
        pipeline.stage = Stage.BYTES if is_bytes else Stage.NUMBERS
        log.not_needed(_PART, describe(step), "the core's images are what it makes")
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
    log.native(_PART, describe(step), repr(ours))


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
    """Compare all results there can be, so that no version of the library is taken on trust."""
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
