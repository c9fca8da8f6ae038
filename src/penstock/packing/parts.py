"""How records are cut into parts, and how they are put together in blocks; see docs/format.md.

A reader far from the file asks for parts of records, or for whole blocks, and checks what it gets
by their checksums. Both follow from the records alone, so that the same records give the same file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock import _core
from penstock.errors import CoreError, PackError
from penstock.packing.columns import Bytes
from penstock.packing.format import RECORD_ZLIB

RAW_PART_BYTES = 1 << 15  # most of a part of pixels, unless a single row has more
WHOLE_PART_BYTES = 1 << 30  # most of a part of a record that is only of use as a whole
BLOCK_BYTES = 1 << 22  # most of a block of more than one record
_MOST_PART_BYTES = 2**32 - 1  # what the column of parts can count


@dataclass(frozen=True, slots=True)
class Layout:
    """How a record is cut: the bytes of its parts, and which rows of the image they hold.

    A record of tiles has a head before its parts of rows and a rest behind them; one of pixels has
    parts of rows alone. Others have no parts of rows, and `rows` is 0.
    """

    sizes: tuple[int, ...]
    rows: int  # of the image in each part of rows; the last may have fewer
    around: int  # rows above and below a region that its pixels depend on, too

    def table(self, record: bytes) -> npt.NDArray[np.uint32]:
        """Return bytes and checksum of each part of a record that is cut like this."""
        table = np.empty((len(self.sizes), 2), dtype="<u4")
        view, place = memoryview(record), 0
        for number, size in enumerate(self.sizes):
            table[number] = size, _core.checksum(view[place : place + size])
            place += size
        return table


def layout_of(record: Bytes | bytes, storage: str, flags: int, height: int, width: int) -> Layout:
    """Return how a record is cut; PackError, without the sample's name, if it is damaged."""
    if storage == "dct":
        layout = tile_layout(record)
    elif storage == "raw" and not flags & RECORD_ZLIB:
        layout = _raw_layout(record, height, width)
    else:
        places = range(0, len(record), WHOLE_PART_BYTES)
        sizes = tuple(min(WHOLE_PART_BYTES, len(record) - place) for place in places)
        layout = Layout(sizes, 0, 0)
    if max(layout.sizes, default=0) > _MOST_PART_BYTES:
        raise PackError(f"rows of {width:,} pixels are more than a packed file can store")
    return layout


def tile_layout(record: Bytes | bytes) -> Layout:
    """Return how a `dct` record is cut; only its head is looked at."""
    try:
        sizes, rows, around = _core.tile_parts(np.frombuffer(record, np.uint8))
    except CoreError:  # not about this record: a wrong PENSTOCK_SIMD, say
        raise
    except ValueError as error:
        raise PackError(f"its coefficients cannot be read ({error})") from error
    return Layout(tuple(sizes), rows, around)


def raw_part_rows(width: int) -> int:
    """Return how many rows of an image of this width are one part of a `raw` record."""
    return max(1, RAW_PART_BYTES // (3 * width))


def _raw_layout(record: Bytes | bytes, height: int, width: int) -> Layout:
    if len(record) != 3 * height * width:
        raise PackError(
            f"{height}x{width} needs {3 * height * width:,} bytes of pixels, got {len(record):,}"
        )
    rows = raw_part_rows(width)
    tops = range(0, height, rows)
    sizes = tuple(3 * width * min(rows, height - top) for top in tops)
    return Layout(sizes, rows, 0)


@dataclass(frozen=True, slots=True)
class Block:
    """The block that is being filled."""

    records: int = 0
    size: int = 0  # bytes, with the padding behind each record

    def with_record(self, size: int) -> Block:
        """Return the block after the next record: this one, or a new one if it would get too large.

        A new block has one record.
        """
        if self.records and self.size + size <= BLOCK_BYTES:
            return Block(self.records + 1, self.size + size)
        return Block(1, size)
