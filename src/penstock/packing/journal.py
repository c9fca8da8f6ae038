"""The journal beside an unfinished pack: one checksummed frame per sample.

`--resume` goes on from it, and at the end the index is made from it.
It begins with the settings and with which samples of the source it is about.
Each frame begins with what its sample was then: a source that has changed is noticed.
A frame is appended after its record was written; `synced` frames after both files reached the disk.
So after a crash of the program every frame's record is there,
and after a crash of the system all up to the last `synced` frame; later ones are checked.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from penstock.errors import DecodeError, PackError
from penstock.packing.columns import decode_text, encode_values
from penstock.packing.far_files import FarFile
from penstock.packing.format import SYSTEM_ROW, VARIABLE_COLUMNS
from penstock.packing.items import Column, ImageData, PackItem

_DIGEST_BYTES = 16
_ORIGIN = struct.Struct(f"<{_DIGEST_BYTES}sqIqq")
ORIGIN_BYTES = _ORIGIN.size
UNREADABLE = -1

JOURNAL_SUFFIX = ".journal"
_MAGIC = b"PENJRNL3"
_START = struct.Struct("<8s32sqqqI")
_UNKNOWN = -1
_FRAME = struct.Struct("<II")  # kind, bytes of the payload; the payload and a CRC-32 follow
STORED, SKIPPED, SYNCED = 1, 2, 3
START_BYTES = _START.size
_MOST_PAYLOAD_BYTES = 2**32 - 1 - ORIGIN_BYTES


@dataclass(frozen=True, slots=True)
class Origin:
    """A sample as the source gave it."""

    columns: bytes = bytes(_DIGEST_BYTES)  # digest of their values
    size: int = UNREADABLE  # of the image file
    crc: int = 0
    modified_ns: int = 0  # both 0 for a sample that is not a file of its own
    changed_ns: int = 0

    def to_bytes(self) -> bytes:
        """Return it as it stands in the journal."""
        return _ORIGIN.pack(self.columns, self.size, self.crc, self.modified_ns, self.changed_ns)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Origin:
        """Read it from the journal."""
        return cls(*_ORIGIN.unpack(raw))


NO_ORIGIN = Origin()


@dataclass(frozen=True, slots=True)
class Span:
    """Which samples of its source a packed file holds: those of a shard, or all."""

    start: int = 0
    stop: int | None = None  # None: to the end
    length: int | None = None  # of the whole source; None where that does not matter


@dataclass(frozen=True, slots=True)
class Start:
    """What a journal begins with."""

    settings_digest: bytes
    span: Span

    def to_bytes(self) -> bytes:
        """Return it as it stands in the file."""
        span = (self.span.start, self.span.stop, self.span.length)
        numbers = (_UNKNOWN if number is None else number for number in span)
        head = _START.pack(_MAGIC, self.settings_digest, *numbers, 0)[:-4]
        return head + zlib.crc32(head).to_bytes(4, "little")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, and where it ends in the journal."""

    kind: int
    origin: Origin
    payload: bytes
    end: int


def frame_bytes(kind: int, origin: Origin = NO_ORIGIN, payload: bytes = b"") -> bytes:
    """Return one frame; PackError, without the sample's name, if it is too long."""
    if len(payload) > _MOST_PAYLOAD_BYTES:
        raise PackError(
            f"the values beside its image take {len(payload):,} bytes, more than "
            f"{_MOST_PAYLOAD_BYTES:,}"
        )
    body = _FRAME.pack(kind, ORIGIN_BYTES + len(payload)) + origin.to_bytes() + payload
    return body + zlib.crc32(body).to_bytes(4, "little")


def skipped_payload(name: str, reason: str) -> bytes:
    """Return the payload for a sample that was left out."""
    return f"{storable(name)}\0{storable(reason)}".encode("utf-8", "surrogateescape")


def storable(text: str) -> str:
    """Return a name or reason so that it can be stored: a name may be why a sample was left out."""
    text = text.replace("\0", "\\0")
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def read_skipped(payload: bytes) -> tuple[str, str]:
    """Return name and reason of a sample that was left out."""
    name, _, reason = decode_text(payload).partition("\0")
    return name, reason


def read_start(file: BinaryIO, where: str) -> Start | None:
    """Return what a journal begins with; None if the crash came before it was written."""
    file.seek(0)
    raw = file.read(START_BYTES)
    if raw.strip(b"\0") and raw[: len(_MAGIC)] != _MAGIC[: len(raw)]:
        raise PackError(
            f"{where}: not a journal of this version of penstock. Go on with the version that "
            "began the pack, or remove this file and the unfinished pack to start over."
        )
    if len(raw) < START_BYTES or zlib.crc32(raw[:-4]).to_bytes(4, "little") != raw[-4:]:
        return None
    _, digest, *numbers, _ = _START.unpack(raw)
    start, stop, length = (None if number == _UNKNOWN else number for number in numbers)
    return Start(digest, Span(start or 0, stop, length))


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
        if payload_bytes < ORIGIN_BYTES:
            return
        position += _FRAME.size + payload_bytes + 4
        origin = Origin.from_bytes(payload[:ORIGIN_BYTES])
        yield Frame(kind, origin, payload[ORIGIN_BYTES:], position)


@dataclass(frozen=True, slots=True)
class Done:
    """A sample that is dealt with."""

    name: str  # as `storable` spells it
    stored: bool  # or left out
    origin: Origin


def read_done(file: BinaryIO, codec: RowCodec) -> Iterator[Done]:
    """Yield the samples of a journal, in the order of the source."""
    for frame in read_frames(file):
        if frame.kind == STORED:
            name = decode_text(codec.decode(frame.payload)[1][0])
            yield Done(name, stored=True, origin=frame.origin)
        elif frame.kind == SKIPPED:
            yield Done(read_skipped(frame.payload)[0], stored=False, origin=frame.origin)


class RowCodec:
    """Payloads of stored samples: the fixed system values, then name, note, parts, user columns.

    First come SYSTEM_ROW and the sizes of all columns after it, then their bytes, end to end.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._sizes = struct.Struct(f"<{len(VARIABLE_COLUMNS) + len(columns)}Q")

    def encode(self, system: bytes, values: Sequence[bytes]) -> bytes:
        """Return the payload of one sample."""
        return b"".join((system, self._sizes.pack(*map(len, values)), *values))

    def decode(self, payload: bytes) -> tuple[bytes, list[bytes]]:
        """Return the system row, and the bytes of the other columns."""
        system = payload[: SYSTEM_ROW.size]
        start = SYSTEM_ROW.size + self._sizes.size
        if len(payload) < start:
            raise PackError(f"journal: a sample of {len(payload)} bytes is too short.")
        values = []
        for size in self._sizes.unpack_from(payload, SYSTEM_ROW.size):
            values.append(payload[start : start + size])
            start += size
        return system, values


def times_ns(data: ImageData) -> tuple[int, int]:
    """Return a file's times of modification and of change; zeros for bytes.

    Call this before reading the file, so that a change during reading is noticed.
    """
    if isinstance(data, FarFile):
        return data.stamps
    found = _status(data)
    return (0, 0) if found is None else (found.st_mtime_ns, found.st_ctime_ns)


def _status(data: bytes | os.PathLike[str]) -> os.stat_result | None:
    if isinstance(data, bytes):
        return None
    try:
        return os.stat(data)
    except (OSError, ValueError):  # reading the file will report it
        return None


def columns_digest(item: PackItem, columns: Sequence[Column]) -> bytes:
    """Return a digest of a sample's values; PackError, naming it, if they are not as declared."""
    try:
        values = encode_values(columns, item.columns)
    except PackError as error:
        raise PackError(f"{item.name}: {error}.") from error
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for value in values:
        digest.update(len(value).to_bytes(8, "little"))
        digest.update(value)
    return digest.digest()


def what_changed(
    item: PackItem,
    columns: Sequence[Column],
    before: Origin,
    read: Callable[[ImageData], bytes],
) -> str | None:
    """Return how a sample differs from what it was, for people; None if it does not.

    A file whose size and times are the same is not read again.
    """
    if columns_digest(item, columns) != before.columns:
        return "has other labels, or other values beside its image"
    if before.size >= 0 and _is_untouched(item.data, before):
        return None
    try:
        data = read(item.data)
    except DecodeError:
        return None if before.size == UNREADABLE else "can no longer be read"
    if before.size == UNREADABLE:
        return "could not be read then, and can be now"
    if (len(data), zlib.crc32(data)) != (before.size, before.crc):
        return f"has other content ({before.size:,} bytes then, {len(data):,} now)"
    return None


def _is_untouched(data: ImageData, before: Origin) -> bool:
    then = (before.size, before.modified_ns, before.changed_ns)
    if isinstance(data, FarFile):
        return (data.size, *data.stamps) == then
    found = _status(data)
    return found is not None and (found.st_size, found.st_mtime_ns, found.st_ctime_ns) == then
