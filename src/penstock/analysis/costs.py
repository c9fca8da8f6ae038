"""What an image costs on its way into a batch, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.analysis.results import OpCost

Kind = Literal["read", "decode", "augment", "collate"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one part costs an image: seconds of computing, and of sleep; for "read" of sleep alone.

    Time in which a thread is ready but without a core counts for nothing.
    """

    kind: Kind
    name: str
    seconds: float
    runs_in: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Costs:
    """All parts, in the order in which they happen.

    `lock_share` is how far Python functions keep the loader's threads from running side by side:
    0 not at all, 1 wholly.
    """

    parts: tuple[Cost, ...]
    lock_share: float = 0.0

    def of(self, *kinds: Kind) -> float:
        """Seconds an image of these kinds."""
        return sum(part.seconds for part in self.parts if part.kind in kinds)

    @property
    def cpu_s(self) -> float:
        """Seconds of computing an image."""
        return self.of("decode", "augment", "collate")

    @property
    def total_s(self) -> float:
        """Seconds an image, one thing after the other."""
        return self.cpu_s + self.of("read")

    @property
    def python_s(self) -> float:
        """Seconds an image in Python functions of the user's own."""
        return sum(part.seconds for part in self.parts if part.runs_in == "Python")

    def slowest(self, kind: Kind) -> Cost | None:
        """Return the part of a kind that costs most."""
        return max(
            (part for part in self.parts if part.kind == kind),
            key=lambda part: part.seconds,
            default=None,
        )

    def without(self, name: str) -> Costs:
        """Return what is left if a part is taken out."""
        return Costs(tuple(part for part in self.parts if part.name != name), self.lock_share)

    def as_op_costs(self) -> tuple[OpCost, ...]:
        """Return the parts that cost anything, for a report."""
        return as_op_costs(self.parts)


def as_op_costs(parts: Sequence[Cost]) -> tuple[OpCost, ...]:
    """Return parts as a report shows them, with their shares of all."""
    total = sum(part.seconds for part in parts) or 1.0
    return tuple(
        OpCost(part.name, part.seconds * 1e6, part.seconds / total, part.runs_in, part.note)
        for part in parts
    )
