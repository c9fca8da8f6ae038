"""Files that are damaged or odd: what is done about them, and the ledger that lists them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from penstock.errors import DecodeError
from penstock.geometry import Ints
from penstock.loading.batch import Part
from penstock.printable import printable
from penstock.sources import Source

# More bad neighbours in a row than this mean that the data set, not a file, is broken.
MOST_SUBSTITUTIONS = 100

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
    Pillow, with what Pillow had to say about it), `substituted` (another sample replaces it),
    `skipped` (left out of its batch).
    With the first two, pixels are exactly those of the fast path; they only take longer.
    """

    def __init__(self, length: int, name_of: Callable[[int], str]) -> None:
        self._name_of = name_of
        self._lock = threading.Lock()
        # Four bytes per sample; pages that are never touched cost nothing.
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
        """Return how many files each event happened to."""
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


class Failures:
    """What is done about files that cannot be used.

    Only samples that may take part in an epoch replace others: `allowed`, in ascending order;
    None allows the whole data set.
    """

    def __init__(
        self, on_error: str, source: Source, ledger: Ledger, allowed: Ints | None = None
    ) -> None:
        self.ledger = ledger
        self._on_error = on_error
        self._source = source
        self._allowed = allowed

    def handle(self, part: Part, failed: dict[int, str]) -> Part | None:
        """Apply the policy to the samples in `failed` (position: reason).

        Returns the part that must be run again with other samples in their places, if any.
        """
        if not failed:
            return None
        if self._on_error == "raise":
            position = min(failed)
            name = self._source.name(int(part.samples[position]))
            raise DecodeError(
                f"{name}: {failed[position]}. "
                "Use on_error='skip' or 'substitute' (--on-error) to go on without such files."
            )
        positions = np.array(sorted(failed), dtype=np.int64)
        event = "skipped" if self._on_error == "skip" else "substituted"
        for position in positions.tolist():
            self.ledger.note(int(part.samples[position]), event, failed[position])
        if self._on_error == "skip":
            part.batch.leave_out(part.slots[positions])
            return None
        return self._neighbours(part.pick(positions))

    def _neighbours(self, part: Part) -> Part:
        length = len(self._source if self._allowed is None else self._allowed)
        if part.attempt + 1 >= min(MOST_SUBSTITUTIONS, length):
            name = self._source.name(int(part.samples[0]))
            raise DecodeError(
                f"{name}: it and the {part.attempt} samples before it cannot be decoded, so there "
                "is nothing to substitute. Check the data set, or use on_error='skip' "
                "(--on-error skip)."
            )
        if self._allowed is None:
            samples = (part.samples + 1) % length
        else:
            behind = np.searchsorted(self._allowed, part.samples, side="right")
            samples = self._allowed[behind % length]
        part.batch.samples[part.slots] = samples
        return replace(part, samples=samples, attempt=part.attempt + 1, stretch=None)
