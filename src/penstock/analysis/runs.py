"""A loader iterated against the clock, with or without a device that takes its batches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from penstock.analysis.device.devices import QUEUE_DEPTH, Device, Interval
from penstock.errors import AnalysisError
from penstock.results.records import Steps
from penstock.watching.loader_facts import count_images

# An epoch of fewer batches than so many times those in flight never gets going: what counts then
# is the whole of it.
_SHORT_EPOCH = 4
TIMED_BATCHES = 3  # at least, after what was in flight
_PATIENCE = 10  # so many times the seconds asked for may pass until then
_LEAST_PATIENCE_S = 5.0  # where a number of batches is asked for


@dataclass(frozen=True, slots=True)
class Run:
    """What came out of some epochs, or of a part of one."""

    images: int
    batches: int
    images_per_s: float
    start_up_s: float  # of an epoch, before its first batch and after its last; the least
    is_short: bool  # whether epochs end before the loader gets going
    epoch_s: float | None  # of a whole epoch, if one ended
    steps: Steps


@dataclass(slots=True)
class _Epoch:
    began: float
    images: list[int] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    computed: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)  # when the loop was ready for another batch
    trained: list[float] = field(default_factory=list)  # when the step ended, if the device tells
    ended: float = 0.0
    is_whole: bool = False

    def settled(self, in_flight: int) -> tuple[int, float]:
        """Images and seconds after what was in flight at first has come through."""
        skipped = min(in_flight, max(0, len(self.images) - 2))
        # The loop runs ahead of a device by what its queue holds: only steps that ended count.
        moments = self.trained or self.done
        return sum(self.images[skipped + 1 :]), moments[-1] - moments[skipped]

    def is_short(self, in_flight: int) -> bool:
        """Whether the epoch was over before the loader got going."""
        return self.is_whole and len(self.images) < _SHORT_EPOCH * in_flight

    @property
    def start_up_s(self) -> float:
        """Seconds before the first batch and after the last."""
        return self.waited[0] + self.ended - self.done[-1]


@dataclass(frozen=True, slots=True)
class _Limits:
    """When to stop: after a while, if there are enough batches; after a long while with two."""

    until: float
    latest: float
    least_batches: int

    @staticmethod
    def of(seconds: float, least_batches: int, patience_s: float) -> _Limits:
        now = time.perf_counter()
        return _Limits(now + seconds, now + max(_PATIENCE * seconds, patience_s), least_batches)

    def are_reached(self, now: float, batches: int) -> bool:
        return now >= self.until and batches >= (2 if now >= self.latest else self.least_batches)


def run_loader(
    loader: Iterable[Any],
    device: Device | None,
    *,
    seconds: float,
    in_flight: int,
    epochs: int | None = None,
    least_batches: int = 0,
) -> Run:
    """Iterate for at least `seconds`, or for so many epochs, and time every step.

    `in_flight` is how many batches the loader prepares ahead: they arrive in a burst, and the rate
    is that of what follows. `least_batches` are waited for, but not without end.
    """
    # A device that queues steps takes its first ones in a burst, too.
    in_flight = max(in_flight, 0 if device is None else QUEUE_DEPTH + 1)
    limits = _Limits.of(
        seconds,
        max(least_batches, in_flight + TIMED_BATCHES),
        _LEAST_PATIENCE_S if least_batches else 0.0,
    )
    steps_before = 0 if device is None else len(device.busy)
    done: list[_Epoch] = []
    batches = 0
    while len(done) != epochs and not limits.are_reached(time.perf_counter(), batches):
        done.append(_run_epoch(loader, device, limits))
        batches += len(done[-1].images)
        if not done[-1].images:
            raise AnalysisError("the loader yields no batches. Is the data set empty?")
        if done[-1].is_short(in_flight):  # counts whole, however many batches it has
            limits = replace(limits, least_batches=0)
    if device is not None:
        device.synchronise()
        _note_trained(done, device.busy[steps_before:])
    return _summary(done, time.perf_counter(), in_flight)


def _note_trained(epochs: list[_Epoch], busy: Sequence[Interval]) -> None:
    """Tell each epoch when its steps ended, if the device knows of every one."""
    if len(busy) != sum(len(epoch.images) for epoch in epochs):
        return
    ends = iter(end for _, end in busy)
    for epoch in epochs:
        epoch.trained = list(islice(ends, len(epoch.images)))


def _run_epoch(loader: Iterable[Any], device: Device | None, limits: _Limits) -> _Epoch:
    epoch = _Epoch(time.perf_counter())
    before = epoch.began
    for batch in loader:
        arrived = time.perf_counter()
        epoch.waited.append(arrived - before)
        epoch.images.append(count_images(batch))
        if device is not None:
            device.submit(batch)
        before = time.perf_counter()
        epoch.computed.append(before - arrived)
        epoch.done.append(before)
        if limits.are_reached(before, len(epoch.images)):
            break
    else:
        epoch.is_whole = True
    epoch.ended = time.perf_counter() if epoch.is_whole else before
    return epoch


def _summary(epochs: list[_Epoch], ended: float, in_flight: int) -> Run:
    whole = [epoch for epoch in epochs if epoch.is_whole]
    is_short = epochs[0].is_short(in_flight)
    parts = [epoch.settled(in_flight) for epoch in epochs]
    images, seconds = sum(part[0] for part in parts), sum(part[1] for part in parts)
    if is_short or any(len(epoch.images) < in_flight + 2 for epoch in epochs):
        # What came was the burst at the beginning; its rate means nothing without its start.
        images, seconds = sum(sum(epoch.images) for epoch in epochs), ended - epochs[0].began
    return Run(
        images=sum(sum(epoch.images) for epoch in epochs),
        batches=sum(len(epoch.images) for epoch in epochs),
        images_per_s=images / seconds,
        start_up_s=min(epoch.start_up_s for epoch in epochs),
        is_short=is_short,
        epoch_s=min((epoch.ended - epoch.began for epoch in whole), default=None),
        steps=Steps(
            tuple(wait for epoch in epochs for wait in epoch.waited),
            tuple(step for epoch in epochs for step in epoch.computed),
        ),
    )
