"""How much work it is to read and decode what a plan needs of each sample, in every storage.

This follows cpp/codec for JPEGs, cpp/tiles for packed ones, and cpp/engine/read_sample.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from penstock._core import Route, Storage
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.amounts import Unit, WorkList, far_bytes
from penstock.planner.step_pixels import BatchStep, Region

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

    @classmethod
    def in_memory(cls, sizes: Sizes) -> Sources:
        """Pixels that lie there already, between two parts of a pipeline: nothing is read."""
        return replace(cls.typical(sizes, Storage.RAW), encoded_bytes=np.zeros(len(sizes)))


def add_decoding(
    work: WorkList, sources: Sources, rows: Ints, step: BatchStep, region: Region, seen: Floats
) -> None:
    """Add what it takes to read and decode the region that each sample in `rows` needs.

    Tiles outside the part of it that is `seen` are not decoded.
    """
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
        work.add("read", rows, sizes, (Unit.FILE, 1.0), (Unit.FILE_BYTE, encoded))
    else:
        read = np.where(by_tiles, decoded.tile_rows_share, 1.0) * encoded
        work.add("read", rows, sizes, (Unit.RECORD, 1.0), (Unit.RECORD_BYTE, read))

    at = np.flatnonzero(baseline)
    work.add(
        "decode JPEG",
        rows[at],
        sizes.at(at),
        (Unit.JPEG_BYTE, (encoded * decoded.rows_share)[at]),
        (Unit.JPEG_SCANNED_BLOCK, (values / _BLOCK * decoded.rows_share)[at]),
        *decoded.blocks(_JPEG_BLOCKS, at),
        *decoded.pixels(at),
    )
    at = np.flatnonzero(by_tiles)
    work.add(
        "decode tiles",
        rows[at],
        sizes.at(at),
        (Unit.TILE, (decoded.tiles * seen)[at]),
        (Unit.TILE_BYTE, (encoded * decoded.tiles_share * seen * ~step.dc_alone)[at]),
        *((unit, blocks * seen[at]) for unit, blocks in decoded.blocks(_TILE_BLOCKS, at)),
        *((unit, pixels * seen[at]) for unit, pixels in decoded.pixels(at)),
    )
    at = np.flatnonzero(by_libjpeg)
    work.add(
        "decode by libjpeg",
        rows[at],
        sizes.at(at),
        (Unit.LIBJPEG_BYTE, encoded[at]),
        (Unit.LIBJPEG_VALUE, values[at]),
    )
    at = np.flatnonzero(by_pillow)
    work.add(
        "decode by Pillow",
        rows[at],
        sizes.at(at),
        (Unit.PILLOW_PIXEL, pixels[at]),
        *_read_raw(region, sizes, at),
    )
    at = np.flatnonzero(raw)
    deflated = storages[at] == Storage.DEFLATED
    work.add(
        "read pixels",
        rows[at],
        sizes.at(at),
        (Unit.INFLATED_PIXEL, deflated * pixels[at]),
        *_read_raw(region, sizes, at),
    )


def _read_raw(region: Region, sizes: Sizes, at: Ints) -> tuple[tuple[Unit, Floats], ...]:
    """Pixels that lie in memory."""
    pixels = region.pixels[at]
    far = far_bytes(3 * pixels, sizes.at(at), np.full(len(at), 3.0))
    return (Unit.RAW_PIXEL, pixels), (Unit.FAR_BYTE, far)


class _Decoded:
    """What of JPEGs has to be decoded for a region, in their own units."""

    def __init__(
        self,
        step: BatchStep,
        region: Region,
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
        self._dc_alone = step.dc_alone
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
        colour = np.maximum(exponent - (self._quarter & ~self._dc_alone)[at], 0)
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
