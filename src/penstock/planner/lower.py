"""From moves to steps: the short program that the core runs on each sample.

A step pads, crops, resizes, takes a window and mirrors, in that order. Moves are fitted into as few
steps as give the same bytes, for each sample on its own:

- a crop shrinks the box, or the window once there is a resize; after a mirror it is mirrored;
- a resize to the same size is nothing, unless it is of a part; one after another resize, or after
  a mirror (Pillow's rounding is not mirror-symmetric), starts a new step;
- mirrors cancel out;
- a border starts a new step unless nothing has happened in the present one; but one of a single
  colour joins a crop that reaches the edges where it is, for then it might as well come first;
- an effect on pixels follows a step, which it ends; but gray before all else is made while the
  image is decoded, as part of the first step;
- a resize whose rest the decoder has done must be in the first step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from penstock._core import FINISHED, Effect, PadMode, Programs, StepColumn, Weights
from penstock.errors import PlanError
from penstock.geometry import Bools, Ints, Sizes
from penstock.pillow_order import vertical_first
from penstock.planner.effect_list import EffectList, Effects
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import (
    BoxResizeMove,
    CropMove,
    FlipMove,
    Move,
    PadMove,
    ResizeMove,
)

# The scale at which the first coefficient of each block can be enough.
_EIGHTH = 8

NO_RESIZE = -1

_COLUMNS = len(StepColumn)
_HEIGHTS = (StepColumn.CROP_HEIGHT, StepColumn.RESIZE_HEIGHT, StepColumn.WINDOW_HEIGHT)
_WIDTHS = (StepColumn.CROP_WIDTH, StepColumn.RESIZE_WIDTH, StepColumn.WINDOW_WIDTH)
_BOX = slice(StepColumn.CROP_TOP, StepColumn.CROP_WIDTH + 1)
_WINDOW = slice(StepColumn.WINDOW_TOP, StepColumn.WINDOW_WIDTH + 1)
_PART = slice(StepColumn.BOX_LEFT, StepColumn.BOX_BOTTOM + 1)


@dataclass(frozen=True, slots=True)
class Regions:
    """A rectangle of each image of a batch, in pixels."""

    top: Ints
    left: Ints
    bottom: Ints
    right: Ints
    scale: int = 1  # the largest at which one of them is decoded, 1 / scale of its size

    @staticmethod
    def whole(sizes: Sizes) -> Regions:
        """All of images of `sizes`."""
        start = np.zeros(len(sizes), dtype=np.int64)
        return Regions(start, start, sizes.height, sizes.width)

    @property
    def sides(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Top, left, bottom and right."""
        return self.top, self.left, self.bottom, self.right

    @property
    def area(self) -> Ints:
        """Pixels."""
        return (self.bottom - self.top) * (self.right - self.left)


@dataclass(frozen=True, slots=True)
class Steps:
    """The lowered moves of a batch.

    Samples may need different numbers of steps, at least one; rows of the table beyond a sample's
    own are identities.
    """

    table: npt.NDArray[np.int32]  # (samples, steps, columns)
    counts: npt.NDArray[np.int32]  # how many steps each sample needs
    effects: Effects
    out_sizes: Sizes

    def pick(self, samples: Bools | Ints) -> Steps:
        """The steps of some of the samples, by a mask or by rows."""
        sizes = self.out_sizes.at(samples)
        return Steps(self.table[samples], self.counts[samples], self.effects.pick(samples), sizes)

    def between(self, begin: int, end: int) -> Steps:
        """The steps of some samples that follow each other, without a copy."""
        some = slice(begin, end)
        sizes = Sizes(self.out_sizes.height[some], self.out_sizes.width[some])
        effects = self.effects.between(begin, end)
        return Steps(self.table[some], self.counts[some], effects, sizes)

    def regions(self, sizes: Sizes) -> Regions:
        """What the first steps read of images of `sizes`; a resize may need less of it."""
        found = regions_of(self.table[:, 0], sizes)
        return replace(found, scale=largest_scale(self.table[:, 0]))

    def split(self, parts: int) -> list[Steps]:
        """The same in so many parts of equally many samples each."""
        counts = self.effects.counts.reshape(parts, -1)
        ends = np.cumsum(counts.sum(axis=1))[:-1]
        heads, numbers = np.split(self.effects.heads, ends), np.split(self.effects.numbers, ends)
        sizes = self.out_sizes
        return [
            Steps(table, used, Effects(*own), Sizes(height, width))
            for table, used, *own, height, width in zip(
                np.split(self.table, parts),
                np.split(self.counts, parts),
                heads,
                numbers,
                counts,
                np.split(sizes.height, parts),
                np.split(sizes.width, parts),
                strict=True,
            )
        ]

    def programs(self) -> Programs:
        """The same in the core's form."""
        effects = self.effects
        return Programs(self.table, self.counts, effects.heads, effects.numbers, effects.counts)


def largest_scale(first: npt.NDArray[np.int32]) -> int:
    """The largest scale at which these first steps have images decoded."""
    return max(1, int(first[:, StepColumn.DCT_SCALE].max(initial=1)))


def regions_of(first: npt.NDArray[np.int32], sizes: Sizes) -> Regions:
    """What steps read of images of `sizes`, of which they are the first: (samples, columns)."""
    columns = first.T.astype(np.int64)
    top, left, height, width = columns[_BOX]
    plain = columns[StepColumn.FILTER] == NO_RESIZE
    if plain.any():
        down, across, window_height, window_width = columns[_WINDOW]
        top, left = top + down * plain, left + across * plain
        height = np.where(plain, window_height, height)
        width = np.where(plain, window_width, width)
    bottom, right = top + height, left + width
    padded = columns[: StepColumn.PAD_MODE].any(axis=0)
    if not padded.any():
        return Regions(top, left, bottom, right)
    # Of one colour and without a resize, the core adds a border to what is seen of the image.
    above, before = columns[StepColumn.PAD_TOP], columns[StepColumn.PAD_LEFT]
    top, bottom = np.maximum(top - above, 0), np.minimum(bottom - above, sizes.height)
    left, right = np.maximum(left - before, 0), np.minimum(right - before, sizes.width)
    seen = plain & (columns[StepColumn.PAD_MODE] == PadMode.CONSTANT)
    whole = padded & ~(seen & (top < bottom) & (left < right))
    if not whole.any():
        return Regions(top, left, bottom, right)
    return Regions(
        np.where(whole, 0, top),
        np.where(whole, 0, left),
        np.where(whole, sizes.height, bottom),
        np.where(whole, sizes.width, right),
    )


def lower(
    moves: Sequence[Move | BoxResizeMove], sizes: Sizes, finishing: Sequence[EffectMove] = ()
) -> Steps:
    """Fit `moves`, in their order, into steps for images of `sizes`.

    `finishing` are effects on the finished images.
    """
    builder = _Builder(sizes)
    for move in moves:
        match move:
            case PadMove():
                builder.pad(move)
            case CropMove():
                builder.crop(move)
            case ResizeMove():
                builder.resize(move)
            case BoxResizeMove():
                builder.resize_box(move)
            case FlipMove():
                builder.flip(move)
            case EffectMove():
                builder.effect(move)
    for effects in finishing:
        builder.finishing_effect(effects)
    return builder.finish()


class _Builder:
    """The present step of every sample as columns, and the steps that are complete."""

    def __init__(self, sizes: Sizes) -> None:
        self._step = _identity(sizes)
        self._read = Sizes(sizes.height.copy(), sizes.width.copy())  # of what that step reads
        self._touched = np.zeros(len(sizes), dtype=np.bool_)  # padded, cropped or resized
        self._complete: list[npt.NDArray[np.int32]] = []  # by number: (samples, columns)
        self._counts = np.zeros(len(sizes), dtype=np.int64)
        self._effects = EffectList(len(sizes))

    def pad(self, move: PadMove) -> None:
        padded = (move.left | move.top | move.right | move.bottom) != 0
        begun = self._touched | self._is_flipped()
        self._start_new_step(padded & begun & ~self._can_come_first(move))
        self._touched |= padded
        step = self._step
        step[StepColumn.PAD_LEFT] += move.left
        step[StepColumn.PAD_TOP] += move.top
        step[StepColumn.PAD_RIGHT] += move.right
        step[StepColumn.PAD_BOTTOM] += move.bottom
        red, green, blue = move.fill
        step[StepColumn.PAD_MODE, padded] = move.mode
        step[StepColumn.PAD_FILL, padded] = red | green << 8 | blue << 16
        height = step[StepColumn.WINDOW_HEIGHT] + move.top + move.bottom
        width = step[StepColumn.WINDOW_WIDTH] + move.left + move.right
        self._set_box(padded, height, width)

    def _can_come_first(self, move: PadMove) -> Bools:
        """Where nothing but a crop comes before a border, and that keeps the edges next to it."""
        step = self._step
        if move.mode != PadMode.CONSTANT:
            return np.zeros(len(self._counts), dtype=np.bool_)
        top, left = step[StepColumn.CROP_TOP], step[StepColumn.CROP_LEFT]
        bottom, right = top + step[StepColumn.CROP_HEIGHT], left + step[StepColumn.CROP_WIDTH]
        keeps_edges = ((move.top == 0) | (top == 0)) & ((move.left == 0) | (left == 0))
        keeps_edges &= (move.bottom == 0) | (bottom == self._read.height)
        keeps_edges &= (move.right == 0) | (right == self._read.width)
        only_crops = ~self._is_flipped() & (step[StepColumn.FILTER] == NO_RESIZE)
        only_crops &= ~step[: StepColumn.PAD_MODE].any(axis=0)
        return np.asarray(keeps_edges & only_crops)

    def crop(self, move: CropMove) -> None:
        step = self._step
        self._touched |= self._changes_size(move)
        top = np.where(
            step[StepColumn.FLIP_VERTICAL],
            step[StepColumn.WINDOW_HEIGHT] - move.top - move.height,
            move.top,
        )
        left = np.where(
            step[StepColumn.FLIP_HORIZONTAL],
            step[StepColumn.WINDOW_WIDTH] - move.left - move.width,
            move.left,
        )
        resized = step[StepColumn.FILTER] != NO_RESIZE
        step[StepColumn.WINDOW_TOP] += top * resized
        step[StepColumn.WINDOW_LEFT] += left * resized
        step[StepColumn.WINDOW_HEIGHT] = move.height
        step[StepColumn.WINDOW_WIDTH] = move.width
        unresized = ~resized
        step[StepColumn.CROP_TOP] += top * unresized
        step[StepColumn.CROP_LEFT] += left * unresized
        self._set_box(unresized, move.height, move.width)

    def resize(self, move: ResizeMove) -> None:
        resized = self._changes_size(move)
        self._resize(move, resized)
        if move.scales is not None:
            self._reduce(move.scales, resized, dc_alone=move.dc_alone)

    def resize_box(self, move: BoxResizeMove) -> None:
        width, height = self._step[StepColumn.WINDOW_WIDTH], self._step[StepColumn.WINDOW_HEIGHT]
        zero = np.zeros(len(width))
        is_part = (move.box != np.stack([zero, zero, width, height], axis=1)).any(axis=1)
        resized = is_part | (move.height != height) | (move.width != width)
        self._resize(move, resized)
        self._step[_PART, resized] = move.box[resized].astype(np.float32).view(np.int32).T

    def _resize(self, move: ResizeMove | BoxResizeMove, resized: Bools) -> None:
        step = self._step
        taken = (step[StepColumn.FILTER] != NO_RESIZE) | self._is_flipped()
        self._start_new_step(resized & taken)
        self._touched |= resized
        order = vertical_first(
            step[StepColumn.CROP_HEIGHT], step[StepColumn.CROP_WIDTH], move.height, move.width
        )
        step[StepColumn.FILTER, resized] = move.filter
        weights = move.weights if isinstance(move, ResizeMove) else Weights.PILLOW
        step[StepColumn.WEIGHTS, resized] = weights
        across_first = weights != Weights.PILLOW  # torch always has this order
        np.copyto(step[StepColumn.VERTICAL_FIRST], order & (not across_first), where=resized)
        for column, side in (
            (StepColumn.RESIZE_HEIGHT, move.height),
            (StepColumn.RESIZE_WIDTH, move.width),
            (StepColumn.WINDOW_HEIGHT, move.height),
            (StepColumn.WINDOW_WIDTH, move.width),
        ):
            np.copyto(step[column], side, where=resized)

    def _reduce(self, scales: Ints, resized: Bools, *, dc_alone: bool) -> None:
        reduced = resized & (scales > 1)
        step = self._step
        padded = step[: StepColumn.PAD_MODE].any(axis=0)
        if (reduced & (padded | (self._counts > 0))).any():
            raise PlanError("lower: only a first resize without a border can be reduced.")
        np.copyto(step[StepColumn.DCT_SCALE], scales, where=reduced)
        step[StepColumn.DC_ALONE, reduced & (scales == _EIGHTH)] = dc_alone

    def flip(self, move: FlipMove) -> None:
        self._step[StepColumn.FLIP_HORIZONTAL] ^= move.horizontal
        self._step[StepColumn.FLIP_VERTICAL] ^= move.vertical

    def effect(self, move: EffectMove) -> None:
        begun = self._touched | self._is_flipped()
        turns_gray = move.does(Effect.GRAYSCALE) & ~begun & (self._counts == 0)
        self._step[StepColumn.GRAY] |= turns_gray
        present = move.acts & ~turns_gray
        self._start_new_step(present & (begun | (self._counts == 0)))
        self._effects.add(move, present, after_steps=self._counts - 1)
        # Nothing has happened since in the present step, so it need not begin anew but for a size.
        rows = np.flatnonzero(present & self._changes_size(move))
        if len(rows):
            self._begin_step(rows, Sizes(move.height[rows], move.width[rows]))

    def finishing_effect(self, move: EffectMove) -> None:
        present = move.acts
        self._effects.add(move, present, np.full(len(present), FINISHED))

    def finish(self) -> Steps:
        sizes, effects = self._present_sizes(), self._effects.finish()
        if not self._counts.any():  # mostly: no sample has more than the present step
            table = np.ascontiguousarray(self._step.T, dtype=np.int32)[:, None]
            return Steps(table, np.ones(len(sizes), dtype=np.int32), effects, sizes)
        self._start_new_step(self._touched | self._is_flipped() | (self._counts == 0))
        table = np.stack(self._complete, axis=1)
        unused = np.arange(table.shape[1]) >= self._counts[:, None]
        if unused.any():
            rows, _ = np.nonzero(unused)
            table[unused] = _identity(sizes).T[rows]
        counts = self._counts.astype(np.int32)
        return Steps(table, counts, effects, sizes)

    def _is_flipped(self) -> Bools:
        return np.asarray(
            (self._step[StepColumn.FLIP_HORIZONTAL] | self._step[StepColumn.FLIP_VERTICAL]) != 0
        )

    def _changes_size(self, move: CropMove | ResizeMove | EffectMove) -> Bools:
        step = self._step
        return np.asarray(
            (move.height != step[StepColumn.WINDOW_HEIGHT])
            | (move.width != step[StepColumn.WINDOW_WIDTH])
        )

    def _present_sizes(self) -> Sizes:
        return Sizes(
            self._step[StepColumn.WINDOW_HEIGHT].copy(), self._step[StepColumn.WINDOW_WIDTH].copy()
        )

    def _set_box(self, where: Bools, height: Ints, width: Ints) -> None:
        """Make box, resized size and window agree, for samples without a resize."""
        for column in _HEIGHTS:
            np.copyto(self._step[column], height, where=where)
        for column in _WIDTHS:
            np.copyto(self._step[column], width, where=where)

    def _start_new_step(self, where: Bools) -> None:
        """Complete the present step of some samples; what follows sees its result."""
        rows = np.flatnonzero(where)
        if len(rows) == 0:
            return
        numbers = self._counts[rows]
        while len(self._complete) <= numbers.max():
            self._complete.append(np.empty((len(self._counts), _COLUMNS), dtype=np.int32))
        for number, complete in enumerate(self._complete):
            some = rows[numbers == number]
            if len(some):
                complete[some] = self._step[:, some].T
        self._counts[rows] += 1
        self._begin_step(rows, self._present_sizes().at(rows))
        self._touched[rows] = False

    def _begin_step(self, rows: Ints, sizes: Sizes) -> None:
        """Start steps that read images of `sizes`."""
        self._step[:, rows] = _identity(sizes)
        self._read.height[rows], self._read.width[rows] = sizes.height, sizes.width


def _identity(sizes: Sizes) -> Ints:
    """Steps that change nothing: (columns, samples)."""
    step = np.zeros((_COLUMNS, len(sizes)), dtype=np.int64)
    for column in _HEIGHTS:
        step[column] = sizes.height
    for column in _WIDTHS:
        step[column] = sizes.width
    step[StepColumn.FILTER] = NO_RESIZE
    step[StepColumn.DCT_SCALE] = 1
    return step
