"""How much work a plan is: from lowered steps and what is known of the samples, without running.

This follows what cpp/engine does with a program: which rows and columns of the source a first step
needs, what is decoded for that in each storage, which passes a resize makes, and what every effect
goes over (`effect_work.py`). `prices.py` turns amounts into microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock._core import PadMode, Route, StepColumn, Storage
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.amounts import FINAL_UNIT, Unit, Work, WorkList, far_bytes
from penstock.planner.effect_work import EffectWork
from penstock.planner.lower import NO_RESIZE, Steps
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.values import FinalSpec, Layout

# Pixels to each side of a place that Pillow's filters reach, for images that are not reduced.
_SUPPORT = np.ones(6)
_SUPPORT[InterpolationMode.BOX.pillow_filter] = 0.5
_SUPPORT[InterpolationMode.BICUBIC.pillow_filter] = 2.0
_SUPPORT[InterpolationMode.LANCZOS.pillow_filter] = 3.0
_NEAREST = InterpolationMode.NEAREST.pillow_filter
_WITH_SINE = [
    InterpolationMode.LANCZOS.pillow_filter,
    InterpolationMode.HAMMING.pillow_filter,
]
_FILTER_NAME = {mode.pillow_filter: mode.value for mode in InterpolationMode}

# Passes of a resize take samples four at a time.
_QUAD = 4

# Tiles that writers make: docs/format-tiles.md.
_TILE_HEIGHT, _TILE_WIDTH = 32, 64

_BLOCK = 64  # values

_JPEG_BLOCKS = (
    Unit.JPEG_BLOCK,
    Unit.JPEG_BLOCK_TO_4,
    Unit.JPEG_BLOCK_TO_2,
    Unit.JPEG_BLOCK_TO_1,
)
_TILE_BLOCKS = (
    Unit.TILE_BLOCK,
    Unit.TILE_BLOCK_TO_4,
    Unit.TILE_BLOCK_TO_2,
    Unit.TILE_BLOCK_TO_1,
)


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known of some samples before they are decoded."""

    sizes: Sizes
    storages: Ints  # of Storage
    routes: Ints  # of Route: who decodes a JPEG; Pillow has all other files
    encoded_bytes: Floats  # of the file or the record
    values_per_pixel: Floats  # in a JPEG: 3, or 1.5 if its colours have a quarter of the pixels
    are_files: bool  # each a file of its own

    def at(self, rows: Ints) -> Sources:
        """What is known of some of them."""
        return Sources(
            self.sizes.at(rows),
            self.storages[rows],
            self.routes[rows],
            self.encoded_bytes[rows],
            self.values_per_pixel[rows],
            self.are_files,
        )

    @classmethod
    def typical(
        cls, sizes: Sizes, storage: Storage = Storage.JPEG, *, are_files: bool = False
    ) -> Sources:
        """Photos as most are, where nothing but the sizes is known."""
        count = len(sizes)
        pixels = (sizes.height * sizes.width).astype(np.float64)
        per_pixel = 3.0 if storage in (Storage.RAW, Storage.DEFLATED) else 0.3
        return cls(
            sizes,
            np.full(count, storage, dtype=np.int64),
            np.full(count, Route.BASELINE, dtype=np.int64),
            pixels * per_pixel,
            np.full(count, 1.5),
            are_files,
        )


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
        self.effects = EffectWork(
            self.work, steps.effects, sources.sizes, np.where(gray, 1, 3).astype(np.int64)
        )
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
        step = _Step(self.table[rows, number])
        effects = self.effects
        in_sizes = effects.sizes.at(rows)
        top, left = step.crop_top.astype(np.float64), step.crop_left.astype(np.float64)
        down, across = step.axes()
        whole = step.pads
        region = _Region(
            np.where(whole, 0, top + down.begin),
            np.where(whole, 0, left + across.begin),
            np.where(whole, in_sizes.height, down.end - down.begin),
            np.where(whole, in_sizes.width, across.end - across.begin),
        )
        if number == 0:
            self._decode(rows, step, region)
            self._turn_gray(rows, step, region)
        channels = effects.channels[rows].astype(np.float64)
        if number > 0:
            far = far_bytes(region.pixels * channels, in_sizes, channels)
            self.work.add("read", rows, in_sizes, (Unit.FAR_BYTE, far))

        self._pad(rows, step, in_sizes, channels)
        self._resize(rows, step, down, across, channels)
        copies = np.flatnonzero(~step.resizes)
        out = Sizes(step.window_height, step.window_width)
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

    def _turn_gray(self, rows: Ints, step: _Step, region: _Region) -> None:
        """Gray is made from the rows that the decoder sends, before the step sees them."""
        gray = np.flatnonzero((step.gray != 0) & (self.effects.channels[rows] == 3))
        sizes = self._sources.sizes.at(rows[gray])
        self.work.add("grayscale", rows[gray], sizes, (Unit.GRAY_PIXEL, region.pixels[gray]))
        self.effects.channels[rows[gray]] = 1

    def _pad(self, rows: Ints, step: _Step, sizes: Sizes, channels: Floats) -> None:
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
        self, rows: Ints, step: _Step, down: _Axis, across: _Axis, channels: Floats
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
            ) * float(number != _NEAREST)
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

    def _decode(self, rows: Ints, step: _Step, region: _Region) -> None:
        sources = self._sources
        storages, routes = sources.storages[rows], sources.routes[rows]
        raw = (storages == Storage.RAW) | (storages == Storage.DEFLATED)
        by_pillow = ~raw & (routes == Route.PILLOW)
        by_tiles = ~by_pillow & (storages == Storage.DCT)
        by_libjpeg = ~raw & ~by_tiles & (routes == Route.LIBJPEG)
        baseline = ~raw & ~by_tiles & ~by_pillow & ~by_libjpeg
        encoded = sources.encoded_bytes[rows]
        sizes = sources.sizes.at(rows)
        pixels = sizes.height * sizes.width
        values = pixels * sources.values_per_pixel[rows]
        decoded = _Decoded(step, region, sizes, sources.values_per_pixel[rows], by_tiles | baseline)

        if sources.are_files:
            self.work.add("read", rows, sizes, (Unit.FILE, 1.0), (Unit.FILE_BYTE, encoded))
        else:
            read = np.where(by_tiles, decoded.tile_rows_share, 1.0) * encoded
            self.work.add("read", rows, sizes, (Unit.RECORD, 1.0), (Unit.RECORD_BYTE, read))

        at = np.flatnonzero(baseline)
        self.work.add(
            "decode JPEG",
            rows[at],
            sizes.at(at),
            (Unit.JPEG_BYTE, (encoded * decoded.rows_share)[at]),
            (Unit.JPEG_SCANNED_BLOCK, (values / _BLOCK * decoded.rows_share)[at]),
            *decoded.blocks(_JPEG_BLOCKS, at),
            *decoded.pixels(at),
        )
        at = np.flatnonzero(by_tiles)
        self.work.add(
            "decode tiles",
            rows[at],
            sizes.at(at),
            (Unit.TILE, decoded.tiles[at]),
            (Unit.TILE_BYTE, (encoded * decoded.tiles_share)[at]),
            *decoded.blocks(_TILE_BLOCKS, at),
            *decoded.pixels(at),
        )
        at = np.flatnonzero(by_libjpeg)
        self.work.add(
            "decode by libjpeg",
            rows[at],
            sizes.at(at),
            (Unit.LIBJPEG_BYTE, encoded[at]),
            (Unit.LIBJPEG_VALUE, values[at]),
        )
        at = np.flatnonzero(by_pillow)
        self.work.add(
            "decode by Pillow",
            rows[at],
            sizes.at(at),
            (Unit.PILLOW_PIXEL, pixels[at]),
            *_read_raw(region, sizes, at),
        )
        at = np.flatnonzero(raw)
        deflated = storages[at] == Storage.DEFLATED
        self.work.add(
            "read pixels",
            rows[at],
            sizes.at(at),
            (Unit.INFLATED_PIXEL, deflated * pixels[at]),
            *_read_raw(region, sizes, at),
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


class _Step:
    """The columns of one step of some samples."""

    def __init__(self, rows: Ints) -> None:
        column = rows.T
        self.pad_left = column[StepColumn.PAD_LEFT]
        self.pad_top = column[StepColumn.PAD_TOP]
        self.pad_mode = column[StepColumn.PAD_MODE]
        self.crop_top = column[StepColumn.CROP_TOP]
        self.crop_left = column[StepColumn.CROP_LEFT]
        self.crop_height = column[StepColumn.CROP_HEIGHT]
        self.crop_width = column[StepColumn.CROP_WIDTH]
        self.resize_height = column[StepColumn.RESIZE_HEIGHT]
        self.resize_width = column[StepColumn.RESIZE_WIDTH]
        self.filter = column[StepColumn.FILTER]
        self.vertical_first = column[StepColumn.VERTICAL_FIRST]
        self.window_top = column[StepColumn.WINDOW_TOP]
        self.window_left = column[StepColumn.WINDOW_LEFT]
        self.window_height = column[StepColumn.WINDOW_HEIGHT]
        self.window_width = column[StepColumn.WINDOW_WIDTH]
        self.flip_horizontal = column[StepColumn.FLIP_HORIZONTAL]
        self.gray = column[StepColumn.GRAY]
        self.scale = column[StepColumn.DCT_SCALE]
        self.pads: Bools = np.asarray(rows[:, : StepColumn.PAD_MODE].any(axis=1))
        self.resizes: Bools = self.filter != NO_RESIZE

    def axes(self) -> tuple[_Axis, _Axis]:
        """Rows and columns of the resize; of the window alone where nothing is resized."""
        return (
            _Axis(self, self.crop_height, self.resize_height, self.window_top, self.window_height),
            _Axis(self, self.crop_width, self.resize_width, self.window_left, self.window_width),
        )


class _Axis:
    """Which pixels of the box a window depends on along one axis, and how many each is made of."""

    def __init__(self, step: _Step, size: Ints, out_size: Ints, first: Ints, count: Ints) -> None:
        plain = (step.filter == NO_RESIZE) | (step.filter == _NEAREST) | (size == out_size)
        scale = size / out_size
        support = _SUPPORT[np.where(plain, _NEAREST, step.filter)] * np.maximum(scale, 1.0)
        reach = np.where(plain, 0.0, support)
        self.begin: Floats = np.floor(np.maximum(first * scale - reach, 0))
        self.end: Floats = np.ceil(np.minimum((first + count) * scale + reach, size))
        # A photo that is decoded at a reduced size has fewer pixels under each filter.
        self.length: Floats = np.where(plain, 1.0, np.maximum(2 * support / step.scale, 1.0))
        self.row_taps: Floats = np.ceil(np.ceil(self.length) / _QUAD) * _QUAD
        # Lists of rows begin at every fourth row, and so reach up to three rows further up.
        self.column_taps: Floats = self.length + (_QUAD - 1)


class _Region:
    """A part of the source, in its pixels."""

    def __init__(self, top: Floats, left: Floats, height: Floats, width: Floats) -> None:
        self.top, self.left, self.height, self.width = top, left, height, width
        self.pixels = height * width


def _overlap(border: Ints, size: Ints, begin: Ints, count: Ints, at: Ints) -> Ints:
    """How much of a window of a padded image is the image itself, along one axis."""
    first = np.clip(border[at] - begin[at], 0, count[at])
    return np.asarray(np.clip(border[at] + size - begin[at], first, count[at]) - first)


def _read_raw(region: _Region, sizes: Sizes, at: Ints) -> tuple[tuple[Unit, Floats], ...]:
    """Pixels that lie in memory."""
    pixels = region.pixels[at]
    far = far_bytes(3 * pixels, sizes.at(at), np.full(len(at), 3.0))
    return (Unit.RAW_PIXEL, pixels), (Unit.FAR_BYTE, far)


class _Decoded:
    """What of JPEGs has to be decoded for a region, in their own units."""

    def __init__(
        self,
        step: _Step,
        region: _Region,
        sizes: Sizes,
        values_per_pixel: Floats,
        can_reduce: Bools,
    ) -> None:
        quarter = (values_per_pixel > 1.2) & (values_per_pixel < 1.8)
        half = (values_per_pixel >= 1.8) & (values_per_pixel < 2.5)
        unit_height = np.where(quarter, 16, 8)
        unit_width = np.where(quarter | half, 16, 8)
        # Upsampling reads the next pixel to each side.
        down, across = quarter.astype(np.int64), (quarter | half).astype(np.int64)
        rows = _span(region.top, region.height, down, unit_height, sizes.height)
        columns = _span(region.left, region.width, across, unit_width, sizes.width)
        self._blocks = (rows[1] - rows[0]) * (columns[1] - columns[0]) / _BLOCK
        self.rows_share = rows[1] / sizes.height
        self._scale = np.where(can_reduce, step.scale, 1)
        self._quarter = quarter
        self._values_per_pixel = values_per_pixel
        self._pixels = region.pixels / self._scale**2

        tile_rows = _span(region.top, region.height, down, _TILE_HEIGHT, sizes.height)
        tile_columns = _span(region.left, region.width, across, _TILE_WIDTH, sizes.width)
        height, width = tile_rows[1] - tile_rows[0], tile_columns[1] - tile_columns[0]
        self.tile_rows_share = height / sizes.height
        self.tiles_share = self.tile_rows_share * width / sizes.width
        self.tiles = np.ceil(height / _TILE_HEIGHT) * np.ceil(width / _TILE_WIDTH)

    def blocks(self, units: tuple[Unit, ...], at: Ints) -> tuple[tuple[Ints, Floats], ...]:
        """Blocks of brightness, and of colour: those that have fewer are reduced less."""
        by_exponent = np.array(units, dtype=np.int64)
        exponent = np.log2(self._scale[at]).astype(np.int64)
        colour = np.maximum(exponent - self._quarter[at], 0)
        brightness_blocks = self._blocks[at]
        return (
            (by_exponent[exponent], brightness_blocks),
            (by_exponent[colour], brightness_blocks * (self._values_per_pixel[at] - 1)),
        )

    def pixels(self, at: Ints) -> tuple[tuple[Unit, Floats], ...]:
        """What becomes of the blocks."""
        pixels, per_pixel = self._pixels[at], self._values_per_pixel[at]
        is_gray = per_pixel < 1.2
        widened = ~is_gray & (per_pixel < 2.5) & ~(self._quarter[at] & (self._scale[at] > 1))
        return (
            (Unit.DECODED_PIXEL, pixels * ~is_gray),
            (Unit.WIDENED_VALUE, 2 * pixels * widened),
        )


def _span(
    begin: Floats, size: Floats, more: Ints, unit: Ints | int, whole: Ints
) -> tuple[Floats, Floats]:
    """Where pixels and `more` to each side begin and end, in whole units."""
    first = np.floor(np.maximum(begin - more, 0) / unit) * unit
    end = np.ceil((begin + size + more) / unit) * unit
    return first, np.minimum(end, np.ceil(whole / 8) * 8.0)
