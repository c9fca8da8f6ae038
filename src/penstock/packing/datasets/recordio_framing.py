"""MXNet RecordIO: the framing, and the header with an image's labels."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow
from penstock.packing.datasets.files import MappedInput
from penstock.printable import printable

MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", MAGIC)
FRAME_BYTES = 8
IMAGE_HEADER = struct.Struct("<IfQQ")  # number of labels, label, id, second id
WHOLE, FIRST, MIDDLE, LAST = 0, 1, 2, 3


class ImageRecord(NamedTuple):
    """One image of a .rec file."""

    where: str
    identity: int
    labels: npt.NDArray[np.float32]  # one, or as many as the header announced
    vector: bool  # whether labels were announced, so that even a single one is a list
    image: memoryview
    start: int  # the byte at which it begins in the file


def image_records(path: str, start: int = 0, number: int = 0) -> Iterator[ImageRecord]:
    """Yield the images of a .rec file, from its record `number` on, which begins at a byte."""
    for where, record, begin in _records(path, start, number):
        if len(record) < IMAGE_HEADER.size:
            raise SourceError(f"{where}: {len(record)} bytes are too few for an image's header.")
        count, label, identity, _ = IMAGE_HEADER.unpack_from(record)
        rest = record[IMAGE_HEADER.size :]
        if 4 * count > len(rest):
            raise SourceError(f"{where}: it announces {count:,} labels, more than it has bytes.")
        labels = np.frombuffer(rest[: 4 * count], "<f4") if count else np.array([label], np.float32)
        yield ImageRecord(where, identity, labels, count > 0, rest[4 * count :], begin)


def _records(path: str, start: int, number: int) -> Iterator[tuple[str, memoryview, int]]:
    """Yield whole records; a record that contained the magic number was split at it."""
    title = printable(path)
    data = MappedInput(path)
    position, held, begin = start, 0, start
    parts: list[bytes] = []
    while position < len(data):
        where = f"{title}, record {number:,} (byte {position:,})"
        if position + FRAME_BYTES > len(data):
            raise _cut_short(where)
        magic, word = struct.unpack("<II", data[position : position + FRAME_BYTES])
        flag, length = word >> 29, word & (2**29 - 1)
        if magic != MAGIC:
            raise SourceError(f"{where}: no RecordIO mark here; damaged, or not a RecordIO file.")
        if length > len(data) - position - FRAME_BYTES:
            raise _cut_short(where)
        held += length + len(MAGIC_BYTES)
        if beyond("record_bytes", held) or beyond("nodes", len(parts)):
            name = "record_bytes" if beyond("record_bytes", held) else "nodes"
            raise SourceError(
                f"{where}: {held:,} bytes in {len(parts) + 1:,} parts. {how_to_allow(name)}."
            )
        begin = begin if parts else position
        body = position + FRAME_BYTES
        part = data[body : body + length]
        position += FRAME_BYTES + (length + 3) // 4 * 4
        if flag not in {WHOLE, FIRST, MIDDLE, LAST} or (flag in {WHOLE, FIRST}) == bool(parts):
            raise SourceError(f"{where}: its parts are out of order; the file is damaged.")
        parts.append(part)
        if flag in {WHOLE, LAST}:
            yield where, memoryview(MAGIC_BYTES.join(parts)), begin
            parts, held = [], 0
            number += 1
    if parts:
        raise _cut_short(f"{title}, record {number:,}")


def _cut_short(where: str) -> SourceError:
    return SourceError(f"{where}: the file ends inside it. It was cut short; get it again.")
