"""Iterators that are not to be ended after a pass, since starting them again takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Endless:
    """Cuts an endless iterator into passes of `images`.

    What it has prepared when a turn begins was not made in that turn: `before_turn` throws so many
    batches away, before the clock starts.
    """

    def __init__(self, make: Callable[[], Iterator[Any]], images: int, ahead: int) -> None:
        self._make, self._images, self._ahead = make, images, ahead
        self._iterator: Iterator[Any] | None = None

    def before_turn(self) -> None:
        """Take what is ready, as whole passes continue to begin where a pass begins."""
        if self._iterator is not None:
            taken = 0
            while taken < self._ahead:
                taken += sum(1 for _ in self)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        if self._iterator is None:
            self._iterator = self._make()
        seen = 0
        while seen < self._images:
            images, labels = next(self._iterator)
            seen += len(labels)
            yield images, labels
