"""How busy an accelerator was over time: from its driver, or from the intervals of its steps.

An NVIDIA GPU is asked through NVML, on a thread of its own while a run goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from penstock.analysis.device.devices import Device, Interval, TorchDevice
from penstock.results.records import Utilisation

_SLICES = 60
SOURCE = "NVML"
_EVERY_S = 0.1  # the driver's own figures are no finer
_INSTALL = "pip install 'penstock[nvml]'"


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


class GpuWatch:
    """Samples of one GPU; or `note`, which says why there are none."""

    def __init__(self) -> None:
        self.note: str | None = None
        self._began_s = time.perf_counter()
        self._seconds: list[float] = []
        self._busy: list[float] = []

    def sample(self, library: Any, handle: Any) -> None:
        """Ask the driver once."""
        share = library.nvmlDeviceGetUtilizationRates(handle).gpu / 100
        self._seconds.append(time.perf_counter() - self._began_s)
        self._busy.append(share)

    def utilisation(self) -> Utilisation | None:
        """Return what was seen; None if nothing was."""
        if not self._seconds:
            return None
        return Utilisation(SOURCE, tuple(self._seconds), tuple(self._busy))


@contextmanager
def watch_gpu(gpu: str | int) -> Iterator[GpuWatch]:
    """Sample a GPU, given by its UUID or its number, until the block ends.

    Without the library or the driver nothing fails: the watch has a note instead.
    """
    watch = GpuWatch()
    try:
        library = import_module("pynvml")
    except ImportError:
        watch.note = f"NVML was not asked how busy the GPU is: it needs nvidia-ml-py ({_INSTALL})"
        yield watch
        return
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        watch.note = f"NVML does not say how busy the GPU is: {error}"
        yield watch
        return
    is_over = threading.Event()
    thread = threading.Thread(
        target=_sample_until, args=(is_over, watch, library, gpu), daemon=True
    )
    try:
        thread.start()
    except RuntimeError as error:
        watch.note = f"nobody asked NVML how busy the GPU is: {error}"
        library.nvmlShutdown()
        yield watch
        return
    try:
        yield watch
    finally:
        is_over.set()
        thread.join()
        library.nvmlShutdown()


def _sample_until(is_over: threading.Event, watch: GpuWatch, library: Any, gpu: str | int) -> None:
    try:
        handle = (
            library.nvmlDeviceGetHandleByUUID(gpu)
            if isinstance(gpu, str)
            else library.nvmlDeviceGetHandleByIndex(gpu)
        )
        watch.sample(library, handle)
        while not is_over.wait(_EVERY_S):
            watch.sample(library, handle)
    except library.NVMLError as error:
        watch.note = f"NVML does not say how busy the GPU is: {error}"
