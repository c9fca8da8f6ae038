"""Which records of a packed file are sound, found by the core for many of them at once.

A sample that is not among them may be damaged, or of a kind that the core does not judge:
`verify` looks at it on its own, and says what is wrong.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from penstock import _core
from penstock.errors import PackError
from penstock.geometry import Bools, Ints
from penstock.limits import limits_in_force
from penstock.packing.columns import Bytes, VariableColumn
from penstock.packing.format import RECORD_ZLIB, RESTORES, STORAGES
from penstock.packing.ranges import Places, places_of
from penstock.packing.read import PackFile

CHUNK_SAMPLES = 64
# A larger image waits for room before its file is rebuilt, so that few take much memory at once.
_MOST_REBUILT_PIXELS = 1 << 22


class Depth(IntEnum):
    """How closely `verify` looks at samples; each includes those before it."""

    BYTES = 0  # checksums, offsets, padding
    IMAGES = 1  # every image and its masks are decoded
    ORIGINALS = 2  # every file that can be given back byte for byte is rebuilt and compared


_CHECKS = {
    Depth.BYTES: _core.RecordCheck.BYTES,
    Depth.IMAGES: _core.RecordCheck.TILES,
    Depth.ORIGINALS: _core.RecordCheck.ORIGINAL,
}


def find_sound(file: PackFile, samples: Ints, depth: Depth) -> Bools:
    """Return which of these samples are known to be sound. Their masks are not looked at.

    Requires parts that were compared with what the index says of the records. Of a file in a store,
    nothing is known: its records come one by one.
    """
    sound = np.zeros(len(samples), dtype=np.uint8)
    try:
        places = places_of(file, samples)
    except PackError:  # which of them it is, and why, is found one by one
        return sound.astype(np.bool_)
    if file.mapped is None:
        return sound.astype(np.bool_)
    judged = np.flatnonzero(_can_be_judged(file, samples, places, depth))
    if len(judged):
        found = np.empty(len(judged), dtype=np.uint8)
        _check(found, file, file.mapped, samples[judged], places, judged, depth)
        sound[judged] = found
    return sound.astype(np.bool_)


def _can_be_judged(file: PackFile, samples: Ints, places: Places, depth: Depth) -> Bools:
    """Which samples the core's answer is enough for, as far as the index can tell."""
    restores, orientation, flags, storage = (
        file.facts(name)[samples] for name in ("restores", "orientation", "flags", "storage")
    )
    raw = storage == STORAGES.index("raw")
    judged: Bools = (restores < len(RESTORES)) & (orientation >= 1) & (orientation <= 8)
    judged &= (flags & ~np.where(raw, RECORD_ZLIB, 0).astype(flags.dtype)) == 0
    if depth == Depth.BYTES:
        return judged
    pixels = places.height * places.width
    judged &= pixels <= limits_in_force().pixels
    # Pillow decodes other files, and zlib inflates other pixels: only in Python.
    judged &= places.has_tiles | (places.has_pixels & (places.size == 3 * pixels))
    if depth == Depth.ORIGINALS:
        rebuilt = (restores == RESTORES.index("bytes")) & (pixels <= _MOST_REBUILT_PIXELS)
        judged &= rebuilt | ~places.has_tiles
    return judged


def _check(
    found: npt.NDArray[np.uint8],
    file: PackFile,
    mapped: Bytes,
    samples: Ints,
    places: Places,
    chosen: Ints,
    depth: Depth,
) -> None:
    def numbers(name: str) -> Ints:
        return file.facts(name)[samples].astype(np.int64)

    counts, table = np.zeros(len(samples), np.int64), np.empty((0, 2), np.uint32)
    rows = around = counts
    if file.version > 1:
        reader = file.system["parts"]
        assert isinstance(reader, VariableColumn)  # noqa: S101  as the file must have it
        counts, table = reader.rows(samples)
        rows, around = numbers("part_rows"), numbers("rows_around")
    _core.check_records(
        found, _CHECKS[depth], mapped,
        offset=places.offset[chosen], size=places.size[chosen], crc=numbers("crc"),
        is_dct=places.has_tiles[chosen].astype(np.int64),
        height=places.height[chosen], width=places.width[chosen],
        part_count=counts, part_rows=rows, rows_around=around, parts=table,
        original_size=numbers("original_size"), original_crc=numbers("original_crc"),
    )  # fmt: skip
