"""The journal beside an unfinished pack: one checksummed frame a sample.

It is what `--resume` goes on from, and at the end the source of the index.
A frame is appended after its record was written; `synced` frames after both files reached the disk.
So after a crash of the program every frame's record is there,
and after a crash of the system all up to the last `synced` frame; later ones are checked.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from penstock.errors import PackError
from penstock.packing.column_values import decode_text
from penstock.packing.format import SYSTEM_ROW
from penstock.packing.items import Column

_MAGIC = b"PENJRNL1"
_START = struct.Struct("<8s32sI")
_FRAME = struct.Struct("<II")  # kind, bytes of the payload; the payload and a CRC-32 follow
STORED, SKIPPED, SYNCED = 1, 2, 3
START_BYTES = _START.size


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, and where it ends in the journal."""

    kind: int
    payload: bytes
    end: int


def start_bytes(settings_digest: bytes) -> bytes:
    """Return the beginning of a journal for a pack with these settings."""
    head = _START.pack(_MAGIC, settings_digest, 0)[:-4]
    return head + zlib.crc32(head).to_bytes(4, "little")


def frame_bytes(kind: int, payload: bytes) -> bytes:
    """Return one frame."""
    body = _FRAME.pack(kind, len(payload)) + payload
    return body + zlib.crc32(body).to_bytes(4, "little")


def skipped_payload(name: str, reason: str) -> bytes:
    """Return the payload for a sample that was left out."""
    text = f"{name}\0{reason}"
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a name that could not be stored can still be told
        return text.encode("utf-8", "backslashreplace")


def read_skipped(payload: bytes) -> tuple[str, str]:
    """Return name and reason of a sample that was left out."""
    name, _, reason = decode_text(payload).partition("\0")
    return name, reason


def read_settings_digest(file: BinaryIO) -> bytes | None:
    """Return the digest a journal begins with; None if the crash came before it was written."""
    raw = file.read(START_BYTES)
    if len(raw) < START_BYTES or zlib.crc32(raw[:-4]).to_bytes(4, "little") != raw[-4:]:
        return None
    magic, digest, _ = _START.unpack(raw)
    return bytes(digest) if magic == _MAGIC else None


def read_frames(file: BinaryIO) -> Iterator[Frame]:
    """Yield the valid frames after the beginning; the first damaged one ends them."""
    position = file.seek(START_BYTES)
    journal_bytes = os.fstat(file.fileno()).st_size
    while True:
        head = file.read(_FRAME.size)
        if len(head) < _FRAME.size:
            return
        kind, payload_bytes = _FRAME.unpack(head)
        if position + _FRAME.size + payload_bytes + 4 > journal_bytes:
            return
        payload = file.read(payload_bytes)
        crc = zlib.crc32(payload, zlib.crc32(head))
        if crc.to_bytes(4, "little") != file.read(4) or kind not in {STORED, SKIPPED, SYNCED}:
            return
        position += _FRAME.size + payload_bytes + 4
        yield Frame(kind, payload, position)


class RowCodec:
    """Payloads of stored samples: the fixed system values, then name, note and user columns.

    First come SYSTEM_ROW and the sizes of all columns after it, then their bytes, end to end.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._sizes = struct.Struct(f"<{2 + len(columns)}Q")

    def encode(self, system: bytes, name: bytes, note: bytes, values: Sequence[bytes]) -> bytes:
        """Return the payload of one sample."""
        parts = (name, note, *values)
        return b"".join((system, self._sizes.pack(*map(len, parts)), *parts))

    def decode(self, payload: bytes) -> tuple[bytes, list[bytes]]:
        """Return the system row, and the bytes of name, note and user columns."""
        system = payload[: SYSTEM_ROW.size]
        start = SYSTEM_ROW.size + self._sizes.size
        if len(payload) < start:
            raise PackError(f"journal: a sample of {len(payload)} bytes is too short.")
        parts = []
        for size in self._sizes.unpack_from(payload, SYSTEM_ROW.size):
            parts.append(payload[start : start + size])
            start += size
        return system, parts
