"""Counts what a soak did, and tells it: a line now and then, a table at the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

MOST_TOLD = 20  # failures whose text is printed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one configuration."""

    number: int
    kind: str
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    refused: bool
    children: int
    peak_mb: float
    seconds: float


@dataclass(slots=True)
class Results:
    """What came of all of them."""

    seed: int
    options: str = ""  # without which a number means another configuration
    outcomes: list[Outcome] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # kinds that cannot run here, and why

    @property
    def failed(self) -> list[Outcome]:
        """The outcomes with failures."""
        return [outcome for outcome in self.outcomes if outcome.failures]

    def command(self, outcome: Outcome) -> str:
        """Return the line that repeats a configuration."""
        again = f"--seed {self.seed}{self.options} --number {outcome.number} --repeat 5"
        return f'make soak ARGS="{again}"'

    def progress(self, seconds: float) -> str:
        """Return one line: how far, and how it goes."""
        kinds = Counter(outcome.kind for outcome in self.outcomes)
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        return (
            f"soak: {seconds:5.0f} s, {len(self.outcomes):,} configurations, "
            f"{len(self.failed)} failed ({counts})"
        )

    def table(self, seconds: float) -> str:
        """Return the table of the end, and a line for each failure that repeats it."""
        rows: list[tuple[str, ...]] = [("kind", "runs", "refused", "failed", "worst MB", "seconds")]
        kinds = sorted({outcome.kind for outcome in self.outcomes})
        rows += [(kind, *_row([o for o in self.outcomes if o.kind == kind])) for kind in kinds]
        rows.append(("all", *_row(self.outcomes)))
        lines = [f"{row[0]:<14}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows]
        lines += [f"left out: {kind}: {why}" for kind, why in sorted(self.left_out.items())]
        lines.append(f"seed {self.seed}, {seconds:.0f} s")
        for outcome in self.failed[:MOST_TOLD]:
            lines += ["", f"FAILED {outcome.kind}: {self.command(outcome)}"]
            lines += [f"  {line}" for note in outcome.notes for line in note.splitlines()]
            lines += [f"  {line}" for text in outcome.failures for line in text.splitlines()]
        for outcome in self.failed[MOST_TOLD:]:
            lines.append(f"FAILED {outcome.kind}: {self.command(outcome)}")
        return "\n".join(lines)

    def to_dict(self, seconds: float) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "seed": self.seed,
            "seconds": round(seconds, 1),
            "configurations": len(self.outcomes),
            "kinds": dict(Counter(outcome.kind for outcome in self.outcomes)),
            "refused": sum(outcome.refused for outcome in self.outcomes),
            "children": sum(outcome.children for outcome in self.outcomes),
            "worst_mb": round(max((o.peak_mb for o in self.outcomes), default=0.0), 1),
            "left_out": self.left_out,
            "failed": [
                {**asdict(outcome), "command": self.command(outcome)} for outcome in self.failed
            ],
        }


def _row(outcomes: list[Outcome]) -> tuple[str, ...]:
    return (
        f"{len(outcomes):,}",
        f"{sum(outcome.refused for outcome in outcomes):,}",
        f"{sum(bool(outcome.failures) for outcome in outcomes):,}",
        f"{max((outcome.peak_mb for outcome in outcomes), default=0):,.0f}",
        f"{sum(outcome.seconds for outcome in outcomes):,.0f}",
    )
