"""The runs of a calibration: pieces of work, each with the amounts of it, ready to be timed."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from penstock._core import BatchBuffer, BatchRing, Engine, Format, StepColumn, Storage
from penstock.costs.trial_pictures import (
    LARGE,
    MEDIUM,
    SMALL,
    Pictures,
    Pixels,
    as_jpeg,
    make_photo,
    open_jpegs,
    open_pixels,
)
from penstock.costs.trials import Trial, all_trials
from penstock.errors import CoreError
from penstock.geometry import Floats, Size, Sizes
from penstock.loading.loader import Loader
from penstock.packing.pack import pack
from penstock.planner.amounts import Unit
from penstock.planner.decode_work import Sources
from penstock.planner.lower import NO_RESIZE, Steps, lower
from penstock.planner.plan import as_written
from penstock.planner.work import work_of
from penstock.transforms import (
    CenterCrop,
    ColorJitter,
    Compose,
    Normalize,
    Pad,
    RandAugment,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomRotation,
    Resize,
)
from penstock.transforms.moves import Move
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD

_TIMEOUT_S = 60.0
_BATCH_BYTES = 48 << 20  # more than any cache, as batches are
_BEFORE_A_RUN = (
    *(Unit.DRAWN_SAMPLE, Unit.DRAWN_STEP, Unit.DRAWN_EFFECT),
    *(Unit.FILE, Unit.FILE_BYTE, Unit.RECORD, Unit.RECORD_BYTE),
)
_ELEMENT_BYTES = {"UINT8": 1, "FLOAT16": 2, "BFLOAT16": 2, "FLOAT32": 4}

# Images so small that nearly all of their time is Python's and the book-keeping's.
_TINY = Size(16, 16)
_TINY_IMAGES = 512
_MEDIUM_IMAGES = 64
_BATCH_SIZE = 64
_FILES = 32


@dataclass(frozen=True, slots=True)
class Run:
    """Something to time, and the work that it is, of all its samples together."""

    name: str
    amounts: Floats
    go: Callable[[], None]


def all_runs(folder: Path) -> Iterator[Run]:
    """Every run; `folder` is for files."""
    yield from _engine_runs()
    yield from _reading_runs(folder)
    yield from _loader_runs(folder)


def _engine_runs() -> Iterator[Run]:
    engine = Engine(1, 1)
    pictures = _make_pictures(engine)
    buffer = BatchRing(1).take(_BATCH_BYTES)
    buffer.array([_BATCH_BYTES], "uint8").fill(0)  # so that no trial pays for fresh pages
    for trial in all_trials():
        yield _engine_run(trial, pictures[trial.pictures], buffer)


def _engine_run(trial: Trial, pictures: Pictures, buffer: BatchBuffer) -> Run:
    steps = _steps_of(trial, pictures)
    final = trial.final
    work = work_of(steps, pictures.sources, final, trial.layout)
    amounts = work.amounts.sum(axis=0)
    amounts[list(_BEFORE_A_RUN)] = 0
    image_bytes = (
        3 * _ELEMENT_BYTES[final.element.name] * (steps.out_sizes.height * steps.out_sizes.width)
    )
    aligned = -(-image_bytes // 64) * 64
    offsets = np.cumsum(aligned) - aligned
    programs = steps.programs()
    numbers = list(final.mean), list(final.std)
    form = Format(final.element, trial.layout, final.scale, *numbers)
    place = _Places(_BATCH_BYTES - int(aligned.sum()), int(aligned.sum()))

    def go() -> None:
        at = offsets + place.next()
        pictures.part.run(pictures.positions, programs, buffer, at, form)
        if not pictures.part.wait(_TIMEOUT_S) or pictures.part.status.any():
            raise CoreError(f"calibrate: a trial on {trial.pictures} failed.")

    return Run(f"{trial.pictures}: {_describe(steps)}", amounts, go)


class _Places:
    """Goes through the memory of the batch, so that what is written is never in a cache."""

    def __init__(self, most: int, step: int) -> None:
        self._most, self._step, self._at = most, step, 0

    def next(self) -> int:
        self._at = self._at + self._step if self._at + self._step <= self._most else 0
        return self._at


def _steps_of(trial: Trial, pictures: Pictures) -> Steps:
    sizes = pictures.sources.sizes
    moves: list[Move] = []
    for make in trial.moves:
        moves.append(make(sizes))
        sizes = moves[-1].out_sizes(sizes)
    steps = lower(moves, pictures.sources.sizes)
    first = steps.table[:, 0]
    if trial.dct_scale != 1:
        first[:, StepColumn.DCT_SCALE] = trial.dct_scale
    first[first[:, StepColumn.FILTER] != NO_RESIZE, StepColumn.VERTICAL_FIRST] = (
        trial.vertical_first
    )
    return steps


def _describe(steps: Steps) -> str:
    effects = " ".join(str(kind) for kind in steps.effects.heads[: steps.effects.counts[0], 0])
    return f"{steps.table[0, 0].tolist()} {effects}"


def _make_pictures(engine: Engine) -> dict[str, Pictures]:
    small = [make_photo(SMALL, seed) for seed in range(4)]
    medium = [make_photo(MEDIUM, seed) for seed in range(4)]
    quarter = make_photo(Size(LARGE.height // 2, LARGE.width // 2), 0)
    large: list[Pixels] = [np.tile(quarter, (2, 2, 1))]
    found = {
        "small pixels": open_pixels(engine, small, 64),
        "medium pixels": open_pixels(engine, medium, 8),
        "large pixels": open_pixels(engine, large, 1),
    }
    for sampling in ("4:4:4", "4:2:0", "gray"):
        files = [as_jpeg(photo, sampling) for photo in medium]
        slow = [as_jpeg(photo, sampling, progressive=True) for photo in medium[:2]]
        given = MEDIUM, sampling
        found[f"jpeg {sampling}"] = open_jpegs(engine, files, 8, *given, Storage.JPEG)
        found[f"tiles {sampling}"] = open_jpegs(engine, files, 8, *given, Storage.DCT)
        found[f"progressive {sampling}"] = open_jpegs(engine, slow, 2, *given, Storage.JPEG)
    # Few bytes for each pixel, which tells apart what bytes cost and what blocks cost.
    whole = [as_jpeg(photo, "4:2:0", quality=40) for photo in large]
    slow = [as_jpeg(photo, "4:2:0", quality=40, progressive=True) for photo in large]
    tiny = [as_jpeg(photo, "4:4:4") for photo in small]
    for name, storage in (("jpeg", Storage.JPEG), ("tiles", Storage.DCT)):
        found[f"{name} large 4:2:0"] = open_jpegs(engine, whole, 1, LARGE, "4:2:0", storage)
        found[f"{name} small"] = open_jpegs(engine, tiny, 64, SMALL, "4:4:4", storage)
    name = "progressive large 4:2:0"
    found[name] = open_jpegs(engine, slow, 1, LARGE, "4:2:0", Storage.JPEG)
    return found


def _reading_runs(folder: Path) -> Iterator[Run]:
    engine = Engine(1, 1)
    photo = make_photo(MEDIUM, 0)
    for name, picture in (("small", make_photo(SMALL, 0)), ("medium", photo)):
        file = as_jpeg(picture, "4:4:4")
        yield _file_run(engine, folder / name, file)
    as_png = io.BytesIO()
    PIL.Image.fromarray(photo).save(as_png, "PNG")
    part = engine.begin(0, 1)

    def by_pillow() -> None:
        with PIL.Image.open(as_png) as image:
            part.set_pixels(0, np.asarray(image.convert("RGB")))

    deflated = zlib.compress(photo.tobytes(), 6)

    def inflate() -> None:
        part.set_pixels(0, np.frombuffer(zlib.decompress(deflated), np.uint8).reshape(photo.shape))

    pixels = photo.shape[0] * photo.shape[1]
    yield Run("Pillow", _amounts((Unit.PILLOW_PIXEL, pixels)), by_pillow)
    yield Run("inflate", _amounts((Unit.INFLATED_PIXEL, pixels)), inflate)


def _amounts(*given: tuple[Unit, float]) -> Floats:
    amounts = np.zeros(len(Unit))
    for unit, amount in given:
        amounts[unit] = amount
    return amounts


def _file_run(engine: Engine, folder: Path, file: bytes) -> Run:
    folder.mkdir()
    paths = [os.fsencode(folder / f"{number}.jpg") for number in range(_FILES)]
    for path in paths:
        Path(os.fsdecode(path)).write_bytes(file)

    def go() -> None:
        engine.fetch(0, paths).wait(_TIMEOUT_S)

    amounts = _amounts((Unit.FILE, _FILES), (Unit.FILE_BYTE, _FILES * len(file)))
    return Run(f"files of {len(file):,} bytes", amounts, go)


def _loader_runs(folder: Path) -> Iterator[Run]:
    """Epochs of tiny images, for what Python does to each, and of some photos."""
    tiny = [as_jpeg(make_photo(_TINY, seed), "4:4:4") for seed in range(4)]
    medium = [as_jpeg(make_photo(MEDIUM, seed), "4:4:4") for seed in range(4)]
    sets = (
        (_TINY, tiny, _TINY_IMAGES, _TINY_PIPELINES),
        (MEDIUM, medium, _MEDIUM_IMAGES, _MEDIUM_PIPELINES),
    )
    for size, images, count, pipelines in sets:
        files = []
        for number in range(count):
            files.append(folder / f"{size}_{number}.jpg")
            files[-1].write_bytes(images[number % len(images)])
        packed = folder / f"{size}.pen"
        pack(files, packed, progress=False)
        lengths = np.array([file.stat().st_size for file in files], dtype=np.float64)
        for data in (files, packed):
            for transform in pipelines:
                yield _loader_run(data, size, lengths, transform)


_TINY_PIPELINES = (
    Compose([]),
    Compose([RandomResizedCrop(8), RandomHorizontalFlip()]),
    Compose([ColorJitter(0.4, 0.4, 0.4, 0.1)]),
    Compose([RandAugment(), Normalize(IMAGENET_MEAN, IMAGENET_STD)]),
    Compose([Resize(12), Pad(2), RandomRotation(20), Resize(8)]),
)
_MEDIUM_PIPELINES = (
    Compose([RandomResizedCrop(64)]),
    Compose([CenterCrop(160), RandomHorizontalFlip(), Normalize(IMAGENET_MEAN, IMAGENET_STD)]),
    Compose([Resize((200, 180)), RandAugment()]),
    Compose([CenterCrop(48)]),
    Compose([RandomResizedCrop(128), ColorJitter(0.2), Normalize(IMAGENET_MEAN, IMAGENET_STD)]),
    Compose([Resize((90, 110)), RandomRotation(10)]),
)


def _loader_run(data: Any, size: Size, lengths: Floats, transform: Compose) -> Run:
    loader = Loader(
        data, batch_size=_BATCH_SIZE, transform=transform, threads=1, output="numpy", plan=False
    )
    plan = as_written(transform)
    every = np.arange(len(lengths), dtype=np.int64)
    are_files = not isinstance(data, Path)
    sizes = Sizes(np.full(len(every), size.height), np.full(len(every), size.width))
    steps = lower(plan.segments[-1].sample(0, 0, every, sizes), sizes)
    storage = Storage.JPEG if are_files else Storage.DCT
    sources = replace(
        Sources.typical(sizes, storage, are_files=are_files),
        encoded_bytes=lengths,
        values_per_pixel=np.full(len(every), 3.0),
    )
    amounts = work_of(steps, sources, plan.final).amounts.sum(axis=0)

    def go() -> None:
        for _ in loader:
            pass

    return Run(f"loader of {'files' if are_files else 'a packed file'}: {transform}", amounts, go)
