"""All that a Dataset does to an image once its file is open, as a pipeline of ours.

Steps of libraries are read in transforms/; here is what comes before: modes, arrays, and files
that OpenCV reads. Whether cv2.imread gives Pillow's pixels is looked up file by file: both decode
JPEGs with libjpeg-turbo, so plain ones come out the same, but OpenCV turns images by their EXIF
orientation, and converts CMYK and 16-bit files its own way.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from penstock import transforms as T
from penstock._core import Engine, jpeg_header
from penstock.deferring.same_decoder import opencv_decodes_as_pillow
from penstock.errors import PenstockError, TransformError
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.rng import Draws
from penstock.transforms.moves import Move
from penstock.translation.datasets.contents import DatasetContents
from penstock.translation.tracing.values import AsArray, ReadByOpenCV
from penstock.translation.transforms.identify import imported
from penstock.translation.transforms.lines import Log
from penstock.translation.transforms.pipeline import Pipeline, Stage, timed_picture
from penstock.translation.transforms.read_steps import flatten_steps, read_step

Path: TypeAlias = str | bytes | os.PathLike[str]

_HEADER_BYTES = 1 << 16  # holds the header of nearly all files
_CUT_IN_HEADER = "ends in its header"  # cpp/codec/jpeg_header.cpp
_UPRIGHT = 1
_TIMED_IMAGES = 8  # whose draws differ
_TIMED_RUNS = 4
_TIMEOUT_S = 10.0


def read_transform(contents: DatasetContents, *, strict: bool, log: Log) -> Pipeline:
    """Return the pipeline; what has no equivalent is logged as refused."""
    targets = contents.targets
    pipeline = Pipeline(
        log,
        strict,
        time_native=native_microseconds,
        has_targets=targets is not None,
        has_whole_boxes=targets is not None and targets.has_whole_boxes,
    )
    _read_modes(contents.modes, pipeline)
    for step in flatten_steps(contents.steps):
        with pipeline.refusing(step):
            if isinstance(step, (AsArray, ReadByOpenCV)):
                _read_array_step(step, pipeline, contents.paths)
            else:
                read_step(step, pipeline)
    return pipeline


def _read_modes(modes: tuple[str, ...], pipeline: Pipeline) -> None:
    log = pipeline.log
    if not modes:
        theirs = "Image.open(...) without .convert"
        if pipeline.strict:
            log.refuse(theirs, 'images keep the mode of their file. Add .convert("RGB").')
        else:
            log.native(theirs, "RGB", "files of other modes become RGB here")
    for mode in modes:
        if mode == "L":
            pipeline.add(T.Grayscale())
            log.native('.convert("L")', "Grayscale()")
        pipeline.is_gray = mode == "L"


def _read_array_step(
    step: AsArray | ReadByOpenCV, pipeline: Pipeline, paths: Sequence[Path]
) -> None:
    if not pipeline.has_rgb_pillow:
        raise TransformError(f"it meets {pipeline.what_is_met}; known are arrays of RGB images.")
    pipeline.stage = Stage.ARRAY
    if isinstance(step, AsArray):
        pipeline.log.not_needed(repr(step), "the core's images are arrays")
        return
    if step.blue_first:
        raise TransformError("blue stays before red. Add cv2.cvtColor(image, cv2.COLOR_BGR2RGB).")
    difference = find_difference(imported("cv2"), paths)
    if difference and pipeline.strict:
        raise TransformError(
            f"{difference}; ours has Pillow's pixels. Convert such files, write "
            'np.array(Image.open(path).convert("RGB")), or pass strict=False.'
        )
    note = f"{difference}; ours has Pillow's pixels" if difference else "no file has other pixels"
    pipeline.log.native(repr(step), "decoded as by Pillow", note)


def find_difference(cv2: Any, paths: Sequence[Path]) -> str:
    """Return why pixels would differ, with the first such file; nothing if they are the same."""
    if not opencv_decodes_as_pillow(cv2):
        return "the OpenCV that is installed decodes JPEGs to other pixels than Pillow"
    for path in paths:
        try:
            why = _find_in_header(path)
        except OSError as error:
            why = f"cannot be read ({error.strerror})"
        if why:
            return f"{os.fsdecode(path)} {why}"
    return ""


def _find_in_header(path: Path) -> str:
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


def native_microseconds(op: Any) -> float | None:
    """Return what an op takes on one thread, for one picture; None if it cannot be run alone."""
    picture = timed_picture()
    height, width = picture.shape[:2]
    sizes = Sizes(np.full(_TIMED_IMAGES, height), np.full(_TIMED_IMAGES, width))
    try:
        moves = op.sample(Draws(0, 0, np.arange(_TIMED_IMAGES), 0), sizes)
        part = Engine(1, 1).begin(0, _TIMED_IMAGES)
        for position in range(_TIMED_IMAGES):
            part.set_pixels(position, picture)
        return max(1.0, _least(part, moves, sizes) - _least(part, (), sizes))
    except PenstockError:
        return None


def _least(part: Any, moves: tuple[Move, ...], sizes: Sizes) -> float:
    steps = lower(moves, sizes)
    out = zip(steps.out_sizes.height.tolist(), steps.out_sizes.width.tolist(), strict=True)
    arrays = [np.empty((height, width, 3), np.uint8) for height, width in out]
    positions = np.arange(len(arrays), dtype=np.int32)
    times = []
    for _ in range(_TIMED_RUNS):
        started = time.perf_counter()
        part.run_to_arrays(positions, steps.programs(), arrays)
        part.wait(_TIMEOUT_S)
        times.append(time.perf_counter() - started)
    return min(times) / len(arrays) * 1e6
