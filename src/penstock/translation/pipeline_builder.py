"""All that a Dataset does to an image once its file is open, as a pipeline of ours."""

from __future__ import annotations

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.translation.datasets.samples import Samples
from penstock.translation.native_cost import native_microseconds
from penstock.translation.read_arrays import read_array_step
from penstock.translation.transforms.identify import describe
from penstock.translation.transforms.lines import Log
from penstock.translation.transforms.read_steps import flatten_steps, read_step
from penstock.translation.transforms.stages import Pipeline, StageError

_PART = "transform"


def read_transform(samples: Samples, *, strict: bool, log: Log) -> Pipeline:
    """Return the pipeline; what has no equivalent is logged as refused."""
    targets = samples.targets
    pipeline = Pipeline(
        time_native=native_microseconds,
        has_targets=targets is not None,
        has_whole_boxes=targets is not None and targets.has_whole_boxes,
    )
    _read_modes(samples.modes, pipeline, strict, log)
    for step in flatten_steps(samples.steps):
        try:
            if not read_array_step(step, pipeline, samples, strict=strict, log=log):
                read_step(step, pipeline, strict=strict, log=log)
        except StageError as error:
            if not pipeline.is_lost:
                log.refuse(_PART, describe(step), str(error))
        except TransformError as error:
            log.refuse(_PART, describe(step), str(error))
    return pipeline


def _read_modes(modes: tuple[str, ...], pipeline: Pipeline, strict: bool, log: Log) -> None:
    if not modes:
        theirs = "Image.open(...) without .convert"
        if strict:
            log.refuse(_PART, theirs, 'images keep the mode of their file. Add .convert("RGB").')
        else:
            log.native(_PART, theirs, "RGB", "files of other modes become RGB here")
    for mode in modes:
        if mode == "L":
            pipeline.add(T.Grayscale())
            log.native(_PART, '.convert("L")', "Grayscale()")
        pipeline.is_gray = mode == "L"
