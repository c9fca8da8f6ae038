"""The index of a packed file: a pass over the journal, turned into columns.

Values are collected in temporary files beside the target, so memory stays flat for any number
of samples.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, BinaryIO

import numpy as np

from penstock.errors import PackError
from penstock.packing import disk
from penstock.packing.columns import encode_value
from penstock.packing.format import (
    BLOCK,
    BLOCK_COLUMNS,
    FIXED_COLUMNS,
    SAMPLE,
    SYSTEM,
    SYSTEM_ROW_TYPE,
    TABLE,
    VARIABLE_COLUMNS,
    Entry,
    aligned,
    padding,
    row_bytes,
)
from penstock.packing.items import Column
from penstock.packing.journal import SKIPPED, STORED, RowCodec, read_frames, read_skipped
from penstock.packing.parts import Block

_IN_MEMORY_BYTES = 1 << 20  # a column's, before it goes to a temporary file
_CHUNK_VALUES = 1 << 16


KEEP_JPEG = "keep_jpeg"  # the one setting that changes no image


def change_images(settings: Iterable[str]) -> bool:
    """Whether a pack with these settings is lossy."""
    return bool(set(settings) - {KEEP_JPEG})


@dataclass(frozen=True, slots=True)
class Tables:
    """What a packed file says once for all samples."""

    classes: tuple[str, ...] | None
    box_classes: tuple[str, ...] | None
    settings: tuple[str, ...]  # such as "quality=90": what was asked for other than the usual
    box_class_ids: tuple[int, ...] | None = None  # None where there are no labels of boxes

    def texts(self) -> dict[str, tuple[str, ...]]:
        """Return the tables that are there, by name."""
        ids = None if self.box_class_ids is None else tuple(map(str, self.box_class_ids))
        named = {"classes": self.classes, "box_classes": self.box_classes, "box_class_ids": ids}
        return {name: texts for name, texts in named.items() if texts is not None} | {
            "settings": self.settings
        }

    @property
    def lossy(self) -> bool:
        """Whether images may be changed."""
        return change_images(self.settings)

    def check(self) -> None:
        """Raise PackError for what cannot be stored: they are written last, after all images."""
        for name, texts in self.texts().items():
            for number, text in enumerate(texts):
                try:
                    encode_value(Column(name, "text"), text)
                except PackError as error:
                    raise PackError(
                        f"{name}, entry {number:,}: {error}. Correct the name in the source."
                    ) from error


def write_index(
    file: BinaryIO, position: int, journal: BinaryIO, columns: Sequence[Column], tables: Tables
) -> list[Entry]:
    """Append all columns at `position` of the packed file; return their directory entries."""
    out = _Appender(file, position)
    folder = os.path.dirname(os.path.abspath(file.name))
    codec = RowCodec(columns)
    after_row = (*VARIABLE_COLUMNS, *columns)
    roles = [SYSTEM] * len(VARIABLE_COLUMNS) + [SAMPLE] * len(columns)
    skipped: list[str] = []
    blocks = [_Spool(column, folder) for column in BLOCK_COLUMNS]
    with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=folder) as rows:
        spools = [_Spool(column, folder) for column in after_row]
        samples = 0
        for frame in read_frames(journal):
            if frame.kind == SKIPPED:
                skipped.append(": ".join(read_skipped(frame.payload)))
            if frame.kind != STORED:
                continue
            system, values = codec.decode(frame.payload)
            rows.write(system)
            for spool, value in zip(spools, values, strict=True):
                spool.add(value)
            samples += 1
        entries = [
            out.fixed(SYSTEM, column, samples, _field(rows, column.name))
            for column in FIXED_COLUMNS
        ]
        count = _fill_blocks(blocks, rows)
    for spool, role in zip(spools, roles, strict=True):
        entries.append(spool.append_to(out, role, samples))
    for name, texts in (tables.texts() | {"skipped": tuple(skipped)}).items():
        spool = _Spool(Column(name, "text"), folder)
        for text in texts:
            spool.add(encode_value(Column(name, "text"), text))
        entries.append(spool.append_to(out, TABLE, len(texts)))
    entries += [spool.append_to(out, BLOCK, count) for spool in blocks]
    return entries


class _Appender:
    """Appends arrays to a file, each aligned and with its checksum."""

    def __init__(self, file: BinaryIO, position: int) -> None:
        self._file = file
        self._position = position
        file.seek(position)

    def array(self, chunks: Iterable[bytes]) -> tuple[int, int, int]:
        """Append one array; return its offset, size in bytes and CRC-32."""
        start, crc = self._position, 0
        for chunk in chunks:
            disk.write_all(self._file, chunk)
            crc = zlib.crc32(chunk, crc)
            self._position += len(chunk)
        size = self._position - start
        zeros = padding(self._position)
        disk.write_all(self._file, zeros)
        self._position += len(zeros)
        return start, size, crc

    def fixed(self, role: int, column: Column, count: int, chunks: Iterable[bytes]) -> Entry:
        """Append a fixed column."""
        offset, size, crc = self.array(chunks)
        return Entry(role, column, count, offset, size, 0, 0, crc, 0)


class _Spool:
    """Collects the values of one column, sample after sample, until the column is written."""

    def __init__(self, column: Column, folder: str) -> None:
        self._column = column
        self._values = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=folder)  # noqa: SIM115
        self._sizes = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=folder)  # noqa: SIM115

    def add(self, value: bytes) -> None:
        self._values.write(value)
        if self._column.kind != "fixed":
            self._sizes.write(len(value).to_bytes(8, "little"))

    def add_number(self, value: int) -> None:
        self._values.write(value.to_bytes(row_bytes(self._column), "little"))

    def append_to(self, out: _Appender, role: int, count: int) -> Entry:
        with self._values, self._sizes:
            if self._column.kind == "fixed":
                return out.fixed(role, self._column, count, _chunks(self._values))
            offset, size, crc = out.array(_offsets(self._sizes, row_bytes(self._column)))
            values_offset, values_size, values_crc = out.array(_chunks(self._values))
            return Entry(
                role, self._column, count, offset, size, values_offset, values_size, crc, values_crc
            )


def _fill_blocks(spools: Sequence[_Spool], rows: IO[bytes]) -> int:
    """Add the values of all blocks to these columns; return how many there are."""
    block = Block()
    sample = count = first = place = crc = 0

    def end_block() -> None:
        nonlocal count
        for spool, value in zip(spools, (first, place, block.size, crc), strict=True):
            spool.add_number(value)
        count += 1

    rows.seek(0)
    while chunk := rows.read(_CHUNK_VALUES * SYSTEM_ROW_TYPE.itemsize):
        table = np.frombuffer(chunk, SYSTEM_ROW_TYPE)
        facts = (table[name].tolist() for name in ("offset", "size", "block_crc"))
        for offset, size, block_crc in zip(*facts, strict=True):
            following = block.with_record(aligned(size))
            if following.records == 1:
                if block.records:
                    end_block()
                first, place = sample, offset
            block, crc = following, block_crc
            sample += 1
    if block.records:
        end_block()
    return count


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_IN_MEMORY_BYTES):
        yield chunk


def _field(rows: IO[bytes], name: str) -> Iterator[bytes]:
    rows.seek(0)
    while chunk := rows.read(_CHUNK_VALUES * SYSTEM_ROW_TYPE.itemsize):
        yield np.frombuffer(chunk, SYSTEM_ROW_TYPE)[name].tobytes()


def _offsets(sizes: IO[bytes], unit_bytes: int) -> Iterator[bytes]:
    sizes.seek(0)
    end = 0
    yield bytes(8)
    while chunk := sizes.read(_CHUNK_VALUES * 8):
        ends = np.cumsum(np.frombuffer(chunk, "<u8"), dtype="<u8") + np.uint64(end)
        end = int(ends[-1])
        yield (ends // np.uint64(unit_bytes)).astype("<u8").tobytes()
