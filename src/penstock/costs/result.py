"""What profiling found: for the terminal and JSON alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from penstock.results.records import OpCost

BAR_WIDTH = 20
MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one line of the user's code costs a sample."""

    file: str
    line: int
    code: str
    runs: float  # per sample
    microseconds: float
    share: float  # of its function


@dataclass(frozen=True, slots=True)
class Profile:
    """What was found of a Dataset or a transform."""

    what: str
    samples: int
    microseconds: float  # of a sample, all in all
    ops: tuple[OpCost, ...]
    slowest_files: tuple[tuple[str, float], ...] = ()  # name, milliseconds
    lines_of_code: tuple[LineCost, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield the profile as lines of text."""
        rate = f", {1e6 / self.microseconds:,.0f} a second on one core" if self.microseconds else ""
        yield f"{self.what}: {self.microseconds:,.1f} us a sample{rate} ({self.samples} samples)"
        yield ""
        width = max((len(op.name) for op in self.ops), default=0)
        for op in self.ops:
            bar = "#" * round(op.share * BAR_WIDTH)
            note = f"  {op.note}" if op.note else ""
            yield (
                f"  {op.name:<{width}}  {op.microseconds:>10,.1f} us  {op.share:>4.0%}  "
                f"{bar:<{BAR_WIDTH}}  {op.runs_in}{note}"
            )
        if self.slowest_files:
            yield ""
            yield "slowest files"
            for name, milliseconds in self.slowest_files:
                yield f"  {milliseconds:>8,.2f} ms  {name}"
        if self.lines_of_code:
            yield from self._costly_lines()

    def _costly_lines(self) -> Iterator[str]:
        yield ""
        yield "costliest lines"
        costly = sorted(self.lines_of_code, key=lambda line: -line.microseconds)[:MOST_LINES]
        places = [f"{line.file}:{line.line}" for line in costly]
        width = max(map(len, places))
        for place, line in zip(places, costly, strict=True):
            yield (
                f"  {place:<{width}}  {line.microseconds:>10,.1f} us  {line.share:>4.0%}  "
                f"{line.code}"
            )
