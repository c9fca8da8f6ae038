"""All that a Dataset does to an image once its file is open, as a pipeline of ours."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from PIL import Image

from penstock import transforms as T
from penstock._core import Engine, jpeg_header
from penstock.errors import PenstockError, TransformError
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.rng import Draws
from penstock.transforms.moves import Move
from penstock.translation.datasets.samples import Samples
from penstock.translation.tracing.calls import AsArray, ReadByOpenCV
from penstock.translation.transforms.identify import describe, imported
from penstock.translation.transforms.lines import Log
from penstock.translation.transforms.pipeline import Pipeline, Stage, StageError, timed_picture
from penstock.translation.transforms.read_steps import flatten_steps, read_step

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


_HEADER_BYTES = 1 << 16  # holds the header of nearly all files
_CUT_IN_HEADER = "ends in its header"  # cpp/codec/jpeg_header.cpp
_UPRIGHT = 1
_IMREAD_COLOR = 1


def find_difference(cv2: Any, paths: Iterable[str | bytes | os.PathLike[str]]) -> str:
    """Return why pixels would differ, with the first such file; nothing if they are the same."""
    if not _decodes_alike(cv2):
        return "the OpenCV that is installed decodes JPEGs to other pixels than Pillow"
    for path in paths:
        try:
            why = _find_in_header(path)
        except OSError as error:
            why = f"cannot be read ({error.strerror})"
        if why:
            return f"{os.fsdecode(path)} {why}"
    return ""


def _decodes_alike(cv2: Any) -> bool:
    """Compare the two on JPEGs of each kind of chroma; the libraries beneath may be others."""
    noise = np.random.default_rng(0).integers(0, 256, (11, 13, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((61, 47))
    for subsampling in (0, 1, 2):
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=90, subsampling=subsampling)
        theirs = cv2.imdecode(np.frombuffer(file.getvalue(), np.uint8), _IMREAD_COLOR)
        if not np.array_equal(theirs[:, :, ::-1], np.asarray(Image.open(file))):
            return False
    return True


def _find_in_header(path: str | bytes | os.PathLike[str]) -> str:
    with open(path, "rb") as file:
        start = file.read(_HEADER_BYTES)
        facts = jpeg_header(start)
        if facts["reason"] == _CUT_IN_HEADER and len(start) == _HEADER_BYTES:
            facts = jpeg_header(start + file.read())
    if facts["components"] not in (1, 3) or facts["precision"] != 8:
        return "is not a gray or RGB JPEG of 8 bits"
    if facts["orientation"] != _UPRIGHT:
        return f"has EXIF orientation {facts['orientation']}, by which OpenCV turns it"
    return ""


_IMAGES = 8  # whose draws differ
_RUNS = 4
_TIMEOUT_S = 10.0


def native_microseconds(op: Any) -> float | None:
    """Return what an op takes on one thread, for one picture; None if it cannot be run alone."""
    picture = timed_picture()
    height, width = picture.shape[:2]
    sizes = Sizes(np.full(_IMAGES, height), np.full(_IMAGES, width))
    try:
        moves = op.sample(Draws(0, 0, np.arange(_IMAGES), 0), sizes)
        chunk = Engine(1, 1).begin(0, _IMAGES)
        for item in range(_IMAGES):
            chunk.set_pixels(item, picture)
        return max(1.0, _least(chunk, moves, sizes) - _least(chunk, (), sizes))
    except PenstockError:
        return None


def _least(chunk: Any, moves: tuple[Move, ...], sizes: Sizes) -> float:
    steps = lower(moves, sizes)
    out = zip(steps.out_sizes.height.tolist(), steps.out_sizes.width.tolist(), strict=True)
    arrays = [np.empty((height, width, 3), np.uint8) for height, width in out]
    items = np.arange(len(arrays), dtype=np.int32)
    times = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        chunk.run_to_arrays(items, steps.programs(), arrays)
        chunk.wait(_TIMEOUT_S)
        times.append(time.perf_counter() - started)
    return min(times) / len(arrays) * 1e6
