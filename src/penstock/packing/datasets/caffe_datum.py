"""Caffe's Datum: one image, as pixels or as a file, and its label."""

from __future__ import annotations

from typing import NamedTuple

from penstock.errors import SourceError
from penstock.packing.datasets.protobuf import fields, packed_varints, submessage

CHANNELS, HEIGHT, WIDTH, DATA, LABEL, FLOAT_DATA, ENCODED = range(1, 8)


class Datum(NamedTuple):
    """The message, without its float_data."""

    channels: int
    height: int
    width: int
    data: memoryview
    label: int | None
    encoded: bool


def parse_datum(value: bytes, where: str) -> Datum:
    """Read a Datum, or raise if this cannot be one."""
    numbers = dict.fromkeys((CHANNELS, HEIGHT, WIDTH, LABEL, ENCODED), 0)
    data, labelled = memoryview(b""), False
    if value[:1] == b"\x80":
        raise SourceError(
            f"{where}: a pickled value. Pickle can run any program, so it is never read; "
            "store encoded images or Caffe Datum instead."
        )
    for number, content in fields(memoryview(value), where):
        if number in numbers and isinstance(content, int):
            numbers[number] = packed_varints(content, where)[0]
            labelled = labelled or number == LABEL
        elif number == DATA:
            data = submessage(content, where)
        elif number == FLOAT_DATA:
            raise SourceError(f"{where}: pixels are floats; only 8-bit images are read.")
        else:
            raise SourceError(f"{where}: neither an encoded image nor a Caffe Datum.")
    return Datum(
        numbers[CHANNELS],
        numbers[HEIGHT],
        numbers[WIDTH],
        data,
        numbers[LABEL] if labelled else None,
        bool(numbers[ENCODED]),
    )
