"""What every sweep starts from, and what it brings back."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.analysis.budget import Budget
from penstock.analysis.device.devices import Device
from penstock.analysis.measure import Effort, StepAlone
from penstock.analysis.rate_model import Model
from penstock.analysis.subject.subject import Subject
from penstock.analysis.what_if import Change
from penstock.results.records import Prediction


@dataclass(frozen=True, slots=True)
class SweepContext:
    """What every sweep starts from."""

    subject: Subject
    device: Device
    alone: StepAlone
    model: Model
    cores: int
    effort: Effort  # of one run
    budget: Budget
    run_s: float  # about how long a run takes

    def allows(self, what: str, runs: int, measurements: int) -> bool:
        """Tell whether there is time for so many runs."""
        return self.budget.allows(what, runs * self.run_s, measurements)


@dataclass(slots=True)
class SweepResults:
    """Changes that were measured, predictions that were checked, and what could not be done."""

    changes: list[Change] = field(default_factory=list)
    checks: list[Prediction] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: SweepResults) -> None:
        """Take in what another sweep found."""
        self.changes += other.changes
        self.checks += other.checks
        self.notes += other.notes
