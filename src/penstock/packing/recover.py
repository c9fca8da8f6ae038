"""How far a pack that was interrupted had come."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from penstock.errors import PackError
from penstock.packing.format import HEADER_BYTES, SYSTEM_ROW, VERSION, aligned
from penstock.packing.index import Tables
from penstock.packing.items import Column
from penstock.packing.journal import (
    SKIPPED,
    STORED,
    SYNCED,
    Frame,
    RowCodec,
    Start,
    read_frames,
    read_start,
)


@dataclass(slots=True)
class Recovered:
    """Where an interrupted pack goes on; as made, a new one."""

    position: int = HEADER_BYTES  # in the packed file: where the next record goes
    journal_end: int = 0  # 0: there is no journal yet
    samples: int = 0
    skipped: int = 0


def settings_digest(columns: Sequence[Column], tables: Tables) -> bytes:
    """Return a digest of everything that a resumed pack must have in common with the first."""
    return hashlib.sha256(repr((VERSION, tuple(columns), tables)).encode()).digest()


def read_matching_start(journal: BinaryIO, digest: bytes, where: str) -> Start | None:
    """Return what a journal begins with, if anything; PackError if it is of another pack."""
    found = read_start(journal, where)
    if found is not None and found.settings_digest != digest:
        raise PackError(
            f"{where}: was begun with other columns, classes or settings. "
            "Give the same arguments again, or remove it to start over."
        )
    return found


def recover(
    partial: BinaryIO, journal: BinaryIO, start: Start, codec: RowCodec, where: str
) -> Recovered:
    """Read the journal up to its last sample whose record is whole."""
    found = read_matching_start(journal, start.settings_digest, where)
    if found is None:
        return Recovered()
    if found.span != start.span:
        raise PackError(
            f"{where}: is about other samples of the source ({found.span}) than asked for now "
            f"({start.span}). Give the same arguments again, or remove it to start over."
        )
    state = Recovered()
    # Frames up to the last sync stand for records that are on the disk; later ones are looked at.
    synced_end = max(
        (frame.end for frame in read_frames(journal) if frame.kind == SYNCED), default=0
    )
    for frame in read_frames(journal):
        if not _take(state, frame, partial, codec, trusted=frame.end <= synced_end):
            break
        state.journal_end = frame.end
    return state


def _take(
    state: Recovered, frame: Frame, partial: BinaryIO, codec: RowCodec, *, trusted: bool
) -> bool:
    if frame.kind == SKIPPED:
        state.skipped += 1
    elif frame.kind == STORED:
        system, _ = codec.decode(frame.payload)
        offset, size, crc = SYSTEM_ROW.unpack(system)[:3]
        end = offset + aligned(size)
        if end > os.fstat(partial.fileno()).st_size:
            return False
        if not trusted:
            partial.seek(offset)
            if zlib.crc32(partial.read(size)) != crc:
                return False
        state.position = end
        state.samples += 1
    return True
