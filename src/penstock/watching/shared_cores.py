"""Training steps that compute on the cores which load the data: who takes how much CPU time.

Per image, loading takes L seconds of CPU time and the training process U, on c cores. As long as
these are all busy, an image takes (L + U) / c, whoever waits for whom: a loop that never waits for
its batches is slowed down by its loader all the same. A loader that needs L / k makes it

    (L / k + U') / c

U' is less than U: threads of a step that wait for another one, which has no core, spin, and that
counts as CPU time. How much of it was spinning cannot be measured, only bounded by the
time that threads queued for a core; hence a range.
"""

from __future__ import annotations

from dataclasses import dataclass

CHEAPER = 5.0  # times: what `penstock.accelerate` reaches on most folders of JPEGs, and more
CORES_OF_A_CPU_STEP = 0.5  # one that only starts work on a GPU takes less, unless it is tiny
_BUSY = 0.8  # of all cores; the rest goes into switching, and into moments at the end of an epoch
_QUEUE = 0.5  # threads of the training process that are ready without a core, on average
_SHARE_THAT_COUNTS = 0.1  # of the CPU time: a loader that takes less would bring no more
_SPINNING = (0.3, 0.7)  # of the time queued
_LEAST_OF_A_STEP = 0.5  # of its CPU time: so much was no spinning in any case
_SLACK = 0.9  # of the cores' time can be used, at worst


@dataclass(frozen=True, slots=True)
class Range:
    """How many times as fast, at least and at most."""

    low: float
    high: float

    def __str__(self) -> str:
        low, high = f"{self.low:.1f}", f"{self.high:.1f}"
        return f"about {low} times" if low == high else f"about {low} to {high} times"


@dataclass(frozen=True, slots=True)
class CpuUse:
    """What the cores did while a training ran, in seconds per image."""

    cores: int
    wall_s: float
    loading_s: float  # CPU time of the loader, in whichever process
    step_s: float  # CPU time of everything else in the training process
    step_cores: float  # that the step keeps busy while it computes
    queued_s: float = 0.0  # of all threads of the training process: ready, but without a core
    receiving_s: float = 0.0  # part of step_s: CPU time of the loop while it waits for workers
    loading_is_known: bool = True  # else it is a part of step_s: a loader with threads of its own
    quota: float | None = None  # cores' worth of time that may be used, if that is less than all

    @property
    def core_time(self) -> float:
        """How many cores' worth of time there is: a quota may allow 1.5."""
        return self.cores if self.quota is None else self.quota

    @property
    def busy(self) -> float:
        """Share of the cores' time that was used."""
        return (self.loading_s + self.step_s) / (self.core_time * self.wall_s)

    @property
    def busy_cores(self) -> float:
        """How many cores were in use, on average."""
        return self.busy * self.core_time

    @property
    def loading_share(self) -> float:
        """Share of the CPU time that loading took."""
        return self.loading_s / ((self.loading_s + self.step_s) or 1.0)

    @property
    def step_computes_here(self) -> bool:
        """Whether the step computes on these cores, rather than start work elsewhere."""
        return self.step_cores >= CORES_OF_A_CPU_STEP

    @property
    def is_busy(self) -> bool:
        """Whether this training uses nearly all of the cores' time."""
        return self.busy >= _BUSY

    @property
    def is_contended(self) -> bool:
        """Whether loading and the step slow each other down.

        They also do on cores that other programs keep busy: then threads queue for them.
        """
        return (
            self.step_computes_here
            and (self.is_busy or self.queued_s >= _QUEUE * self.wall_s)
            and self.loading_share >= _SHARE_THAT_COUNTS
        )

    def gain_of_cheaper_loading(self, times: float = CHEAPER) -> Range:
        """Return how much faster training gets if loading needs `times` times less CPU time."""
        loading_s = self.loading_s / times
        more, less = (self._step_without_spinning_s(share) for share in _SPINNING)
        slow_s = (loading_s + more) / (self.core_time * _SLACK)
        fast_s = (loading_s + less) / self.core_time
        return Range(max(1.0, self.wall_s / slow_s), max(1.0, self.wall_s / fast_s))

    def most_from_loading(self, waited: float) -> float:
        """Return how many times as fast a loop would be, at most, if loading took no time.

        It saves the share `waited`, and the time for which threads of the step had no core.
        """
        step_s = (1 - waited) * self.wall_s
        return self.wall_s / max(step_s - self.queued_s, _LEAST_OF_A_STEP * step_s)

    def _step_without_spinning_s(self, share: float) -> float:
        if self.step_cores <= 1.0:  # one thread waits for no other
            return self.step_s
        return max(self.step_s - share * self.queued_s, _LEAST_OF_A_STEP * self.step_s)
