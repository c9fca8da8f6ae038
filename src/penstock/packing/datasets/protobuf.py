"""The wire format of protocol buffers, as far as small messages of known form need it.

Values are views into the record: the image in it is not copied until it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT_BYTES = 10


def fields(message: memoryview, where: str) -> Iterator[tuple[int, int | memoryview]]:
    """Yield number and value of each field: an integer for a varint, else its bytes."""
    position = count = 0
    while position < len(message):
        count += 1
        if beyond("nodes", count):
            raise SourceError(f"{where}: too many fields. {how_to_allow('nodes')}.")
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
    """Return signed 64-bit integers, written one a field or many in one."""
    if isinstance(value, int):
        return [_signed(value)]
    # As many numbers as there are bytes that end one.
    count = int(np.count_nonzero(np.frombuffer(value, np.uint8) < 128))
    if beyond("nodes", count):
        raise SourceError(f"{where}: {count:,} numbers. {how_to_allow('nodes', count)}.")
    numbers, position = [], 0
    while position < len(value):
        number, position = _varint(value, position, where)
        numbers.append(_signed(number))
    return numbers


def packed_floats(value: int | memoryview, where: str) -> npt.NDArray[np.float32]:
    """Return 32-bit floats, written one a field or many in one."""
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
