"""A source read from front to back, whatever the number of files it is packed into."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from penstock.packing.items import PackItem, PackSource


class Stream:
    """Ranges of a source's samples; one that follows the last is read on, not opened again.

    Getting to the middle of a tar means reading the half before it, so that matters.
    """

    def __init__(self, source: PackSource) -> None:
        self._source = source
        self._items: Iterator[PackItem] = iter(())
        self._position = -1

    def items(self, start: int, stop: int | None) -> Iterator[PackItem]:
        """Yield the samples from `start` to before `stop`, or to the end."""
        if start != self._position:
            self._items = self._source.items(start)
            self._position = start
        for item in islice(self._items, None if stop is None else stop - start):
            self._position += 1
            yield item
