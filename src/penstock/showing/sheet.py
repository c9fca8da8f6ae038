"""The contact sheet of a pipeline: a row for each image, what it was and what becomes of it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from PIL import Image

from penstock.data.column_source import ColumnSource
from penstock.data.columns import label_column
from penstock.drawing import draw_cell, join_cells
from penstock.errors import OutputError, SourceError
from penstock.planner.plan import as_written
from penstock.showing.examples import Example, Examples
from penstock.sources import Source
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

    Results have the draws of epochs 0, 1 ... of a loader with that seed.
    """
    plan = as_written(translate(transform).transform)
    if not len(source):
        raise SourceError(f"{source.describe()}: there are no images to show.")
    examples = Examples(source, plan, seed)
    count = min(images, len(source))
    if count * (1 + repeats) > MOST_CELLS:
        raise OutputError(
            f"{os.fspath(target)}: {count:,} images with {repeats:,} results each are "
            f"{count * (1 + repeats):,} pictures, but a sheet has room for {MOST_CELLS:,}. "
            "Lower --images or --repeats."
        )
    samples = [number * len(source) // count for number in range(count)]
    rows, cells = [], []
    for sample in samples:
        row, drawn = _make_row(source, examples, sample, repeats)
        rows.append(row)
        cells += drawn
    footer = f"original, then epochs 0 to {repeats - 1} of seed {seed}; {PIXELS}"
    _save(join_cells(cells, 1 + repeats, footer), target)
    return Sheet(os.fspath(target), seed, PIXELS, rows)


def _make_row(
    source: Source, examples: Examples, sample: int, repeats: int
) -> tuple[ShownRow, list[Image.Image]]:
    original = examples.original(sample)
    cells = [_shown(original, None)]
    drawn = [_draw(original, _name(source, sample))]
    for epoch in range(repeats):
        result = examples.result(sample, epoch)
        cells.append(_shown(result, epoch))
        drawn.append(_draw(result, f"epoch {epoch}: {result.image.height}x{result.image.width}"))
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


def _save(sheet: Image.Image, target: str | os.PathLike[str]) -> None:
    try:
        sheet.save(target, "PNG")
    except OSError as error:
        raise OutputError(
            f"{os.fspath(target)}: cannot be written ({error}). Name another file with --out."
        ) from error
