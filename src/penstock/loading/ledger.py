"""A loader's ledger: every file that did not take the straight path, and why."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from penstock.printable import printable

# Later ones are graver; a file is listed under the gravest thing that happened to it.
EVENTS = ("libjpeg", "pillow", "substituted", "skipped")


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One file that was decoded the slow way, replaced or left out."""

    sample: int
    file: str
    event: str
    reason: str

    def __str__(self) -> str:
        return printable(f"{self.file}: {self.event} ({self.reason})")


class Ledger:
    """What happened to which file; the same after every epoch over the same data.

    Events: `libjpeg` (decoded by libjpeg-turbo instead of our own decoder), `pillow` (decoded by
    Pillow, with what Pillow had to say about it), `substituted` (another sample stands in),
    `skipped` (left out of its batch).
    Pixels of the first two are exactly those of the straight path; they only cost more.
    """

    def __init__(self, length: int, name_of: Callable[[int], str]) -> None:
        self._name_of = name_of
        self._lock = threading.Lock()
        # Four bytes a sample of which untouched pages cost nothing, however many samples there are.
        self._codes = np.zeros(length, dtype=np.int32)
        self._kinds: list[tuple[str, str]] = []
        self._code_of: dict[tuple[str, str], int] = {}

    def note(self, sample: int, event: str, reason: str) -> None:
        """Record that `event` happened to a sample."""
        with self._lock:
            code = self._code_of.get((event, reason))
            if code is None:
                self._kinds.append((event, reason))
                code = self._code_of[event, reason] = len(self._kinds)
            known = int(self._codes[sample])
            if known and EVENTS.index(self._kinds[known - 1][0]) > EVENTS.index(event):
                return
            self._codes[sample] = code

    def __iter__(self) -> Iterator[LedgerEntry]:
        with self._lock:
            samples = np.flatnonzero(self._codes)
            kinds = [self._kinds[code - 1] for code in self._codes[samples]]
        for sample, (event, reason) in zip(samples.tolist(), kinds, strict=True):
            yield LedgerEntry(sample, self._name_of(sample), event, reason)

    def __len__(self) -> int:
        return int(np.count_nonzero(self._codes))

    def counts(self) -> dict[str, int]:
        """How many files each event befell."""
        with self._lock:
            codes, numbers = np.unique(self._codes[self._codes > 0], return_counts=True)
            counter: Counter[str] = Counter()
            for code, number in zip(codes.tolist(), numbers.tolist(), strict=True):
                counter[self._kinds[code - 1][0]] += number
        return {event: counter[event] for event in EVENTS if counter[event]}

    def __str__(self) -> str:
        if not len(self):
            return "Ledger: every file took the straight path."
        return "\n".join(str(entry) for entry in self)

    def __repr__(self) -> str:
        return f"Ledger({self.counts()})"
