"""A packed file in pieces that can be changed: taken apart, and put together with all checksums."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from penstock import PackError
from penstock.packing.format import (
    BLOCK,
    BLOCK_COLUMNS,
    ENTRY_BYTES,
    HEADER_BYTES,
    STORAGES,
    TAIL_BYTES,
    VERSION,
    Entry,
    Header,
    Tail,
    aligned,
    id_of,
    row_bytes,
)
from penstock.packing.items import Column
from penstock.packing.parts import Block, Layout, layout_of


@dataclass
class Part:
    """A column, as it stands in the file."""

    role: int
    column: Column
    first: bytearray  # values, or offsets
    values: bytearray = field(default_factory=bytearray)

    @property
    def count(self) -> int:
        """How many values the arrays have room for."""
        if self.column.kind == "fixed":
            return len(self.first) // row_bytes(self.column)
        return max(0, len(self.first) // 8 - 1)

    def texts(self) -> list[bytes]:
        """The values of a column of texts or bytes."""
        ends = struct.unpack(f"<{self.count + 1}Q", self.first[: 8 * self.count + 8])
        return [bytes(self.values[a:b]) for a, b in pairwise(ends)]

    def set_texts(self, texts: list[bytes]) -> None:
        """Replace them all."""
        ends = [0]
        for text in texts:
            ends.append(ends[-1] + len(text))
        self.first = bytearray(struct.pack(f"<{len(ends)}Q", *ends))
        self.values = bytearray(b"".join(texts))


@dataclass
class Pen:
    """A packed file in pieces."""

    flags: int
    records: list[bytes]
    parts: list[Part]
    samples: int
    # What is said falsely in the end, behind the back of everything above.
    entry_lies: list[tuple[int, int, str, int]] = field(default_factory=list)
    tail_lies: list[tuple[int, str, int]] = field(default_factory=list)
    keeps_crcs: bool = False  # whether checksums of records are left as they are
    version: int = VERSION

    def part(self, name: str) -> Part | None:
        """The column of a name, but not of blocks."""
        return next((p for p in self.parts if p.column.name == name and p.role != BLOCK), None)

    def block_parts(self) -> list[Part] | None:
        """First sample, offset, size and checksum of the blocks, if all are there."""
        found = {p.column.name: p for p in self.parts if p.role == BLOCK}
        names = [column.name for column in BLOCK_COLUMNS]
        return [found[name] for name in names] if all(name in found for name in names) else None

    def number(self, name: str, sample: int) -> int:
        """A sample's value in one of the file's own columns; 0 if there is none."""
        part = self.part(name)
        if part is None:
            return 0
        width = row_bytes(part.column)
        return int.from_bytes(part.first[sample * width : (sample + 1) * width], "little")


def take_apart(data: bytes) -> Pen:
    """Read a sound file."""
    tail = Tail.from_bytes(data[-TAIL_BYTES:], len(data), "seed")
    parts = []
    for number in range(tail.columns):
        at = tail.directory_offset + number * ENTRY_BYTES
        entry = Entry.from_bytes(data[at : at + ENTRY_BYTES], "seed", tail.version)
        first = bytearray(data[entry.offset : entry.offset + entry.size])
        values = bytearray(data[entry.values_offset : entry.values_offset + entry.values_bytes])
        parts.append(Part(entry.role, entry.column, first, values))
    pen = Pen(Header.from_bytes(data[:HEADER_BYTES], "seed").flags, [], parts, tail.samples)
    pen.version = tail.version
    offsets, sizes = (np.frombuffer(pen.part(name).first, "<u8") for name in ("offset", "size"))
    pen.records = [data[o : o + s] for o, s in zip(offsets.tolist(), sizes.tolist(), strict=True)]
    return pen


def place_records(pen: Pen) -> None:
    """Let the index tell the truth about where the records lie, and how long they are."""
    place, offsets, sizes = HEADER_BYTES, [], []
    for record in pen.records:
        offsets.append(place)
        sizes.append(len(record))
        place += aligned(len(record))
    for name, numbers in (("offset", offsets), ("size", sizes)):
        if (part := pen.part(name)) is not None:
            part.first[:] = np.array(numbers, "<u8").tobytes()
    if pen.version > 1:
        _cut_records(pen)
        _make_blocks(pen, offsets)


def _cut_records(pen: Pen) -> None:
    """Let the index tell the truth about the parts of records, where they can be cut at all."""
    parts, rows, around = (pen.part(name) for name in ("parts", "part_rows", "rows_around"))
    if parts is None or rows is None or around is None:
        return
    ends, values = [0], bytearray()
    for number, record in enumerate(pen.records):
        storage = STORAGES[min(pen.number("storage", number), len(STORAGES) - 1)]
        facts = (pen.number(name, number) for name in ("flags", "height", "width"))
        try:
            layout = layout_of(record, storage, *facts)
        except (PackError, ZeroDivisionError):
            layout = Layout((len(record),), 0, 0)
        values += layout.table(record).tobytes()
        ends.append(ends[-1] + len(layout.sizes))
        write_number(rows.first, 2 * number, "<H", layout.rows)
        write_number(around.first, number, "<B", layout.around)
    parts.first = bytearray(struct.pack(f"<{len(ends)}Q", *ends))
    parts.values = values


def _make_blocks(pen: Pen, offsets: list[int]) -> None:
    columns, firsts, block = pen.block_parts(), [], Block()
    if columns is None:
        return
    for number, record in enumerate(pen.records):
        block = block.with_record(aligned(len(record)))
        firsts += [number] * (block.records == 1)
    places = [offsets[number] for number in firsts]
    end = HEADER_BYTES + sum(aligned(len(record)) for record in pen.records)
    sizes = [after - place for place, after in pairwise([*places, end])]
    values = (firsts, places, sizes, [0] * len(firsts))
    for part, column, numbers in zip(columns, BLOCK_COLUMNS, values, strict=True):
        part.first = bytearray(np.array(numbers, column.dtype).tobytes())


def put_together(pen: Pen) -> bytes:
    """Write the file, with checksums that match what is in it."""
    out = bytearray(HEADER_BYTES)
    for record in pen.records:
        out += record + bytes(aligned(len(record)) - len(record))
    records_end = len(out)
    _sum_records(pen, out)
    entries = bytearray()
    for part in pen.parts:
        entries += _entry_of(part, out).to_bytes()
    for number, place, form, value in pen.entry_lies:
        write_number(entries, number * ENTRY_BYTES + place, form, value)
    directory = len(out)
    out += entries + bytes(aligned(len(entries)) - len(entries))
    file_id = id_of(bytes(entries))
    tail = bytearray(
        Tail(
            directory, len(entries), pen.samples, records_end, len(pen.parts),
            zlib.crc32(entries), file_id, pen.flags if pen.version > 1 else 0, pen.version,
        ).to_bytes()
    )  # fmt: skip
    for place, form, value in pen.tail_lies:
        write_number(tail, place, form, value)
    tail[56:60] = zlib.crc32(tail[:56]).to_bytes(4, "little")
    out += tail
    out[:HEADER_BYTES] = Header(pen.flags, file_id, pen.version).to_bytes()
    return bytes(out)


def _sum_records(pen: Pen, out: bytearray) -> None:
    crc, offset, size = (pen.part(name) for name in ("crc", "offset", "size"))
    if pen.keeps_crcs or crc is None or offset is None or size is None:
        return
    count = min(len(crc.first) // 4, len(offset.first) // 8, len(size.first) // 8)
    for number in range(count):
        (start,) = struct.unpack_from("<Q", offset.first, 8 * number)
        (length,) = struct.unpack_from("<Q", size.first, 8 * number)
        if start + length <= len(out):  # others lie about where they are
            struct.pack_into("<I", crc.first, 4 * number, zlib.crc32(out[start : start + length]))
            _sum_parts(pen, number, out[start : start + length])
    blocks = pen.block_parts()
    if blocks is not None:
        _, places, sizes, crcs = (part.first for part in blocks)
        for number in range(min(len(places) // 8, len(sizes) // 8, len(crcs) // 4)):
            (start,) = struct.unpack_from("<Q", places, 8 * number)
            (length,) = struct.unpack_from("<Q", sizes, 8 * number)
            if start + length <= len(out):
                struct.pack_into("<I", crcs, 4 * number, zlib.crc32(out[start : start + length]))


def _sum_parts(pen: Pen, number: int, record: bytearray) -> None:
    parts = pen.part("parts")
    if parts is None or len(parts.first) < 8 * number + 16:
        return
    start, end = struct.unpack_from("<2Q", parts.first, 8 * number)
    place = 0
    for row in range(start, min(end, len(parts.values) // 8)):
        (size,) = struct.unpack_from("<I", parts.values, 8 * row)
        crc = zlib.crc32(record[place : place + size])
        struct.pack_into("<I", parts.values, 8 * row + 4, crc)
        place += size


def _entry_of(part: Part, out: bytearray) -> Entry:
    places = []
    for array in (part.first, part.values)[: 1 if part.column.kind == "fixed" else 2]:
        places.append((len(out), len(array), zlib.crc32(array)))
        out += array + bytes(aligned(len(array)) - len(array))
    (offset, size, crc), (values_offset, values_bytes, values_crc) = (*places, (0, 0, 0))[:2]
    return Entry(
        part.role,
        part.column,
        part.count,
        offset,
        size,
        values_offset,
        values_bytes,
        crc,
        values_crc,
    )


def write_number(target: bytearray, place: int, form: str, value: int) -> None:
    """Write a number in this form, cut to its bits; nothing, if it would lie outside."""
    bits = 8 * struct.calcsize(form)
    if 0 <= place <= len(target) - bits // 8:
        struct.pack_into(form, target, place, value % (1 << bits))
