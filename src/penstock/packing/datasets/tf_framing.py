"""TFRecord's framing: length, its checksum, the record, its checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow
from penstock.packing.datasets.files import MappedInput
from penstock.packing.datasets.optional import require
from penstock.printable import printable

HEADER_BYTES, FOOTER_BYTES = 12, 4
GZIP_MAGIC = b"\x1f\x8b"


def tf_records(
    path: str, *, check_data: bool = True, start: int = 0, number: int = 0
) -> Iterator[tuple[str, memoryview, int]]:
    """Yield each record with what errors call it, and the byte that it begins at.

    Args:
        path: The file.
        check_data: Also check the records' own checksums, which reads all their bytes.
        start: The byte at which to begin; a record begins there.
        number: That of this record.
    """
    title = printable(path)
    crc32c = require("google_crc32c", "google-crc32c", title)
    data = MappedInput(path)
    position = start
    while position < len(data):
        where = f"{title}, record {number:,} (byte {position:,})"
        body = position + HEADER_BYTES
        if body > len(data):
            raise _cut_short(where)
        length, length_crc = struct.unpack("<QI", data[position:body])
        if _masked(crc32c, data[position : position + 8]) != length_crc:
            raise SourceError(f"{where}: {_wrong_length(data)}")
        if length + FOOTER_BYTES > len(data) - body:
            raise _cut_short(where)
        if beyond("record_bytes", length):
            raise SourceError(f"{where}: {length:,} bytes. {how_to_allow('record_bytes', length)}.")
        end = body + length
        if check_data:
            record = data[body:end]
            (crc,) = struct.unpack("<I", data[end : end + FOOTER_BYTES])
            if _masked(crc32c, record) != crc:
                raise SourceError(
                    f"{where}: its checksum is wrong; the file is damaged. Get it again."
                )
            yield where, memoryview(record), position
        else:
            yield where, data.view[body:end], position
            data.check()
        position = end + FOOTER_BYTES
        number += 1


def _masked(crc32c: Any, data: bytes) -> int:
    crc: int = crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _wrong_length(data: MappedInput) -> str:
    if data[:2] == GZIP_MAGIC:
        return "the file is gzip-compressed. Decompress it first (gunzip)."
    return "the checksum of its length is wrong; damaged, or not a TFRecord file."


def _cut_short(where: str) -> SourceError:
    return SourceError(f"{where}: the file ends inside it. It was cut short; get it again.")
