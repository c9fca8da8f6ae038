"""What every sweep starts from, and what it brings back."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.analysis.budget import Budget
from penstock.analysis.device.devices import Device
from penstock.analysis.measure import Effort, StepAlone, run_pipeline
from penstock.analysis.rate_model import Model
from penstock.analysis.subject.subject import Subject
from penstock.analysis.what_if import Change
from penstock.results.records import Prediction


@dataclass(slots=True)
class SweepResults:
    """Changes that were measured, predictions that were checked, and what could not be done."""

    changes: list[Change] = field(default_factory=list)
    checks: list[Prediction] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, what: str, why: object) -> None:
        """Say what could not be tried."""
        self.notes.append(f"{what} could not be tried: {why}")


@dataclass(frozen=True, slots=True)
class SweepContext:
    """What every sweep starts from, and where it puts what it finds."""

    subject: Subject
    device: Device
    alone: StepAlone
    model: Model
    cores: int
    effort: Effort  # of one run
    budget: Budget
    run_s: float  # about how long a run takes
    results: SweepResults = field(default_factory=SweepResults)

    def allows(self, what: str, runs: int, measurements: int) -> bool:
        """Tell whether there is time for this many runs."""
        return self.budget.allows(what, runs * self.run_s, measurements)

    def run(self, subject: Subject, device: Device | None = None) -> float:
        """Return the rate of a changed pipeline, alone or with a device that takes its batches."""
        return run_pipeline(subject, device, self.cores, self.effort).images_per_s

    def check(
        self,
        what: str,
        measured: float,
        *,
        synthetic: float | None = None,
        pipeline: float,
        step_cpu_s: float | None = None,
    ) -> None:
        """Put a measured rate beside the one predicted from the step and the pipeline alone."""
        synthetic = self.alone.rate.median if synthetic is None else synthetic
        predicted = self.model.end_to_end(synthetic, pipeline, self.cores, step_cpu_s)
        self.results.checks.append(Prediction(what, predicted, measured))
