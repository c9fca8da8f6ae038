"""How busy an accelerator was over time: from its driver, or from the intervals of its steps.

An NVIDIA GPU is asked through NVML, on a thread of its own while a run goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from penstock.analysis.device.devices import Device, Interval, TorchDevice
from penstock.results.records import Utilisation
from penstock.watching.nvml import watch_gpu

_SLICES = 60


@dataclass(slots=True)
class Busyness:
    """What was found once the watched runs are over."""

    utilisation: Utilisation | None = None
    notes: tuple[str, ...] = ()


@contextmanager
def watch_device(device: Device, step_s: float) -> Iterator[Busyness]:
    """Watch a device while runs go on; `step_s` is how long one of its steps takes alone.

    A GPU is asked through its driver. One that cannot be asked is taken to work on each step for
    as long as it takes alone, one after the other.
    """
    found = Busyness()
    device.forget()
    gpu = device.gpu if isinstance(device, TorchDevice) else None
    if gpu is None:
        yield found
    else:
        with watch_gpu(gpu) as watch:
            yield found
        found.utilisation = watch.utilisation()
        found.notes = () if watch.note is None else (watch.note,)
    if found.utilisation is not None:
        return
    if device.busy:
        found.utilisation = busy_in_last(device, len(device.busy))
    elif isinstance(device, TorchDevice):
        source = f"when steps of the {device.name} device began, each as long as it takes alone"
        found.utilisation = cut_into_slices(source, one_after_the_other(device.submitted, step_s))


def busy_in_last(device: Device, steps: int) -> Utilisation | None:
    """Return how busy a device was that knows its own steps, over the last of them."""
    return cut_into_slices(f"steps of the {device.name} device", device.busy[-steps:])


def one_after_the_other(submitted: Sequence[float], step_s: float) -> list[Interval]:
    """Return when steps ran that were submitted at these moments."""
    intervals: list[Interval] = []
    for moment in submitted:
        begin = max(moment, intervals[-1][1]) if intervals else moment
        intervals.append((begin, begin + step_s))
    return intervals


def cut_into_slices(source: str, busy: Sequence[Interval]) -> Utilisation | None:
    """Cut the time from the first step to the last into equal slices; None without steps."""
    if not busy:
        return None
    begins, ends = (np.array(side) for side in zip(*busy, strict=True))
    limits = np.linspace(begins[0], ends[-1], _SLICES + 1)
    overlap = np.minimum(ends[:, None], limits[None, 1:]) - np.maximum(
        begins[:, None], limits[None, :-1]
    )
    shares = np.clip(overlap, 0, None).sum(axis=0) / np.diff(limits)
    seconds = limits[1:] - limits[0]
    return Utilisation(source, tuple(seconds.tolist()), tuple(np.clip(shares, 0, 1).tolist()))
