"""Which bytes of a packed file samples need, found in its index alone, each with a checksum.

For readers far from the file. They ask for whole blocks (`blocks_of`, `block_ranges`), for whole
records (`record_ranges`), or for the parts of records that hold some rows of their images
(`part_ranges`), and compare what they get with the checksum of each range.
Everything the index says is checked before it is used: a range always lies among the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import Storage
from penstock.errors import PackError
from penstock.geometry import Bools, Ints
from penstock.packing.columns import Bytes, FixedColumn, VariableColumn
from penstock.packing.format import ALIGNMENT, HEADER_BYTES, RECORD_ZLIB, STORAGES
from penstock.packing.pack_index import MOST_SIDE, PackIndex
from penstock.packing.parts import (
    BLOCK_BYTES,
    RAW_PART_BYTES,
    WHOLE_PART_BYTES,
    Layout,
    layout_of,
)

LARGEST_SCALE = 8  # of decoding at 1 / scale of an image's size


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of a file's bytes, sorted by the position of their sample, then by their place."""

    position: Ints  # in the list of samples that was asked for
    offset: Ints  # in the file
    size: Ints
    crc: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.position)


@dataclass(frozen=True, slots=True)
class BlockRanges:
    """Where blocks lie, and which samples each of them holds."""

    first: Ints  # sample
    stop: Ints  # the sample after the last
    offset: Ints  # in the file
    size: Ints
    crc: npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Places:
    """What the index says of samples' records, checked: they lie among the records of the file."""

    offset: Ints
    size: Ints
    storage: npt.NDArray[np.int32]  # as the core numbers them
    height: Ints
    width: Ints

    @property
    def has_tiles(self) -> Bools:
        """Which are `dct` records."""
        tiles: Bools = self.storage == Storage.DCT
        return tiles

    @property
    def has_pixels(self) -> Bools:
        """Which hold the rows of their image one by one."""
        pixels: Bools = self.storage == Storage.RAW
        return pixels


def places_of(index: PackIndex, samples: Ints) -> Places:
    """Look records up; PackError, naming the sample, if one cannot lie where the index says."""
    names = ("offset", "size", "storage", "height", "width", "flags")
    _check_numbers(index, samples)
    facts = [index.facts(name)[samples].astype(np.int64) for name in names]
    offset, size, storage, height, width, flags = facts
    # What is too large for int64 is negative here. A sum of the two might wrap around.
    end = index.tail.records_end
    sound = (offset >= HEADER_BYTES) & (offset <= end) & (size >= 1) & (size <= end - offset)
    sound &= (storage < len(STORAGES)) & (height >= 1) & (width >= 1)
    sound &= (height <= MOST_SIDE) & (width <= MOST_SIDE)
    if not sound.all():
        bad = int(samples[np.flatnonzero(~sound)[0]])
        index.sample(bad)  # says what is wrong with it
        raise _damaged(index, bad)
    is_deflated = (storage == Storage.RAW) & ((flags & RECORD_ZLIB) != 0)
    kind = np.where(is_deflated, Storage.DEFLATED, storage).astype(np.int32)
    return Places(offset, size, kind, height, width)


def record_ranges(index: PackIndex, samples: Ints) -> Ranges:
    """Return the range of each record as a whole."""
    return _whole(index, samples, places_of(index, samples))


def part_ranges(
    index: PackIndex, samples: Ints, top: Ints, bottom: Ints, scale: int | Ints = LARGEST_SCALE
) -> Ranges:
    """Return the ranges that rows `top` to before `bottom` of the samples' images depend on.

    One range for each part of a record that is needed: those of neighbouring parts follow one
    another in the file. Where a record has no parts of rows, all of it is needed. A record in
    memory of which only these bytes are there decodes to the right pixels; compare its head with
    the index first (`check_heads`).

    `scale` is the largest scale at which a region is decoded: at 1 / scale of its size, pixels
    depend on more rows around it. With 1, only full size is right; the default is always enough.
    """
    places = places_of(index, samples)
    if index.version == 1:
        return _whole(index, samples, places)
    outside = (top < 0) | (top >= bottom) | (bottom > places.height)
    if outside.any():
        bad = int(np.flatnonzero(outside)[0])
        raise IndexError(
            f"{index.path}: rows {int(top[bad]):,} to {int(bottom[bad]):,} of sample "
            f"{int(samples[bad]):,}, which has {int(places.height[bad]):,}"
        )
    cut = _read_parts(index, samples, places)
    around = cut.around * scale
    rows = np.maximum(cut.rows, 1)
    first = np.maximum(top - around, 0) // rows + places.has_tiles
    stop = -(-np.minimum(bottom + around, places.height) // rows) + places.has_tiles
    owner, number = cut.owner, cut.number
    wanted = (number >= first[owner]) & (number < stop[owner])
    wanted |= (cut.rows[owner] == 0) | (places.has_tiles[owner] & (number == 0))
    offset = places.offset[owner] + cut.before
    return Ranges(owner[wanted], offset[wanted], cut.size[wanted], cut.crc[wanted])


@dataclass(frozen=True, slots=True)
class _Cut:
    """The parts of some records, one record after the other."""

    rows: Ints  # of each record: rows of its image in a part, 0 if it has no parts of rows
    around: Ints  # of each record: rows that others depend on
    owner: Ints  # of each part: position of its record, from here on
    number: Ints  # within its record
    before: Ints  # bytes of its record before it
    size: Ints
    crc: npt.NDArray[np.uint32]


def check_parts(index: PackIndex, samples: Ints) -> None:
    """Raise PackError unless these records' parts are what the index must say of such records."""
    if index.version > 1:
        _read_parts(index, samples, places_of(index, samples))


def _read_parts(index: PackIndex, samples: Ints, places: Places) -> _Cut:
    rows, around = (index.facts(n)[samples].astype(np.int64) for n in ("part_rows", "rows_around"))
    tiles, pixels = places.has_tiles, places.has_pixels
    right = (rows > 0) == (tiles | pixels)
    right &= ~pixels | (rows == np.maximum(1, RAW_PART_BYTES // (3 * places.width)))
    right &= tiles | (around == 0)
    _require(right, index, samples)
    # Bytes that every part but the last has, in records other than those of tiles.
    whole = np.where(pixels, rows * 3 * places.width, WHOLE_PART_BYTES)
    counts = np.where(tiles, -(-places.height // np.maximum(rows, 1)) + 2, -(-places.size // whole))
    reader = index.system["parts"]
    assert isinstance(reader, VariableColumn)  # noqa: S101  as the file must have it
    _, table = reader.rows(samples, counts)
    size, crc = table[:, 0].astype(np.int64), table[:, 1]
    owner = np.repeat(np.arange(len(samples)), counts)
    starts = np.cumsum(counts) - counts
    number = np.arange(len(size)) - starts[owner]
    ends = np.concatenate([[0], np.cumsum(size)])
    before = ends[:-1] - ends[starts[owner]]
    right = ends[starts + counts] - ends[starts] == places.size
    right &= ~pixels | (places.size == 3 * places.width * places.height)
    others = ~tiles[owner] & (size != np.minimum(whole[owner], places.size[owner] - before))
    right[owner[others]] = False
    _require(right, index, samples)
    return _Cut(rows, around, owner, number, before, size, crc)


def check_heads(index: PackIndex, samples: Ints, records: Sequence[Bytes | bytes]) -> None:
    """Raise PackError unless these records are cut into parts as the index says.

    Of a record, only its first part must be there, but room for all of it. Readers that read parts
    of `dct` records call this before they decode them: a head that says something else would make
    the decoder look at bytes that were not read. For other storages, the index alone is enough.
    """
    if index.version == 1:
        return
    places = places_of(index, samples)
    cut = _read_parts(index, samples, places)
    ends = np.cumsum(np.bincount(cut.owner, minlength=len(samples))).tolist()
    for position in np.flatnonzero(places.has_tiles).tolist():
        sizes = cut.size[ends[position - 1] if position else 0 : ends[position]]
        said = Layout(tuple(sizes.tolist()), int(cut.rows[position]), int(cut.around[position]))
        compare_head(index, int(samples[position]), records[position], said)


def compare_head(index: PackIndex, sample: int, record: Bytes | bytes, said: Layout) -> None:
    """Raise PackError unless a `dct` record is cut as is said of it."""
    try:
        found = layout_of(record, "dct", 0, 0, 0)
    except PackError as error:
        raise PackError(f"{_name(index, sample)}: {error}.") from error
    if found != said:
        raise PackError(
            f"{_name(index, sample)} is not cut into parts as the index says. Copy the file again, "
            "or repack."
        )


def blocks_of(index: PackIndex, samples: Ints) -> Ints:
    """Return the number of each sample's block, in which its record lies as a whole."""
    places = places_of(index, samples)
    first = _block_column(index, "first")
    numbers: Ints = np.searchsorted(first, samples.astype(np.uint64), side="right") - 1
    blocks = block_ranges(index, numbers)
    begin, end = places.offset, places.offset + places.size
    inside = (blocks.first <= samples) & (samples < blocks.stop)
    inside &= (blocks.offset <= begin) & (end <= blocks.offset + blocks.size)
    if not inside.all():
        raise _damaged(index, int(samples[np.flatnonzero(~inside)[0]]))
    return numbers


def block_ranges(index: PackIndex, blocks: Ints) -> BlockRanges:
    """Return where blocks lie; PackError if they cannot lie there."""
    firsts = _block_column(index, "first")
    there = len(firsts)
    if len(blocks) and not (blocks.min() >= 0 and blocks.max() < there):
        raise PackError(f"{index.path}: blocks are damaged: run penstock verify.")
    names = ("first", "offset", "size")
    first, offset, size = (_block_column(index, name)[blocks].astype(np.int64) for name in names)
    is_last = blocks + 1 == there
    following = firsts[np.minimum(blocks + 1, max(there - 1, 0))].astype(np.int64)
    stop = np.where(is_last, len(index), following)
    # What is too large for int64 is negative here.
    end = index.tail.records_end
    sound = (first >= 0) & (first < stop) & (stop <= len(index)) & (offset >= HEADER_BYTES)
    sound &= (size >= 0) & (offset <= end) & (size <= end - offset)
    sound &= (offset % ALIGNMENT == 0) & (size % ALIGNMENT == 0)
    sound &= (size <= BLOCK_BYTES) | (stop - first == 1)
    if not sound.all():
        bad = int(blocks[np.flatnonzero(~sound)[0]])
        raise PackError(f"{index.path}: block {bad:,} is damaged: run penstock verify.")
    return BlockRanges(first, stop, offset, size, _block_column(index, "crc")[blocks])


def _block_column(index: PackIndex, name: str) -> npt.NDArray[Any]:
    reader = index.blocks.get(name)
    if not isinstance(reader, FixedColumn):
        raise PackError(
            f"{index.path}: format {index.version} has no blocks. Repack it: penstock unpack, then "
            "penstock pack."
        )
    return reader.values


def _whole(index: PackIndex, samples: Ints, places: Places) -> Ranges:
    crc = index.facts("crc")[samples]
    return Ranges(np.arange(len(samples)), places.offset, places.size, crc)


def _check_numbers(index: PackIndex, samples: Ints) -> None:
    if len(samples) and not (samples.min() >= 0 and samples.max() < len(index)):
        raise IndexError(f"{index.path}: samples {samples} of {len(index):,}")


def _require(right: Bools, index: PackIndex, samples: Ints) -> None:
    if not right.all():
        bad = int(samples[np.flatnonzero(~right)[0]])
        raise PackError(
            f"{_name(index, bad)}: its parts are not what such a record is cut into. The file is "
            "damaged: copy it again, or repack."
        )


def _name(index: PackIndex, sample: int) -> str:
    return f"{index.path}: sample {sample:,} ({index.name(sample)})"


def _damaged(index: PackIndex, sample: int) -> PackError:
    return PackError(f"{index.path}: sample {sample:,} is damaged: run penstock verify.")
