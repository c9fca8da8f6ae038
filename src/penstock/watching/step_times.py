"""How long a training loop waits for each batch, and how long it then computes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import isnan
from threading import Lock, local
from time import perf_counter, process_time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Clock = Callable[[], float]  # seconds since whenever
UNKNOWN_S = float("nan")
_last_given = local()  # .epoch: the pass that gave this thread its last batch


class StepListener(Protocol):
    """Is told of each step, in the thread of the loop, at moments of the clock."""

    def asks(self) -> None:
        """The loop wants its next batch."""

    def waited(self, step: int, begin_s: float, end_s: float, images: int) -> None:
        """It got one."""

    def computed(self, step: int, begin_s: float, end_s: float) -> None:
        """It is done with one; just before it asks for the next."""

    def ends(self) -> None:
        """No batch came."""


class StepTimes:
    """Times of the steps of one loader, over all its epochs, some of which may run side by side."""

    def __init__(
        self,
        clock: Clock | None = None,
        cpu_clock: Clock | None = None,
        listeners: Sequence[StepListener] = (),
    ) -> None:
        self.listeners = tuple(listeners)
        self.epochs = 0
        self._clock = clock or perf_counter
        self._cpu_clock = cpu_clock or process_time
        self._waited_cpu_s = array("d")
        self._computed_cpu_s = array("d")
        self._waited_s = array("d")
        self._computed_s = array("d")
        self._is_first = array("b")
        self._images = array("q")  # appended to last: its length is the number of whole rows
        self._adding = Lock()

    def begin_epoch(self) -> EpochTimes:
        """Return the record of one epoch; to be called before the loader is asked for an iterator.

        Each iterator has its own, as two of one loader may be under way.
        """
        return EpochTimes(self, self._clock, self._cpu_clock)

    def add(self, waited_s: float, waited_cpu_s: float, images: int, *, is_first: bool) -> int:
        """Add a step that has just begun to compute; return its number."""
        with self._adding:
            self.epochs += is_first
            self._waited_s.append(waited_s)
            self._waited_cpu_s.append(waited_cpu_s)
            self._computed_s.append(UNKNOWN_S)
            self._computed_cpu_s.append(UNKNOWN_S)
            self._is_first.append(is_first)
            self._images.append(images)
            return len(self._images) - 1

    def finish(self, step: int, computed_s: float, computed_cpu_s: float) -> None:
        """Note how long a step computed."""
        self._computed_cpu_s[step] = computed_cpu_s
        self._computed_s[step] = computed_s

    @property
    def steps(self) -> int:
        """Batches given to the loop so far."""
        return len(self._images)

    @property
    def waited_s(self) -> NDArray[np.float64]:
        """Seconds waited for each batch, as a copy."""
        return np.array(self._waited_s[: self.steps], dtype=np.float64)

    @property
    def computed_s(self) -> NDArray[np.float64]:
        """Seconds computed on each batch, as a copy; NaN where the loop never came back."""
        return np.array(self._computed_s[: self.steps], dtype=np.float64)

    @property
    def waited_cpu_s(self) -> NDArray[np.float64]:
        """CPU seconds of this process, all its threads, while the loop waited, as a copy."""
        return np.array(self._waited_cpu_s[: self.steps], dtype=np.float64)

    @property
    def computed_cpu_s(self) -> NDArray[np.float64]:
        """CPU seconds of this process while the loop computed, as a copy; NaN as above."""
        return np.array(self._computed_cpu_s[: self.steps], dtype=np.float64)

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """Whether each batch was the first of its epoch, as a copy."""
        return np.array(self._is_first[: self.steps], dtype=np.bool_)

    @property
    def images(self) -> NDArray[np.int64]:
        """Images in each batch, as a copy."""
        return np.array(self._images, dtype=np.int64)

    def step(self, number: int) -> tuple[float, float, int]:
        """Seconds waited, seconds computed and images of one step."""
        return self._waited_s[number], self._computed_s[number], self._images[number]

    def recent(self, steps: int) -> tuple[float, float, int]:
        """Seconds waited, seconds computed and images of those of the last steps that ended."""
        numbers = range(max(0, self.steps - steps), self.steps)
        ended = [step for step in map(self.step, numbers) if not isnan(step[1])]
        return (
            sum(waited_s for waited_s, _, _ in ended),
            sum(computed_s for _, computed_s, _ in ended),
            sum(images for _, _, images in ended),
        )


class EpochTimes:
    """The clock of one pass over a loader.

    Call `has_begun` when the iterator is there, then `ask` before and `give` after each batch, or
    `end` where none came.

    A loop inside a step, such as one for validation, does not count as that step's computing: the
    time of a pass that begins while another computes in the same thread is taken off that one.
    """

    def __init__(self, times: StepTimes, clock: Clock, cpu_clock: Clock) -> None:
        self.step: int | None = None  # the number of the step that computes
        self._times = times
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._asked_cpu_s = self._given_cpu_s = self._elsewhere_cpu_s = 0.0
        self._making_s: float | None = None  # None once there was a batch
        self._asked_s = self._given_s = 0.0
        self._elsewhere_s = 0.0  # of this step, in loops inside it
        self._around: EpochTimes | None = getattr(_last_given, "epoch", None)
        self._around_step = None if self._around is None else self._around.step
        self._began_s = clock()

    def has_begun(self) -> None:
        """Note that the iterator is made, which is part of the wait for its first batch."""
        self._making_s = self._clock() - self._began_s

    def ask(self) -> None:
        """Note that the loop wants its next batch."""
        self._asked_s = self._clock()
        self._asked_cpu_s = self._cpu_clock()
        if self.step is not None:
            computed_s = max(self._asked_s - self._given_s - self._elsewhere_s, 0.0)
            cpu_s = max(self._asked_cpu_s - self._given_cpu_s - self._elsewhere_cpu_s, 0.0)
            self._times.finish(self.step, computed_s, cpu_s)
            self._take_off_around(computed_s, cpu_s)
            for listener in self._times.listeners:
                listener.computed(self.step, self._given_s, self._asked_s)
        for listener in self._times.listeners:
            listener.asks()

    def restart_wait(self) -> None:
        """Leave the time since `ask` out of the wait: it was spent on telling others."""
        self._asked_s = self._clock()
        self._asked_cpu_s = self._cpu_clock()

    def give(self, images: int) -> None:
        """Note that the loop gets a batch."""
        waited_s = self._clock() - self._asked_s
        given_cpu_s = self._cpu_clock()
        cpu_s = given_cpu_s - self._asked_cpu_s
        is_first = self._making_s is not None
        if self._making_s is not None:
            waited_s += self._making_s
            self._making_s = None
        self.step = self._times.add(waited_s, cpu_s, images, is_first=is_first)
        self._take_off_around(waited_s, cpu_s)
        self._elsewhere_s = self._elsewhere_cpu_s = 0.0
        _last_given.epoch = self
        self._given_cpu_s = given_cpu_s
        self._given_s = self._clock()
        for listener in self._times.listeners:
            listener.waited(self.step, self._given_s - waited_s, self._given_s, images)

    def end(self) -> None:
        """Note that no batch came: there was none left, or the loader failed."""
        self.step = None
        for listener in self._times.listeners:
            listener.ends()

    def _take_off_around(self, seconds: float, cpu_s: float) -> None:
        around = self._around
        if around is None or around.step is None:
            return
        if around.step == self._around_step:
            around._elsewhere_s += seconds  # noqa: SLF001 (of the same class)
            around._elsewhere_cpu_s += cpu_s  # noqa: SLF001
            around._take_off_around(seconds, cpu_s)  # noqa: SLF001
        else:
            self._around = None  # that step is over: from now on both go on side by side
