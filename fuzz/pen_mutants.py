"""Packed files that lie: taken apart, changed, and put together again with all checksums right.

So the changes get past every checksum and reach the code behind: look-ups, columns, decoders.
"""

from __future__ import annotations

import contextlib
import random
import struct
import zlib
from collections.abc import Callable

import numpy as np
from pen_pieces import Part, Pen, place_records, put_together, take_apart, write_number

from penstock.packing.format import (
    DTYPES,
    HEADER_BYTES,
    KINDS,
    aligned,
    row_bytes,
)
from penstock.packing.items import Column

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
    write_number(part.first, place, form, _number(rng, total, *map(len, pen.records)))


def _wrap_record(rng: random.Random, pen: Pen) -> None:
    """An offset and a size whose sum wraps around, or nearly."""
    offset, size = pen.part("offset"), pen.part("size")
    if offset is None or size is None or not pen.samples:
        return
    place = 8 * rng.randrange(min(pen.samples, 100))
    bits = rng.choice([31, 32, 63, 64])
    start = _number(rng, HEADER_BYTES)
    write_number(offset.first, place, "<Q", start)
    write_number(size.first, place, "<Q", (1 << bits) - start + rng.choice([-64, 0, 1, 64, 4096]))


def _change_offsets(rng: random.Random, pen: Pen) -> None:
    """Where a text or a row begins."""
    variable = [p for p in pen.parts if p.column.kind != "fixed" and len(p.first) >= 8]
    if variable:
        part = rng.choice(variable)
        rows = len(part.values) // row_bytes(part.column)
        for _ in range(rng.choice([1, 1, 2])):
            place = 8 * rng.randrange(len(part.first) // 8)
            write_number(part.first, place, "<Q", _number(rng, rows, len(part.values)))


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
        write_number(target, rng.randrange(len(target) // width) * width, form, _number(rng))
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
            write_number(parts.values, place, "<I", size + change)
    elif kind < 0.5 and rows:
        size = _number(rng, *map(len, pen.records))
        write_number(parts.values, 8 * rng.randrange(rows), "<I", size)
    elif kind < 0.7:
        extra = rng.choice([-1, 1, 2])
        for later in range(number + 1, len(parts.first) // 8):
            (end,) = struct.unpack_from("<Q", parts.first, 8 * later)
            write_number(parts.first, 8 * later, "<Q", max(0, end + extra))
        parts.values = parts.values[: 8 * extra] if extra < 0 else parts.values + bytes(8 * extra)
    elif (part_rows := pen.part("part_rows")) is not None and kind < 0.9:
        write_number(
            part_rows.first, 2 * number, "<H", rng.choice([0, 1, 8, 16, 31, 33, 64, 65535])
        )
    elif (around := pen.part("rows_around")) is not None:
        write_number(around.first, number, "<B", rng.choice([0, 1, 2, 8, 255]))


def _change_blocks(rng: random.Random, pen: Pen) -> None:
    """Where a block lies, or how many there are."""
    blocks = pen.block_parts()
    if not blocks:
        return
    count = max(1, len(blocks[0].first) // 8)
    if rng.random() < 0.7:
        part, place = rng.choice(blocks[:3]), 8 * rng.randrange(count)
        near = [sum(aligned(len(record)) for record in pen.records), pen.samples]
        write_number(part.first, place, "<Q", _number(rng, *near))
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
        write_number(record, place, _TILE_FIELDS[place], _number(rng, len(record)))
    elif kind < 0.8:
        _change_bytes(rng, record)
    elif kind < 0.9:
        record = bytearray(zlib.compress(bytes(rng.choice([0, 1, 100, 864, 10_000_000]))))
    else:
        record = bytearray(rng.choice(pen.records))
    pen.records[number] = bytes(record)
    restores = pen.part("restores")
    if restores is not None and rng.random() < 0.7:
        write_number(restores.first, number, "<B", 1)  # no promise to compare with the original
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
        write_number(mask, rng.choice([0, 4, 8, 12, 16, 20, 24]), "<I", _number(rng, len(mask)))
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
