"""Protocol buffers: their wire format, and tf.train.Example.

Only what small messages of a known form need is read.
Values are views into the record: the image in it is not copied until it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.packing.datasets.files import check_limit

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT_BYTES = 10
BYTES_LIST, FLOAT_LIST, INT64_LIST = 1, 2, 3


def fields(message: memoryview, where: str) -> Iterator[tuple[int, int | memoryview]]:
    """Yield number and value of each field: an integer for a varint, else its bytes."""
    position = count = 0
    while position < len(message):
        count += 1
        check_limit("nodes", count, f"{where}: too many fields", counting=True)
        tag, position = _varint(message, position, where)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == VARINT:
            value, position = _varint(message, position, where)
            yield number, value
            continue
        if wire_type == BYTES:
            length, position = _varint(message, position, where)
        elif wire_type in {FIXED32, FIXED64}:
            length = 4 if wire_type == FIXED32 else 8
        else:
            raise SourceError(f"{where}: unknown wire type {wire_type}; the record is damaged.")
        if length > len(message) - position:
            raise SourceError(
                f"{where}: a field of {length:,} bytes, but {len(message) - position:,} are left. "
                "The record is damaged."
            )
        yield number, message[position : position + length]
        position += length


def submessage(value: int | memoryview, where: str) -> memoryview:
    """Return a field that must be bytes or a message."""
    if isinstance(value, int):
        raise SourceError(f"{where}: a number where bytes were expected; the record is damaged.")
    return value


def packed_varints(value: int | memoryview, where: str) -> list[int]:
    """Return signed 64-bit integers, written one per field or many in one."""
    if isinstance(value, int):
        return [_signed(value)]
    # As many numbers as there are bytes that end one.
    count = int(np.count_nonzero(np.frombuffer(value, np.uint8) < 128))
    check_limit("nodes", count, f"{where}: {count:,} numbers")
    numbers, position = [], 0
    while position < len(value):
        number, position = _varint(value, position, where)
        numbers.append(_signed(number))
    return numbers


def packed_floats(value: int | memoryview, where: str) -> npt.NDArray[np.float32]:
    """Return 32-bit floats, written one per field or many in one."""
    if isinstance(value, int) or len(value) % 4:
        raise SourceError(f"{where}: not a list of 32-bit floats; the record is damaged.")
    return np.frombuffer(value, "<f4").astype(np.float32)


def _varint(message: memoryview, position: int, where: str) -> tuple[int, int]:
    value = 0
    for count, byte in enumerate(message[position : position + LONGEST_VARINT_BYTES]):
        value |= (byte & 127) << (7 * count)
        if byte < 128:
            return value, position + count + 1
    raise SourceError(f"{where}: a number does not end; the record is damaged.")


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


class Feature(NamedTuple):
    """One of the three lists; the others are empty."""

    kind: int  # BYTES_LIST, FLOAT_LIST, INT64_LIST, or 0 for a feature without a value
    blobs: list[memoryview]
    floats: npt.NDArray[np.float32]
    integers: list[int]


Example = dict[str, Feature]
_NO_FLOATS = np.zeros(0, np.float32)
NO_FEATURE = Feature(0, [], _NO_FLOATS, [])


def parse_example(record: memoryview, where: str) -> Example:
    """Read the features of one record."""
    example: Example = {}
    for number, features in fields(record, where):
        if number != 1:
            continue
        for entry_number, entry in fields(submessage(features, where), where):
            if entry_number == 1:
                name, feature = _entry(submessage(entry, where), where)
                example[name] = feature
    return example


def _entry(entry: memoryview, where: str) -> tuple[str, Feature]:
    name, feature = "", NO_FEATURE
    for number, value in fields(entry, where):
        if number == 1:
            name = str(submessage(value, where), "utf-8", "replace")
        elif number == 2:
            feature = _feature(submessage(value, where), where)
    return name, feature


def _feature(message: memoryview, where: str) -> Feature:
    for kind, values in fields(message, where):
        items = [v for n, v in fields(submessage(values, where), where) if n == 1]
        if kind == BYTES_LIST:
            return Feature(kind, [submessage(item, where) for item in items], _NO_FLOATS, [])
        if kind == FLOAT_LIST:
            floats = [packed_floats(item, where) for item in items]
            return Feature(kind, [], np.concatenate([_NO_FLOATS, *floats]), [])
        if kind == INT64_LIST:
            integers = [i for item in items for i in packed_varints(item, where)]
            return Feature(kind, [], _NO_FLOATS, integers)
        raise SourceError(f"{where}: a feature of unknown kind {kind}; the record is damaged.")
    return NO_FEATURE
