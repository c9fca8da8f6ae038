"""Packed files that lie: taken apart, changed, and put together again with all checksums right.

So the changes get past every checksum and reach the code behind: look-ups, columns, decoders.
"""

from __future__ import annotations

import contextlib
import io
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import PIL.Image

from penstock import PackError, pack
from penstock.geometry import Size
from penstock.packing.format import (
    BLOCK,
    BLOCK_COLUMNS,
    DTYPES,
    ENTRY_BYTES,
    HEADER_BYTES,
    KINDS,
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
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, MASKS, Column, PackItem
from penstock.packing.mask_runs import encode_runs
from penstock.packing.parts import Block, Layout, layout_of

OLD = Path(__file__).parents[1] / "tests" / "data" / "format_1" / "old.pen"
# Around what 15 to 64 bits can count, with and without a sign, and around the file's own measures.
_POWERS = [1 << bits for bits in (7, 8, 15, 16, 24, 30, 31, 32, 33, 40, 62, 63, 64)]
NUMBERS = sorted({0, 1, 2, 3, 63, 64, 65} | {p + d for p in _POWERS for d in (-65, -64, -1, 0, 1)})
TEXTS = (
    *("", ".", "..", "/", "a/../../b", "/etc/x", "a\\b", "C:\\x", "con", "a" * 300),
    *("a/" * 200 + "b", "\0", "a\nb", "\x1b[31m", "\u202ea", "ä" * 130, "\u0661"),
    *("0", "-1", "1e9", "9" * 5000),
    *("boxes", "label", "masks", "name", "image", "targets", "image_id", "settings"),
)
_FLOATS = (0.0, -0.0, 1e-45, -1.0, 1e6, 1e9, 1e38, -1e38, float("inf"), -float("inf"), float("nan"))
_DIRECTORY_FIELDS = {  # byte in the entry: format
    **dict.fromkeys((0, 1, 2, 3), "<B"),
    **dict.fromkeys((4, 48, 52, 56, 60, 64, 68), "<I"),
    **dict.fromkeys((8, 16, 24, 32, 40), "<Q"),
    72: "<Q",
}
_TAIL_FIELDS = {
    **dict.fromkeys((0, 16, 24), "<Q"),
    **dict.fromkeys((8, 12, 36), "<I"),
    **dict.fromkeys((32, 34), "<H"),
}
_TILE_FIELDS = {**dict.fromkeys((0, 1, 2, 3, 16, 17, 18, 19, 22, 23, 24, 27), "<B")} | {
    **dict.fromkeys((4, 6, 20, 25), "<H"),
    **dict.fromkeys((8, 12), "<I"),
}


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
        _write(rows.first, 2 * number, "<H", layout.rows)
        _write(around.first, number, "<B", layout.around)
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
        _write(entries, number * ENTRY_BYTES + place, form, value)
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
        _write(tail, place, form, value)
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


def _write(target: bytearray, place: int, form: str, value: int) -> None:
    bits = 8 * struct.calcsize(form)
    if 0 <= place <= len(target) - bits // 8:
        struct.pack_into(form, target, place, value % (1 << bits))


# ---- changes ------------------------------------------------------------------------------------


def _number(rng: random.Random, *near: int) -> int:
    if near and rng.random() < 0.4:
        return rng.choice(near) + rng.choice([-64, -1, 0, 1, 64])
    return rng.choice(NUMBERS) if rng.random() < 0.8 else rng.getrandbits(64)


def _change_fact(rng: random.Random, pen: Pen) -> None:
    """A number of the index."""
    part = rng.choice([p for p in pen.parts if p.role == 0 and p.column.kind == "fixed"])
    width = row_bytes(part.column)
    form = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}.get(width, "<I")  # of a table: one of its numbers
    total = sum(aligned(len(record)) for record in pen.records) + HEADER_BYTES
    step = struct.calcsize(form)
    place = rng.randrange(max(step, part.count * width) // step) * step
    _write(part.first, place, form, _number(rng, total, *map(len, pen.records)))


def _wrap_record(rng: random.Random, pen: Pen) -> None:
    """An offset and a size whose sum wraps around, or nearly."""
    offset, size = pen.part("offset"), pen.part("size")
    if offset is None or size is None or not pen.samples:
        return
    place = 8 * rng.randrange(min(pen.samples, 100))
    bits = rng.choice([31, 32, 63, 64])
    start = _number(rng, HEADER_BYTES)
    _write(offset.first, place, "<Q", start)
    _write(size.first, place, "<Q", (1 << bits) - start + rng.choice([-64, 0, 1, 64, 4096]))


def _change_offsets(rng: random.Random, pen: Pen) -> None:
    """Where a text or a row begins."""
    variable = [p for p in pen.parts if p.column.kind != "fixed" and len(p.first) >= 8]
    if variable:
        part = rng.choice(variable)
        rows = len(part.values) // row_bytes(part.column)
        for _ in range(rng.choice([1, 1, 2])):
            place = 8 * rng.randrange(len(part.first) // 8)
            _write(part.first, place, "<Q", _number(rng, rows, len(part.values)))


def _change_values(rng: random.Random, pen: Pen) -> None:
    """Bytes of a column, or one of its numbers."""
    part = rng.choice(pen.parts)
    target = part.first if part.column.kind == "fixed" else part.values
    if not target:
        return
    dtype = part.column.dtype
    if dtype.startswith("float") and rng.random() < 0.7:
        value = np.array(rng.choice(_FLOATS)).astype(dtype).tobytes()
        place = rng.randrange(len(target) // len(value)) * len(value)
        target[place : place + len(value)] = value
    elif "int" in dtype and rng.random() < 0.7:
        width = np.dtype(dtype).itemsize
        form = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}[width]
        _write(target, rng.randrange(len(target) // width) * width, form, _number(rng))
    else:
        _change_bytes(rng, target)


def _change_parts(rng: random.Random, pen: Pen) -> None:
    """How a record is cut: bytes from one part to another, a part more or less, other rows."""
    parts = pen.part("parts")
    if parts is None or parts.column.kind != "ragged" or not pen.samples:
        return
    rows, number = len(parts.values) // 8, rng.randrange(min(pen.samples, 100))
    kind = rng.random()
    if kind < 0.3 and rows > 1:
        row, moved = rng.randrange(rows - 1), rng.choice([1, 2, 64, 1000])
        for place, change in ((8 * row, -moved), (8 * row + 8, moved)):
            (size,) = struct.unpack_from("<I", parts.values, place)
            _write(parts.values, place, "<I", size + change)
    elif kind < 0.5 and rows:
        size = _number(rng, *map(len, pen.records))
        _write(parts.values, 8 * rng.randrange(rows), "<I", size)
    elif kind < 0.7:
        extra = rng.choice([-1, 1, 2])
        for later in range(number + 1, len(parts.first) // 8):
            (end,) = struct.unpack_from("<Q", parts.first, 8 * later)
            _write(parts.first, 8 * later, "<Q", max(0, end + extra))
        parts.values = parts.values[: 8 * extra] if extra < 0 else parts.values + bytes(8 * extra)
    elif (part_rows := pen.part("part_rows")) is not None and kind < 0.9:
        _write(part_rows.first, 2 * number, "<H", rng.choice([0, 1, 8, 16, 31, 33, 64, 65535]))
    elif (around := pen.part("rows_around")) is not None:
        _write(around.first, number, "<B", rng.choice([0, 1, 2, 8, 255]))


def _change_blocks(rng: random.Random, pen: Pen) -> None:
    """Where a block lies, or how many there are."""
    blocks = pen.block_parts()
    if not blocks:
        return
    count = max(1, len(blocks[0].first) // 8)
    if rng.random() < 0.7:
        part, place = rng.choice(blocks[:3]), 8 * rng.randrange(count)
        near = [sum(aligned(len(record)) for record in pen.records), pen.samples]
        _write(part.first, place, "<Q", _number(rng, *near))
        return
    more = rng.random() < 0.5
    for part in blocks if rng.random() < 0.7 else [rng.choice(blocks)]:
        width = row_bytes(part.column)
        part.first = part.first + part.first[-width:] if more else part.first[:-width]


def _change_texts(rng: random.Random, pen: Pen) -> None:
    """Whole texts, or how many there are."""
    part = rng.choice([p for p in pen.parts if p.column.kind in {"text", "bytes"}] or [None])
    if part is None or part.count > 1000:
        return
    try:
        texts = part.texts()
    except struct.error:
        return
    if part.role == 2 and rng.random() < 0.3:
        texts = texts[:-1] if rng.random() < 0.5 else [*texts, b"more"]
    elif texts:
        text = rng.choice(TEXTS).encode()
        texts[rng.randrange(len(texts))] = rng.choice([text, bytes(rng.randbytes(9)), b"\xff\xfe"])
        if rng.random() < 0.2:
            texts = [texts[0]] * len(texts)
    part.set_texts(texts)


def _change_record(rng: random.Random, pen: Pen) -> None:
    """Bytes of a record, its head above all, or its length."""
    if not pen.records:
        return
    number = rng.randrange(len(pen.records))
    record = bytearray(pen.records[number])
    kind = rng.random()
    if kind < 0.4 and record[:1] == b"\x01":
        place = rng.choice(list(_TILE_FIELDS))
        _write(record, place, _TILE_FIELDS[place], _number(rng, len(record)))
    elif kind < 0.8:
        _change_bytes(rng, record)
    elif kind < 0.9:
        record = bytearray(zlib.compress(bytes(rng.choice([0, 1, 100, 864, 10_000_000]))))
    else:
        record = bytearray(rng.choice(pen.records))
    pen.records[number] = bytes(record)
    restores = pen.part("restores")
    if restores is not None and rng.random() < 0.7:
        _write(restores.first, number, "<B", 1)  # no promise to compare with the original
    if rng.random() < 0.9:
        place_records(pen)


def _change_masks(rng: random.Random, pen: Pen) -> None:
    """The head of run lengths, their ends, or the runs."""
    part = pen.part("masks")
    if part is None or part.column.kind == "fixed":
        return
    texts = part.texts()
    full = [number for number, text in enumerate(texts) if text]
    if not full:
        return
    number = rng.choice(full)
    mask = bytearray(texts[number])
    if rng.random() < 0.6:
        _write(mask, rng.choice([0, 4, 8, 12, 16, 20, 24]), "<I", _number(rng, len(mask)))
    else:
        _change_bytes(rng, mask)
    texts[number] = bytes(mask)
    part.set_texts(texts)


def _change_column(rng: random.Random, pen: Pen) -> None:
    """What a column is; its arrays are made to fit."""
    # The file's own are rarely touched, since a file with others of them does not open at all.
    others = [part for part in pen.parts if part.role > 0]
    part = rng.choice(others if others and rng.random() < 0.95 else pen.parts)
    old = part.column
    kind = rng.choice(KINDS)
    dtype = "" if kind in {"text", "bytes"} else rng.choice(DTYPES[1:])
    shape = ()
    if dtype:
        shape = rng.choice([(), (1,), (2,), (4,), (1, 3), (2, 3), (3, 2), (2, 2, 2, 2), old.shape])
    part.column = Column(old.name, kind, dtype, shape)
    count, unit = part.count if part.role == 2 else min(pen.samples, 100), row_bytes(part.column)
    if kind == "fixed":
        whole = bytes(part.first + part.values).ljust(count * unit, b"\1")
        part.first, part.values = bytearray(whole[: count * unit]), bytearray()
    elif old.kind == "fixed":
        part.values = bytearray(part.first[: len(part.first) // unit * unit])
        rows = len(part.values) // unit
        ends = [rows * number // max(1, count) for number in range(count + 1)]
        part.first = bytearray(struct.pack(f"<{count + 1}Q", *ends))
    else:
        del part.values[len(part.values) // unit * unit :]


def _change_set(rng: random.Random, pen: Pen) -> None:
    """Which columns there are, their names and their order."""
    number = rng.randrange(len(pen.parts))
    if rng.random() < 0.8:
        number = max(number, rng.randrange(len(pen.parts)))  # the file's own come first
    part = pen.parts[number]
    kind = rng.random()
    if kind < 0.3:
        del pen.parts[number]
    elif kind < 0.5:
        pen.parts.insert(number, Part(part.role, part.column, part.first[:], part.values[:]))
    elif kind < 0.8:
        old = part.column
        name = rng.choice([*(t for t in TEXTS if t.encode()[:121] == t.encode()), "box_labels"])
        part.column = Column(name[:60], old.kind, old.dtype, old.shape)
    elif kind < 0.9:
        part.role = rng.randrange(4)
    else:
        rng.shuffle(pen.parts)


def _change_count(rng: random.Random, pen: Pen) -> None:
    """How many samples there are, in the tail alone or everywhere."""
    if rng.random() < 0.2:
        pen.version = rng.choice([1, 2, 3])
        return
    if rng.random() < 0.5:
        pen.samples = max(0, min(_number(rng, pen.samples), (1 << 64) - 1))
        return
    kept = rng.randrange(min(pen.samples, 100) + 1)
    pen.samples = kept
    for part in pen.parts:
        if part.role >= 2:
            continue
        if part.column.kind == "fixed":
            del part.first[kept * row_bytes(part.column) :]
        else:
            del part.first[8 * kept + 8 :]
    if rng.random() < 0.7:
        del pen.records[kept:]


def _lie_in_directory(rng: random.Random, pen: Pen) -> None:
    """A field of the directory."""
    place, form = rng.choice(list(_DIRECTORY_FIELDS.items()))
    small = form == "<B" and rng.random() < 0.8
    value = rng.randrange(14) if small else _number(rng, pen.samples)
    pen.entry_lies.append((rng.randrange(len(pen.parts)), place, form, value))


def _lie_in_tail(rng: random.Random, pen: Pen) -> None:
    """A field of the tail."""
    place, form = rng.choice(list(_TAIL_FIELDS.items()))
    pen.tail_lies.append((place, form, _number(rng, pen.samples)))


def _change_bytes(rng: random.Random, target: bytearray) -> None:
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        if not target:
            return
        place = rng.randrange(len(target))
        if rng.random() < 0.5:
            place = min(place, rng.randrange(64))
        kind = rng.random()
        if kind < 0.75:
            target[place] = rng.choice([0, 1, 127, 128, 255, target[place] ^ 1 << rng.randrange(8)])
        elif kind < 0.85:
            del target[place : place + rng.randrange(1, 64)]
        elif kind < 0.95:
            target[place:place] = target[place : place + rng.randrange(1, 64)]
        else:
            del target[place:]


CHANGES: dict[Callable[[random.Random, Pen], None], int] = {
    _change_fact: 12,
    _wrap_record: 5,
    _change_offsets: 10,
    _change_values: 12,
    _change_parts: 8,
    _change_blocks: 5,
    _change_texts: 8,
    _change_record: 25,
    _change_masks: 6,
    _change_column: 8,
    _change_set: 4,
    _change_count: 3,
    _lie_in_directory: 5,
    _lie_in_tail: 2,
}


def mutant(seeds: list[bytes], seed: int, number: int) -> bytes:
    """Return mutant `number` of a seed: always the same one."""
    rng = random.Random(f"{seed}:{number}")
    data = rng.choice(seeds)
    if rng.random() < 0.03:  # somebody's disk, not somebody's intent
        damaged = bytearray(data)
        _change_bytes(rng, damaged)
        return bytes(damaged)
    pen = take_apart(data)
    pen.keeps_crcs = rng.random() < 0.05
    for change in rng.choices(
        list(CHANGES), list(CHANGES.values()), k=rng.choice([1, 1, 1, 2, 2, 3, 5])
    ):
        if pen.parts:
            # The changes before may have left nothing for this one.
            with contextlib.suppress(struct.error, ValueError, IndexError):
                change(rng, pen)
    try:
        return put_together(pen)
    except (struct.error, OverflowError):
        return data


# ---- what is changed ----------------------------------------------------------------------------


class _Listed:
    """Items in a list, as a source to pack."""

    def __init__(
        self, columns: tuple[Column, ...], items: list[PackItem], **tables: object
    ) -> None:
        self.columns = columns
        self._items = items
        self.length = len(items)
        self.classes = tables.get("classes")
        self.box_classes = tables.get("box_classes")

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples."""
        return iter(self._items[start:])

    def describe(self) -> str:
        """Return one line for people."""
        return "seed"


_DEFLATED = 2  # even and not tiny, so that it is stored as a zlib stream
_IMAGES = (
    ("jpg", "RGB", {"quality": 90}),
    ("jpg", "L", {}),
    ("png", "RGB", {}),
    ("jpg", "RGB", {"progressive": True, "subsampling": 1}),
    ("jpg", "CMYK", {}),
    ("png", "P", {}),
)


def _image(rng: np.random.Generator, number: int, height: int, width: int) -> tuple[str, bytes]:
    suffix, mode, options = _IMAGES[number % len(_IMAGES)]
    pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    if number == _DEFLATED:
        pixels[:] = 7
    file = io.BytesIO()
    kind = "JPEG" if suffix == "jpg" else "PNG"
    PIL.Image.fromarray(pixels).convert(mode).save(file, kind, **options)
    return f"{number}.{suffix}", file.getvalue()


def _png(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    PIL.Image.fromarray(values).save(file, "PNG")
    return file.getvalue()


def _values(rng: np.random.Generator, number: int, height: int, width: int) -> dict[str, object]:
    objects = number % 4
    corners = np.sort(rng.random((objects, 2, 2)), axis=1).reshape(-1, 4)
    masks = [rng.random((height, width)) > 0.6 for _ in range(objects)]
    return {
        "label": number % 3,
        "boxes": (corners * [width, height, width, height]).astype(np.float32),
        "box_labels": rng.integers(0, 2, objects),
        "keypoints": rng.random((objects, 2, 3)).astype(np.float32) * 9,
        "masks": encode_runs(masks, objects, Size(height, width)),
        "image_id": number * 10,
        "area": rng.random(objects),
        "remark": f"r{number}",
        "blob": bytes(rng.bytes(number)),
        "vector": rng.random(3).astype(np.float16),
    }


def seed_files(folder: Path) -> list[bytes]:
    """Pack a few tiny images of every storage, with every kind of column that loaders know.

    The last file is one of version 1.
    """
    rng = np.random.default_rng(0)
    keypoints = Column("keypoints", "ragged", "float32", (2, 3))
    image_id, area = Column("image_id", "fixed", "int64"), Column("area", "ragged", "float64")
    remark, blob = Column("remark", "text"), Column("blob", "bytes")
    vector = Column("vector", "fixed", "float16", (3,))
    sets = {
        "labels": ((LABEL, remark, blob, vector), {"classes": ("a", "b", "c")}),
        "objects": ((BOXES, BOX_LABELS, MASKS, image_id, area), {"box_classes": ("x", "y")}),
        "points": ((keypoints, MASKS, LABEL, area), {}),
        "old masks": ((BOXES, MASKS), {}),
        "segments": ((MASKS, remark), {"classes": ("a", "b")}),
        "plain": ((), {}),
    }
    files = []
    for name, (columns, tables) in sets.items():
        items = []
        for number in range(6):
            height, width = (75, 80) if number == _DEFLATED else (9 + 5 * number, 24 + number)
            values = _values(rng, number, height, width)
            if name == "segments":
                values["masks"] = _png(rng.integers(0, 2, (height, width), dtype=np.uint8))
            if name == "old masks":
                rows = height * len(values["boxes"])
                stack = rng.integers(0, 2, (rows, width), dtype=np.uint8)
                values["masks"] = _png(stack) if rows else b""
            wanted = {column.name: values[column.name] for column in columns}
            items.append(PackItem(*_image(rng, number, height, width), wanted))
        target = folder / f"{name}.pen"
        pack(_Listed(columns, items, **tables), target, progress=False)
        files.append(target.read_bytes())
    return [*files, OLD.read_bytes()]
