"""What a Dataset does to make arrays of images, before any transform."""

from __future__ import annotations

from typing import Any

from penstock.errors import TransformError
from penstock.translation.datasets.samples import Samples
from penstock.translation.opencv_files import find_difference
from penstock.translation.tracing.array_steps import AsArray, ReadByOpenCV
from penstock.translation.transforms.identify import imported
from penstock.translation.transforms.lines import Log
from penstock.translation.transforms.stages import Pipeline, Stage

_PART = "transform"


def read_array_step(
    step: Any, pipeline: Pipeline, samples: Samples, *, strict: bool, log: Log
) -> bool:
    """Append a step that makes an array; False if it is another."""
    if isinstance(step, (AsArray, ReadByOpenCV)):
        _become_array(pipeline)
        if isinstance(step, ReadByOpenCV):
            _check_opencv(step, samples, strict, log)
        else:
            log.not_needed(_PART, repr(step), "the core's images are arrays")
        return True
    return False


def _become_array(pipeline: Pipeline) -> None:
    if pipeline.stage != Stage.PILLOW or pipeline.is_gray:
        what = "an image of one channel" if pipeline.is_gray else pipeline.stage.value
        raise TransformError(f"it meets {what}; known are arrays of RGB images.")
    pipeline.stage = Stage.ARRAY


def _check_opencv(step: ReadByOpenCV, samples: Samples, strict: bool, log: Log) -> None:
    if step.blue_first:
        raise TransformError("blue stays before red. Add cv2.cvtColor(image, cv2.COLOR_BGR2RGB).")
    difference = find_difference(imported("cv2"), samples.paths)
    if difference and strict:
        raise TransformError(
            f"{difference}; ours has Pillow's pixels. Convert such files, write "
            'np.array(Image.open(path).convert("RGB")), or pass strict=False.'
        )
    note = f"{difference}; ours has Pillow's pixels" if difference else "no file has other pixels"
    log.native(_PART, repr(step), "decoded as by Pillow", note)
