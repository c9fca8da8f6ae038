"""How busy an NVIDIA GPU is, as its driver tells: sampled on a thread while a run goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from penstock.results.records import Utilisation

SOURCE = "NVML"
_EVERY_S = 0.1  # the driver's own figures are no finer
_INSTALL = "pip install 'penstock[nvml]'"


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
