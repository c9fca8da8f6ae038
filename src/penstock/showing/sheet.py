"""The contact sheet of a pipeline: one row per image, with the original and several results.

Images are uint8, before and after the pipeline, with their boxes drawn in.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from PIL import Image

from penstock._core import Element
from penstock.data.column_source import ColumnSource
from penstock.data.columns import label_column
from penstock.data.targets import stored_targets
from penstock.drawing import NO_BOXES, Boxes, draw_cell, join_cells
from penstock.errors import DecodeError, OutputError, SourceError
from penstock.geometry import Sizes
from penstock.limits import limits_in_force
from penstock.loading.levels import before_final
from penstock.loading.python_calls import PythonCalls
from penstock.planner.plan import Plan, as_written
from penstock.reference.libraries.pillow import open_listening, open_rgb
from penstock.reference.pipeline import erase_finished, finish, run_moves
from penstock.sources import Source
from penstock.transforms.targets import Targets
from penstock.translation.transforms.translate import translate

CELL_PX = 224
MOST_CELLS = 1_000  # some 200 MB until they are written
PIXELS = "uint8, before ToDtype and Normalize"
_CAPTION_LETTERS = 37  # what fits below a cell


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell of a sheet."""

    epoch: int | None  # whose draws; None for the original
    height: int
    width: int
    boxes: int


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One image of a sheet: first the original."""

    sample: int
    name: str
    cells: list[Shown]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is on a sheet."""

    file: str
    seed: int
    pixels: str
    rows: list[ShownRow]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def make_sheet(
    source: Source,
    transform: Any,
    target: str | os.PathLike[str],
    *,
    images: int,
    repeats: int,
    seed: int,
) -> Sheet:
    """Write a PNG of up to `images` samples, evenly chosen, each with `repeats` results.

    Results have the draws of epochs 0, 1 ... of a loader with that seed. With MultiView, each
    result is all of its views.
    """
    plan = as_written(translate(transform).transform)
    if not len(source):
        raise SourceError(f"{source.describe()}: there are no images to show.")
    examples = Examples(source, plan, seed)
    count = min(images, len(source))
    columns = 1 + repeats * examples.views
    if count * columns > MOST_CELLS:
        raise OutputError(
            f"{os.fspath(target)}: {count:,} images with {columns - 1:,} results each are "
            f"{count * columns:,} pictures, but a sheet has room for {MOST_CELLS:,}. "
            "Lower --images or --repeats."
        )
    samples = [number * len(source) // count for number in range(count)]
    rows, cells = [], []
    for sample in samples:
        row, drawn = _make_row(source, examples, sample, repeats)
        rows.append(row)
        cells += drawn
    footer = f"original, then epochs 0 to {repeats - 1} of seed {seed}; {PIXELS}"
    save_sheet(join_cells(cells, columns, footer), target)
    return Sheet(os.fspath(target), seed, PIXELS, rows)


def _make_row(
    source: Source, examples: Examples, sample: int, repeats: int
) -> tuple[ShownRow, list[Image.Image]]:
    original = examples.original(sample)
    cells = [_shown(original, None)]
    drawn = [_draw(original, _name(source, sample))]
    for epoch in range(repeats):
        for view in range(examples.views):
            result = examples.result(sample, epoch, view)
            cells.append(_shown(result, epoch))
            which = f"epoch {epoch}, view {view + 1}" if examples.views > 1 else f"epoch {epoch}"
            drawn.append(_draw(result, f"{which}: {result.image.height}x{result.image.width}"))
    return ShownRow(sample, source.name(sample), cells), drawn


def _shown(example: Example, epoch: int | None) -> Shown:
    return Shown(epoch, example.image.height, example.image.width, len(example.boxes.corners))


def _draw(example: Example, caption: str) -> Image.Image:
    return draw_cell(example.image, caption[-_CAPTION_LETTERS:], example.boxes, side_px=CELL_PX)


def _name(source: Source, sample: int) -> str:
    """The class, where the data set has some, or the file."""
    labels = label_column(source) if source.classes is not None else None
    if source.classes is None or labels is None:
        name = source.file_name if isinstance(source, ColumnSource) else source.name
        return os.path.basename(name(sample))
    return source.classes[int(labels.at(np.array([sample]))[0])]


def save_sheet(sheet: Image.Image, target: str | os.PathLike[str]) -> None:
    """Write a PNG."""
    try:
        sheet.save(target, "PNG")
    except OSError as error:
        raise OutputError(
            f"{os.fspath(target)}: cannot be written ({error}). Name another file with --out."
        ) from error


@dataclass(frozen=True, slots=True)
class Example:
    """An image, and what is drawn into it."""

    image: Image.Image
    boxes: Boxes


class Examples:
    """What `Loader(source, transform=..., seed=seed)` makes of samples, one at a time."""

    def __init__(self, source: Source, plan: Plan, seed: int) -> None:
        self._source = source
        self._plans = plan.views or (plan,)
        self._seed = seed
        # Labels as stored: only names matter here, and older files have those, too.
        self._targets = stored_targets(source)
        self._python = PythonCalls(source, plan)
        self._names = None if self._targets is None else self._targets.box_classes

    @property
    def views(self) -> int:
        """Results of one sample in one epoch."""
        return len(self._plans)

    def original(self, sample: int) -> Example:
        """The sample as it is in the data set."""
        return Example(self._open(sample), self._boxes(self._targets_of(sample)))

    def result(self, sample: int, epoch: int, view: int = 0) -> Example:
        """The sample after the pipeline, or after that of one view, with the draws of an epoch."""
        plan = self._plans[view]
        image, targets = self._open(sample), self._targets_of(sample)
        key = (self._seed, epoch, np.array([sample], dtype=np.int64))
        for segment in plan.segments:
            moves, targets = segment.sample_targets(*key, _sizes_of(image), targets)
            image = run_moves(image, moves, row=0)
            image = self._python.call_one(
                segment, image, seed=self._seed, epoch=epoch, sample=sample, file=sample
            )
        finishing = plan.segments[-1].sample_finishing(*key, _sizes_of(image))
        if finishing:
            final = replace(plan.final, element=Element.FLOAT32)
            finished = finish(image, final, "hwc")
            for move in finishing:
                erase_finished(finished, move, 0, "hwc")
            image = Image.fromarray(before_final(finished, final))
        return Example(image, self._boxes(targets))

    def _open(self, sample: int) -> Image.Image:
        try:
            return open_listening(open_rgb, self._source, sample, limits_in_force().pixels)[0]
        except DecodeError as error:
            raise DecodeError(f"{self._source.name(sample)}: {error}.") from error

    def _targets_of(self, sample: int) -> Targets | None:
        if self._targets is None:
            return None
        return self._targets.of(np.array([sample], dtype=np.int64))

    def _boxes(self, targets: Targets | None) -> Boxes:
        if targets is None or targets.boxes is None:
            return NO_BOXES
        labels = [] if targets.labels is None else targets.labels.tolist()
        return Boxes(targets.boxes, labels, self._names)


def _sizes_of(image: Image.Image) -> Sizes:
    return Sizes(np.array([image.height]), np.array([image.width]))
