"""What came out of one case, to be printed, and kept as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.memory import Memory
from benchmarks.runner import Measured, Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """The figures of a case, with all that a reader must know of how they came about."""

    name: str
    title: str
    question: str
    setting: str
    different_photos: int
    machine: str
    outcome: Outcome = field(default_factory=lambda: Outcome([], {}))
    scale: list[dict[str, Any]] = field(default_factory=list)  # a row for each size of data set
    rows: list[list[str]] = field(default_factory=list)  # a table that is made elsewhere
    command: str = ""

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> Answer:
        """Return what `dataclasses.asdict` made a dictionary of."""
        measured = [
            Measured(
                **{
                    **one,
                    "idle": Memory(**one["idle"]),
                    "peak": Memory(**one["peak"]),
                    "pixel_error": one["pixel_error"] and tuple(one["pixel_error"]),
                }
            )
            for one in told["outcome"]["measured"]
        ]
        return cls(**{**told, "outcome": Outcome(measured, told["outcome"]["left_out"])})
