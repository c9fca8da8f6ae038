"""What a sample was when it was packed: a resumed pack can tell whether it still is that."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.errors import DecodeError, PackError
from penstock.packing.column_values import encode_values
from penstock.packing.items import Column, PackItem

_DIGEST_BYTES = 16
_ORIGIN = struct.Struct(f"<{_DIGEST_BYTES}sqIqq")
ORIGIN_BYTES = _ORIGIN.size
UNREADABLE = -1


@dataclass(frozen=True, slots=True)
class Origin:
    """A sample as the source gave it."""

    columns: bytes = bytes(_DIGEST_BYTES)  # digest of their values
    size: int = UNREADABLE  # of the image file
    crc: int = 0
    modified_ns: int = 0  # both 0 for a sample that is no file of its own
    changed_ns: int = 0

    def to_bytes(self) -> bytes:
        """Return it as it stands in the journal."""
        return _ORIGIN.pack(self.columns, self.size, self.crc, self.modified_ns, self.changed_ns)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Origin:
        """Read it from the journal."""
        return cls(*_ORIGIN.unpack(raw))


def times_ns(data: bytes | os.PathLike[str]) -> tuple[int, int]:
    """Return when a file was written and when anything of it was changed; zeros for bytes.

    Ask before reading the file: a change while it is read then shows as one.
    """
    found = _status(data)
    return (0, 0) if found is None else (found.st_mtime_ns, found.st_ctime_ns)


def _status(data: bytes | os.PathLike[str]) -> os.stat_result | None:
    if isinstance(data, bytes):
        return None
    try:
        return os.stat(data)
    except (OSError, ValueError):  # whoever reads the file tells of it
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
    read: Callable[[bytes | os.PathLike[str]], bytes],
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


def _is_untouched(data: bytes | os.PathLike[str], before: Origin) -> bool:
    then = (before.size, before.modified_ns, before.changed_ns)
    found = _status(data)
    return found is not None and (found.st_size, found.st_mtime_ns, found.st_ctime_ns) == then
