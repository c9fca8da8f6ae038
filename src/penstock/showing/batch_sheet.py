"""A batch as a picture: each image with its file, its label, its boxes and what was drawn for it.

Images are uint8, as they were before ToDtype and Normalize; what comes after those is in them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from PIL import Image

from penstock.drawing import NO_BOXES, Boxes
from penstock.errors import OutputError
from penstock.loading.past_batch import PastBatch
from penstock.showing.captions import (
    BRIGHT,
    DIM,
    LABEL,
    NAME,
    Cell,
    Words,
    fit_end,
    join_in_rows,
    make_cell,
)
from penstock.showing.sheet import CELL_PX, MOST_CELLS, save_sheet

_SMALL_PX = 192  # of a cell, where there are many
_MANY = 96


def draw_batch(past: PastBatch, target: str | os.PathLike[str], most: int | None = None) -> int:
    """Write a PNG of the first `most` images of a batch, or of all; returns how many are on it."""
    views = past.levels.views
    shown = len(past) if most is None else min(most, len(past))
    if shown * views > MOST_CELLS:
        raise OutputError(
            f"{os.fspath(target)}: the batch is {shown * views:,} pictures, but a sheet has room "
            f"for {MOST_CELLS:,}. Show fewer with --images."
        )
    side = CELL_PX if shown * views <= _MANY else _SMALL_PX
    cells = [
        _cell(past, position, view, side) for position in range(shown) for view in range(views)
    ]
    some = "" if shown == len(past) else f", the first {shown:,} shown"
    left_out = f"; {len(past.left_out)} left out or replaced" if past.left_out else ""
    header = f"{past.where}: {len(past):,} images{some}{left_out}"
    save_sheet(join_in_rows(cells, header, views), target)
    return shown


def _cell(past: PastBatch, position: int, view: int, side_px: int) -> Cell:
    image = Image.fromarray(past.pixels(position, view))
    paragraphs = list(_paragraphs(past, position, view, side_px))
    return make_cell(image, paragraphs, _boxes(past, position), side_px=side_px)


def _paragraphs(past: PastBatch, position: int, view: int, side_px: int) -> Iterator[list[Words]]:
    has_views = past.levels.views > 1
    which = f", view {view + 1}" if has_views else ""
    yield [Words(f"{position}{which}: sample {past.samples[position]}", DIM)]
    yield [Words(fit_end(past.names[position], side_px - 4), BRIGHT)]
    label = past.label_words(position)
    if label:
        yield [Words(fit_end(label, side_px - 4), LABEL)]
    for one in past.drawn[position]:
        if one.view in (None, view + 1):
            yield [Words(one.op, NAME), Words(one.words, DIM)]


def _boxes(past: PastBatch, position: int) -> Boxes:
    if past.targets is None:
        return NO_BOXES
    target = past.targets[position]
    labels = target["labels"].tolist() if "labels" in target else []
    return Boxes(past.corners(position), labels, past.box_classes)
