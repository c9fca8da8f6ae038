"""How busy an NVIDIA GPU is, as its driver says it: NVML, through the optional pynvml.

Nothing fails without the library or the driver: a note says why nothing is known.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from penstock.results.records import Utilisation

SOURCE = "NVML"
EVERY_S = 0.1  # the driver's own figures are no finer
_INSTALL = "pip install 'penstock[nvml]'"


class Gpu:
    """One GPU, given by its UUID or its number; `note` says why it does not answer, if so."""

    def __init__(self, gpu: str | int) -> None:
        self.note: str | None = None
        self._library: Any = None
        self._handle: Any = None
        try:
            library = import_module("pynvml")
        except ImportError:
            self.note = (
                f"NVML was not asked how busy the GPU is: it needs nvidia-ml-py ({_INSTALL})"
            )
            return
        try:
            library.nvmlInit()
        except library.NVMLError as error:
            self._refuse(error)
            return
        self._library = library
        by_name, by_number = library.nvmlDeviceGetHandleByUUID, library.nvmlDeviceGetHandleByIndex
        try:
            self._handle = by_name(gpu) if isinstance(gpu, str) else by_number(gpu)
        except library.NVMLError as error:
            self._refuse(error)

    def busy(self) -> float | None:
        """Return the share of the last moments in which it was busy; None if it does not say."""
        if self._library is None or self._handle is None or self.note is not None:
            return None
        try:
            return float(self._library.nvmlDeviceGetUtilizationRates(self._handle).gpu) / 100
        except self._library.NVMLError as error:
            self._refuse(error)
            return None

    def close(self) -> None:
        """Let go of the driver."""
        library, self._library = self._library, None
        if library is not None:
            library.nvmlShutdown()

    def _refuse(self, error: Exception) -> None:
        self.note = f"NVML does not say how busy the GPU is: {error}"


def gpu_of_torch() -> str | int | None:
    """Return the GPU that torch uses in this process, as its driver knows it; None if it uses none.

    torch is neither imported nor made to start a GPU.
    """
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return None
    return driver_name(cuda, cuda.current_device())


def driver_name(cuda: Any, number: int) -> str | int:
    """Return the UUID of a GPU of torch's, or its number where torch does not know it.

    The driver numbers all GPUs, torch only those that are visible to the process.
    """
    uuid = getattr(cuda.get_device_properties(number), "uuid", None)
    return number if uuid is None else f"GPU-{uuid}"


@dataclass(slots=True)
class GpuUse:
    """How busy the GPU was while a loop was watched."""

    samples: int = 0
    busy_sum: float = 0.0
    note: str | None = None

    @property
    def busy(self) -> float | None:
        """The average share; None if the driver never said."""
        return self.busy_sum / self.samples if self.samples else None

    def describe(self) -> str:
        """Return it as a line of a report."""
        if self.busy is None:
            return self.note or "nothing was seen"
        return f"busy {self.busy:.0%} of the time ({SOURCE}, {self.samples:,} samples)"

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return {"busy": self.busy, "samples": self.samples, "source": SOURCE, "note": self.note}


class GpuWatch:
    """Samples of one GPU; or `note`, which says why there are none."""

    def __init__(self) -> None:
        self.note: str | None = None
        self._began_s = time.perf_counter()
        self._seconds: list[float] = []
        self._busy: list[float] = []

    def sample(self, gpu: Gpu) -> bool:
        """Ask the driver once; tell whether it answered."""
        share = gpu.busy()
        if share is None:
            self.note = gpu.note
            return False
        self._seconds.append(time.perf_counter() - self._began_s)
        self._busy.append(share)
        return True

    def utilisation(self) -> Utilisation | None:
        """Return what was seen; None if nothing was."""
        if not self._seconds:
            return None
        return Utilisation(SOURCE, tuple(self._seconds), tuple(self._busy))


@contextmanager
def watch_gpu(name: str | int) -> Iterator[GpuWatch]:
    """Sample a GPU on a thread of its own until the block ends."""
    watch, gpu = GpuWatch(), Gpu(name)
    is_over = threading.Event()

    def sample() -> None:
        while watch.sample(gpu) and not is_over.wait(EVERY_S):
            pass

    thread = threading.Thread(target=sample, daemon=True)
    try:
        if gpu.note is not None:
            watch.note = gpu.note
        else:
            try:
                thread.start()
            except RuntimeError as error:
                watch.note = f"nobody asked NVML how busy the GPU is: {error}"
        yield watch
    finally:
        is_over.set()
        if thread.ident is not None:
            thread.join()
        gpu.close()
