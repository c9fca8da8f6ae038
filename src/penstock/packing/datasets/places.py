"""Where the samples of a data set begin in files that hold many of them."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator


class Places:
    """The byte at which each sample begins, file by file; 8 bytes of memory per sample."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._firsts = array("q")  # the number of each file's first sample

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, file: int, start: int) -> None:
        """Note the next sample; files come in their order, and some may have no sample."""
        while len(self._firsts) <= file:
            self._firsts.append(len(self._starts))
        self._starts.append(start)

    def runs(self, sample: int) -> Iterator[tuple[int, int, int]]:
        """Yield where to begin to read all samples from one on, file by file.

        That is the file, the number of the sample in it, and the byte at which that begins.
        """
        for file in range(max(0, bisect_right(self._firsts, sample) - 1), len(self._firsts)):
            last = file == len(self._firsts) - 1
            end = len(self._starts) if last else self._firsts[file + 1]
            begin = max(self._firsts[file], sample)
            if begin < end:
                yield file, begin - self._firsts[file], self._starts[begin]
