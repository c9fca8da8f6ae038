"""What was measured, as far as a verdict needs it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.analysis.subject.subject import WorkerKind
from penstock.costs.costs import Costs


@dataclass(frozen=True, slots=True)
class Facts:
    """Rates in images a second on all cores there are."""

    batches: int  # measured end to end
    synthetic: float
    pipeline: float
    end_to_end: float
    cores: int
    workers: int
    worker_kind: WorkerKind
    costs: Costs | None = None
    other_workers: int | None = None  # another number of workers that was tried
    other_pipeline: float | None = None  # what the pipeline does with them
    other_gain: float | None = None  # over its own workers, between the rounds disturbed least
    other_spread: float = 1.0  # the fastest round over the slowest, of either number of workers
    start_up_s: float = 0.0  # of an epoch, beyond the work on its batches
    epoch_s: float | None = None  # measured, if epochs are short
    copy_s: float = 0.0  # an image, from the host to the device
    step_cores: float = 0.0  # that the training step keeps busy
    computes_here: bool = False  # whether the step and the pipeline share the cores
    emulated_rate: float | None = None  # of an accelerator that nobody measured
    # Times as fast with a loader that costs nothing, at least and at most between the rounds; None
    # where there was but one.
    instant_between: tuple[float, float] | None = None
    keeps_workers: bool = False  # from one epoch to the next

    @property
    def stall(self) -> float:
        """Share of the accelerator's time that is lost."""
        return max(0.0, 1 - self.end_to_end / self.synthetic)

    @property
    def assumption(self) -> str:
        """What rates of training rest on, where no accelerator was measured; else nothing."""
        if self.emulated_rate is None:
            return ""
        return f"if your accelerator took {self.emulated_rate:,.0f} images/s"
