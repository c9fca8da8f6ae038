"""Paths of very many files in little memory.

A million Python strings take some 100 MB and a million reference counts;
here they are one block of bytes and one array of offsets,
and only the paths a batch asks for become strings.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from penstock.geometry import Ints


@dataclass(frozen=True, slots=True, eq=False)
class PathTable:
    """An immutable list of paths: path i is `blob[offsets[i]:offsets[i + 1]]`."""

    blob: bytes  # the paths as the file system spells them, end to end
    offsets: Ints  # one more than there are paths; starts with 0, never falls

    def __post_init__(self) -> None:
        offsets, blob = self.offsets, self.blob
        if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
            raise ValueError(f"PathTable: offsets must be a row of int64, got {offsets.dtype}.")
        if offsets[0] != 0 or offsets[-1] != len(blob) or np.any(np.diff(offsets) < 0):
            raise ValueError(f"PathTable: offsets must rise from 0 to {len(blob)}.")

    @classmethod
    def from_paths(cls, paths: Iterable[str | bytes]) -> PathTable:
        """Take the paths one at a time, so that an iterator of any length will do."""
        blob = bytearray()
        ends = array("q", [0])
        for path in paths:
            blob += os.fsencode(path)
            ends.append(len(blob))
        return cls(bytes(blob), np.array(ends, np.int64))

    @classmethod
    def from_blocks(cls, blocks: Iterable[bytes], lengths: Iterable[array[int]]) -> PathTable:
        """Join blocks of paths that are already end to end, given each path's length in bytes."""
        parts = [np.frombuffer(part, np.int64) for part in lengths]
        offsets = np.concatenate([np.zeros(1, np.int64), *parts])
        return cls(b"".join(blocks), np.cumsum(offsets, out=offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return self.at(np.array([index], np.int64))[0]

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def at(self, indices: Ints) -> list[str]:
        """Return the paths at `indices`, which may repeat and come in any order."""
        if len(indices) and (indices.min() < 0 or indices.max() >= len(self)):
            wrong = indices[(indices < 0) | (indices >= len(self))][0]
            raise IndexError(f"index {wrong} is out of range: there are {len(self)} paths.")
        starts = self.offsets[indices].tolist()
        ends = self.offsets[indices + 1].tolist()
        blob = self.blob
        return [os.fsdecode(blob[start:end]) for start, end in zip(starts, ends, strict=True)]
