"""One image, encoded and ready to be stored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """The bytes that stand for an image in a packed file, and what the index says of it."""

    data: bytes
    storage: str  # one of STORAGES
    height: int
    width: int
    orientation: int  # EXIF's, 1 to 8; 1 where there is none
    restores: str  # one of RESTORES: what `unpack` gives back
    original_size: int  # bytes of the original file
    original_crc: int  # CRC-32 of the original file
    flags: int = 0
    note: str = ""  # why the image is not stored in the usual way; empty if it is
