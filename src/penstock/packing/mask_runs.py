"""Masks of single objects as run lengths: what a file keeps of them (docs/format.md).

They are small, and the core draws them where they are wanted without ever making the whole mask.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import DecodeError
from penstock.geometry import Size
from penstock.limits import too_many_masks

MAGIC = b"RUN1"
_HEADER = struct.Struct("<4sIII")  # MAGIC, masks, height, width
_MOST_BYTES = 5  # of a number: pixels are counted below 2**35


def encode_runs(masks: Iterable[npt.NDArray[np.bool_]], count: int, size: Size) -> bytes:
    """Return `count` masks of `size`; b"" if there are none.

    Takes them one at a time: a hundred masks of a large photo would fill the memory.
    """
    if not count:
        return b""
    runs = [_encode(mask) for mask in masks]
    ends = np.cumsum([len(run) for run in runs]).astype("<u4")
    header = _HEADER.pack(MAGIC, count, size.height, size.width)
    return b"".join([header, ends.tobytes(), *runs])


def are_runs(encoded: Any) -> bool:
    """Whether bytes, or an array of them, are masks as run lengths."""
    return bytes(encoded[:4]) == MAGIC


def read_header(encoded: Any) -> tuple[int, Size]:
    """Return how many masks there are, and their size; DecodeError if that cannot be."""
    start = bytes(encoded[: _HEADER.size])
    if len(start) < _HEADER.size or not are_runs(start):
        raise DecodeError("its masks have no header")
    _, count, height, width = _HEADER.unpack(start)
    if count > (len(encoded) - _HEADER.size) // 4:
        raise DecodeError(f"its {count:,} masks do not fit into {len(encoded):,} bytes")
    return count, Size(height, width)


def decode_runs(encoded: Any) -> npt.NDArray[np.uint8]:
    """Return all masks, (masks, height, width) of 0 and 1. Plain: the core does it faster."""
    count, size = read_header(encoded)
    check_mask_area(count, size)
    masks = np.zeros((count, size.height, size.width), np.uint8)
    for number, mask in enumerate(each_mask(encoded)):
        masks[number] = mask
    return masks


def each_mask(encoded: Any) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield one mask after the other, (height, width) of 0 and 1."""
    count, size = read_header(encoded)
    check_mask_area(count, size)
    for edges in _edges_of_each(encoded):
        mask = np.zeros(size.height * size.width, np.uint8)
        for first, last in edges.reshape(-1, 2).tolist():
            mask[first:last] = 1
        yield mask.reshape(size.height, size.width)


def check_runs(encoded: Any) -> None:
    """Raise DecodeError for masks that cannot be drawn, without drawing them."""
    for _ in _edges_of_each(encoded):
        pass


def check_mask_area(count: int, size: Size) -> None:
    """Raise DecodeError if `count` masks of a size have more pixels together than allowed."""
    problem = too_many_masks(count, size.height, size.width)
    if problem is not None:
        raise DecodeError(problem)


def _edges_of_each(encoded: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield for each mask the pixels where it begins, ends, begins again ..."""
    count, size = read_header(encoded)
    values = np.frombuffer(bytes(encoded), np.uint8)[_HEADER.size :]
    pixels = size.height * size.width
    ends = values[: 4 * count].view("<u4").tolist()
    runs = values[4 * count :]
    if any(start > end for start, end in zip([0, *ends], [*ends, len(runs)], strict=True)):
        raise DecodeError("the ends of its masks are damaged")
    for start, end in zip([0, *ends], ends, strict=False):
        edges = np.cumsum(_numbers(runs[start:end]))
        if len(edges) % 2 or (len(edges) and int(edges[-1]) > pixels):
            raise DecodeError("the run lengths of a mask are damaged")
        yield edges


def _encode(mask: npt.NDArray[np.bool_]) -> bytes:
    edges = np.flatnonzero(np.diff(mask.reshape(-1), prepend=False, append=False))
    lengths = np.diff(edges, prepend=0)
    parts = (lengths[:, None] >> (7 * np.arange(_MOST_BYTES))) & 127
    used = lengths[:, None] >> (7 * np.arange(_MOST_BYTES)) > 0
    used[:, 0] = True
    parts[:, :-1] |= used[:, 1:] * 128
    return parts[used].astype(np.uint8).tobytes()


def _numbers(encoded: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return numbers of 7 bits per byte, the lowest first; the last byte of each is below 128."""
    last = encoded < 128
    if not len(encoded):
        return np.zeros(0, np.int64)
    if not last[-1]:
        raise DecodeError("the run lengths of a mask end in the middle of a number")
    starts = np.flatnonzero(np.concatenate([[True], last[:-1]]))
    places = np.arange(len(encoded)) - np.repeat(starts, np.diff([*starts, len(encoded)]))
    if int(places.max()) >= _MOST_BYTES:
        raise DecodeError("a run length of a mask is too large")
    values = (encoded & 127).astype(np.int64) << (7 * places)
    return np.add.reduceat(values, starts)
