"""A loader iterated against the clock, with or without a device that takes its batches."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock.analysis.batches import count_images
from penstock.analysis.devices import Device
from penstock.analysis.results import Steps
from penstock.errors import AnalysisError

# An epoch of fewer batches than so many times those in flight never gets going: what counts then
# is the whole of it.
_SHORT_EPOCH = 4


@dataclass(frozen=True, slots=True)
class Run:
    """What came out of some epochs, or of a part of one."""

    images: int
    batches: int
    images_per_s: float
    first_batch_s: float  # from asking for the first batch of an epoch to having it; the least
    is_short: bool  # whether epochs end before the loader gets going
    epoch_s: float | None  # of a whole epoch, if one ended
    steps: Steps


@dataclass(slots=True)
class _Epoch:
    began: float
    arrivals: list[float]
    images: list[int]
    waited: list[float]
    computed: list[float]
    ended: float = 0.0
    is_whole: bool = False

    def settled(self, in_flight: int) -> tuple[int, float]:
        """Images and seconds after what was in flight at first has come through."""
        skipped = min(in_flight, len(self.images) - 1)
        return sum(self.images[skipped + 1 :]), self.ended - self.arrivals[skipped]


def run_loader(
    loader: Iterable[Any], device: Device | None, *, seconds: float, in_flight: int
) -> Run:
    """Iterate for at least `seconds`, epoch after epoch, and time every step.

    `in_flight` is how many batches the loader prepares ahead: they arrive in a burst, and the rate
    is that of what follows.
    """
    until = time.perf_counter() + seconds
    epochs: list[_Epoch] = []
    while time.perf_counter() < until:
        epochs.append(_run_epoch(loader, device, until, in_flight))
        if not epochs[-1].images:
            raise AnalysisError("the loader yields no batches. Is the data set empty?")
    return _summary(epochs, in_flight)


def _run_epoch(
    loader: Iterable[Any], device: Device | None, until: float, in_flight: int
) -> _Epoch:
    epoch = _Epoch(time.perf_counter(), [], [], [], [])
    before = epoch.began
    for batch in loader:
        arrived = time.perf_counter()
        epoch.arrivals.append(arrived)
        epoch.waited.append(arrived - before)
        epoch.images.append(count_images(batch))
        if device is not None:
            device.submit(batch)
        before = time.perf_counter()
        epoch.computed.append(before - arrived)
        if before >= until and len(epoch.images) > in_flight + 1:
            break
    else:
        epoch.is_whole = True
    if device is not None:
        device.synchronise()
    epoch.ended = time.perf_counter()
    return epoch


def _summary(epochs: list[_Epoch], in_flight: int) -> Run:
    whole = [epoch for epoch in epochs if epoch.is_whole]
    is_short = bool(whole) and len(whole[0].images) < _SHORT_EPOCH * in_flight
    if is_short:
        images = sum(sum(epoch.images) for epoch in whole)
        seconds = sum(epoch.ended - epoch.began for epoch in whole)
    else:
        parts = [epoch.settled(in_flight) for epoch in epochs]
        images, seconds = sum(part[0] for part in parts), sum(part[1] for part in parts)
        if not images:
            images = sum(sum(epoch.images) for epoch in epochs)
            seconds = sum(epoch.ended - epoch.began for epoch in epochs)
    return Run(
        images=sum(sum(epoch.images) for epoch in epochs),
        batches=sum(len(epoch.images) for epoch in epochs),
        images_per_s=images / seconds,
        first_batch_s=min(epoch.waited[0] for epoch in epochs),
        is_short=is_short,
        epoch_s=min((epoch.ended - epoch.began for epoch in whole), default=None),
        steps=Steps(
            tuple(wait for epoch in epochs for wait in epoch.waited),
            tuple(step for epoch in epochs for step in epoch.computed),
        ),
    )
