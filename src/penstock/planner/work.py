"""How much work a plan is: from lowered steps and what is known of the samples, without running.

This follows what cpp/engine does with a program: which rows and columns of the source a first step
needs (`step_pixels.py`), what is decoded for that in each storage (`decode_work.py`), which passes
a resize makes, and what every effect goes over (`effect_work.py`). `prices.py` turns amounts into
microseconds.
"""

from __future__ import annotations

import numpy as np

from penstock._core import PadMode, StepColumn, Storage
from penstock.geometry import Floats, Ints, Sizes
from penstock.planner.amounts import FINAL_UNIT, Unit, Work, WorkList, far_bytes
from penstock.planner.decode_work import Sources, add_decoding
from penstock.planner.effect_work import EffectWork
from penstock.planner.lower import Steps
from penstock.planner.step_pixels import NEAREST, Axis, BatchStep, Region
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.values import FinalSpec, Layout

_WITH_SINE = [
    InterpolationMode.LANCZOS.pillow_filter,
    InterpolationMode.HAMMING.pillow_filter,
]
_FILTER_NAME = {mode.pillow_filter: mode.value for mode in InterpolationMode}


def work_of(steps: Steps, sources: Sources, final: FinalSpec, layout: Layout = "chw") -> Work:
    """What the core does to run `steps`, which were made for the sizes of `sources`."""
    run = _Run(steps, sources)
    for number in range(run.table.shape[1]):
        rows = np.flatnonzero(run.counts > number)
        run.step(number, rows)
        run.effects.after(number, rows)
    run.finish(final, layout)
    return run.work.finish()


class _Run:
    """Follows all samples through their steps at once."""

    def __init__(self, steps: Steps, sources: Sources) -> None:
        self.table = steps.table.astype(np.int64)
        self.counts = steps.counts.astype(np.int64)
        self.work = WorkList(len(steps.counts))
        self._sources = sources
        every = np.arange(len(steps.counts))
        gray = (sources.values_per_pixel < 1.2) & (sources.storages != Storage.RAW)
        pads = np.asarray(self.table[:, :, : StepColumn.PAD_MODE].any(axis=2))
        channels = np.where(gray, 1, 3).astype(np.int64)
        self.effects = EffectWork(self.work, steps.effects, sources.sizes, channels, pads)
        drawn_effects = np.asarray(steps.effects.counts)
        self.work.add(
            "draw",
            every,
            sources.sizes,
            (Unit.DRAWN_SAMPLE, 1.0),
            (Unit.DRAWN_STEP, self.counts),
            (Unit.DRAWN_EFFECT, drawn_effects),
        )
        self.work.add("start", every, sources.sizes, (Unit.SAMPLE, 1.0))

    def step(self, number: int, rows: Ints) -> None:
        """One step of the samples in `rows`."""
        step = BatchStep(self.table[rows, number])
        effects = self.effects
        in_sizes = effects.sizes.at(rows)
        out = Sizes(step.window_height, step.window_width)
        effects.on_the_way.narrow(number, rows, step)
        down, across = step.axes()
        region = step.region(in_sizes, down, across)
        if number == 0:
            seen = effects.seen_shares(rows, step)
            add_decoding(self.work, self._sources, rows, step, region, seen)
            self._turn_gray(rows, step, region)
        channels = effects.channels[rows].astype(np.float64)
        if number > 0:
            effects.before(rows[step.pads | step.resizes])
            far = far_bytes(region.pixels * channels, in_sizes, channels)
            self.work.add("read", rows, in_sizes, (Unit.FAR_BYTE, far))

        self._pad(rows, step, in_sizes, channels)
        self._resize(rows, step, down, across, channels)
        copies = np.flatnonzero(~step.resizes)
        values = (out.height * out.width) * channels
        mirrors = copies[step.flip_horizontal[copies] != 0]
        self.work.add(
            "flip", rows[mirrors], out.at(mirrors), (Unit.MIRRORED_VALUE, values[mirrors])
        )
        effects.sizes.height[rows], effects.sizes.width[rows] = out.height, out.width

        between = np.flatnonzero((self.counts[rows] > number + 1) | effects.follow(number, rows))
        self.work.add("step", rows, in_sizes, (Unit.STEP, 1.0))
        self.work.add(
            "keep",
            rows[between],
            in_sizes.at(between),
            (Unit.KEPT_VALUE, values[between]),
            (Unit.KEPT_ROW, (out.height * channels)[between]),
            (Unit.FAR_BYTE, far_bytes(values, out, channels)[between]),
        )

    def _turn_gray(self, rows: Ints, step: BatchStep, region: Region) -> None:
        """Gray is made from the rows that the decoder sends, before the step sees them."""
        gray = np.flatnonzero((step.gray != 0) & (self.effects.channels[rows] == 3))
        sizes = self._sources.sizes.at(rows[gray])
        self.work.add("grayscale", rows[gray], sizes, (Unit.GRAY_PIXEL, region.pixels[gray]))
        self.effects.channels[rows[gray]] = 1

    def _pad(self, rows: Ints, step: BatchStep, sizes: Sizes, channels: Floats) -> None:
        padded = np.flatnonzero(step.pads)
        if not len(padded):
            return
        source = sizes.at(padded)
        values = source.height * source.width * channels[padded]
        height, width = step.crop_height[padded], step.crop_width[padded]
        # Rows above and below a constant border's image are filled; the rest is looked up.
        columns = _overlap(step.pad_left, source.width, step.crop_left, step.crop_width, padded)
        filled = _overlap(step.pad_top, source.height, step.crop_top, step.crop_height, padded)
        constant = step.pad_mode[padded] == PadMode.CONSTANT
        border = np.where(constant, filled, height) * (width - columns) * channels[padded]
        result = height * width * channels[padded]
        self.work.add(
            "pad",
            rows[padded],
            source,
            (Unit.KEPT_VALUE, values),
            (Unit.KEPT_ROW, source.height * channels[padded]),
            (Unit.PADDED_VALUE, result),
            (Unit.BORDER_VALUE, border),
            (Unit.FAR_BYTE, 2 * far_bytes(values, source, channels[padded])),
            (Unit.FAR_BYTE, 2 * far_bytes(result, Sizes(height, width), channels[padded])),
        )

    def _resize(
        self, rows: Ints, step: BatchStep, down: Axis, across: Axis, channels: Floats
    ) -> None:
        filters = np.unique(step.filter[step.resizes])
        for number in filters.tolist():
            here = np.flatnonzero(step.filter == number)
            rows_in, columns_in = (down.end - down.begin)[here], (across.end - across.begin)[here]
            rows_out, columns_out = step.window_height[here], step.window_width[here]
            c = channels[here]
            later = step.vertical_first[here] != 0  # the pass along rows
            across_values = np.where(later, rows_out, rows_in) * columns_out * c
            down_values = rows_out * np.where(later, columns_in, columns_out) * c
            coefficients = (
                rows_out * down.length[here] + columns_out * across.length[here]
            ) * float(number != NEAREST)
            self.work.add(
                f"resize {_FILTER_NAME[number]}",
                rows[here],
                Sizes(step.crop_height[here], step.crop_width[here]),
                (Unit.ACROSS_VALUE, across_values),
                (Unit.ACROSS_TAP, across_values * across.row_taps[here]),
                (Unit.DOWN_VALUE, down_values),
                (Unit.DOWN_TAP, down_values * down.column_taps[here]),
                (Unit.WOVEN_VALUE, later * rows_in * columns_in * c),
                (Unit.COEFFICIENT, coefficients),
                (Unit.SINE_COEFFICIENT, coefficients * float(number in _WITH_SINE)),
            )

    def finish(self, final: FinalSpec, layout: Layout) -> None:
        """The final pass, and the effects on what it has written."""
        effects = self.effects
        every = np.arange(len(self.counts))
        sizes = Sizes(effects.sizes.height.copy(), effects.sizes.width.copy())
        values = sizes.height * sizes.width * 3.0
        read_again = effects.follow(self.counts - 1, every)
        far = far_bytes(np.asarray(values * read_again), sizes, np.full(len(every), 3.0))
        self.work.add(
            f"write {final.element.name.lower()}",
            every,
            sizes,
            (FINAL_UNIT[final.element], values),
            (Unit.INTERLEAVED_VALUE, values * float(layout == "hwc")),
            (Unit.FAR_BYTE, far),
        )
        effects.after_all(every)


def _overlap(border: Ints, size: Ints, begin: Ints, count: Ints, at: Ints) -> Ints:
    """How much of a window of a padded image is the image itself, along one axis."""
    first = np.clip(border[at] - begin[at], 0, count[at])
    return np.asarray(np.clip(border[at] + size - begin[at], first, count[at]) - first)
