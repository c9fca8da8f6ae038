"""Accelerators to analyse a training with: the one asked for, the one there is, or an assumed one.

The emulated one needs no hardware at all.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any

from penstock.analysis.device.accelerators import EMULATED, AcceleratorRate, find_accelerator
from penstock.analysis.device.models import (
    classification_loss,
    detection_loss,
    images_to_copy,
    is_detector,
    make_model,
)
from penstock.errors import AnalysisError
from penstock.watching.loader_facts import count_images
from penstock.watching.nvml import driver_name

REAL = ("cuda", "mps", "cpu")
ASSUMED_RATE = 1000.0  # images per second
_HOW = "give your training step (--step), or --device"
QUEUE_DEPTH = 2  # batches that a training loop may be ahead of the device

Interval = tuple[float, float]


class Device(ABC):
    """Takes batches and trains on them, or seems to."""

    name: str  # as the user asked for it
    is_emulated = False  # whether nothing is computed
    takes_any_size = True  # whether images of another size can be tried on it

    def __init__(self) -> None:
        self._busy: list[Interval] = []

    @property
    def busy(self) -> tuple[Interval, ...]:
        """When it was at work, in seconds of `time.perf_counter`, if it can tell."""
        return tuple(self._busy)

    @abstractmethod
    def submit(self, batch: Any) -> None:
        """Start a step; returns before the step ends, unless too many are under way."""

    def synchronise(self) -> None:
        """Wait until all steps have ended, also those left under way on a GPU."""
        synchronise_all()

    def forget(self) -> None:
        """Drop the busy intervals so far; steps under way stay."""
        self._busy.clear()


class EmulatedDevice(Device):
    """Is busy for `images / images_per_s` seconds per step, and uses no CPU.

    Steps follow each other on a timeline; nothing but the wait for it is real.
    """

    is_emulated = True

    def __init__(
        self,
        images_per_s: float,
        queue_depth: int = QUEUE_DEPTH,
        *,
        known: AcceleratorRate | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.name = name or f"{EMULATED}{images_per_s:g}"  # as `open_device` reads it
        self.images_per_s = images_per_s
        self.known = known  # the accelerator that it stands for, if it was asked for by name
        self._depth = queue_depth
        self._ends: deque[float] = deque()

    def submit(self, batch: Any) -> None:
        """Put a step on the timeline, once there is room in the queue."""
        if len(self._ends) >= self._depth:
            _sleep_until(self._ends.popleft())
        begin = time.perf_counter()
        if self._ends:
            begin = max(begin, self._ends[-1])
        end = begin + count_images(batch) / self.images_per_s
        self._busy.append((begin, end))
        self._ends.append(end)

    def synchronise(self) -> None:
        """Sleep until the last step is over."""
        if self._ends:
            _sleep_until(self._ends[-1])
            self._ends.clear()


class StepDevice(Device):
    """A training step of the user's own: `step(batch)`.

    It is busy when the step is called, which for an asynchronous device is not all of its work.
    """

    takes_any_size = False  # a model of the user's may be made for one

    def __init__(self, step: Callable[[Any], object]) -> None:
        super().__init__()
        self.name = getattr(step, "__qualname__", type(step).__name__)
        self._step = step

    def submit(self, batch: Any) -> None:
        """Call the step."""
        begin = time.perf_counter()
        self._step(batch)
        self._busy.append((begin, time.perf_counter()))


class TorchDevice(Device):
    """Trains a model by SGD on what it is given: copy, forward, backward, update."""

    def __init__(self, name: str, model: str) -> None:
        super().__init__()
        self._torch = _import_torch(name)
        self.name = name
        self._device = _checked_device(self._torch, name)
        self.model_name = model
        self._model = make_model(model).to(self._device).train()
        self.detects = is_detector(self._model)
        self._loss = detection_loss if self.detects else classification_loss
        self.library = type(self._model).__module__.partition(".")[0]
        self._optimiser = self._torch.optim.SGD(self._model.parameters(), lr=1e-3)

    @property
    def busy(self) -> tuple[Interval, ...]:
        """Steps as the host saw them; only on a CPU that is all of the work."""
        return tuple(self._busy) if self._device.type == "cpu" else ()

    @property
    def submitted(self) -> tuple[float, ...]:
        """When the host began each step, in seconds of `time.perf_counter`."""
        return tuple(begin for begin, _ in self._busy)

    @property
    def gpu(self) -> str | int | None:
        """What an NVIDIA driver knows the device by: its UUID, or its number; None for others."""
        if self._device.type != "cuda":
            return None
        return driver_name(self._torch.cuda, self._device.index or 0)

    def submit(self, batch: Any) -> None:
        """Train on a batch; labels or boxes that it lacks are made up."""
        begin = time.perf_counter()
        loss = self._loss(self._model, self._device, batch)
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self._optimiser.step()
        self._busy.append((begin, time.perf_counter()))

    def seconds_to_copy(self, batch: Any) -> float:
        """Measure how long a batch takes from the host's memory to the device's."""
        if self._device.type == "cpu":
            return 0.0
        images = images_to_copy(batch)
        seconds = 0.0
        for _ in range(2):  # the first time warms up
            synchronise_all()
            begin = time.perf_counter()
            for image in images:
                image.to(self._device)
            synchronise_all()
            seconds = time.perf_counter() - begin
        return seconds


def find_device() -> str | None:
    """Return the accelerator that torch would train on here; None if there is none.

    torch takes seconds to import, so it is asked only where there are signs of one.
    """
    if "torch" not in sys.modules and not _has_signs_of_gpu():
        return None
    try:
        torch = import_module("torch")
    except ImportError:
        return None
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else None


def _has_signs_of_gpu() -> bool:
    if sys.platform == "linux":
        return any(os.path.exists(f"/dev/{name}") for name in ("nvidiactl", "kfd", "dxg"))
    return sys.platform == "win32" or platform.machine() == "arm64"


def computes_elsewhere(device: Device) -> bool:
    """Tell whether a device is known to leave the computing to other chips than this machine's CPU.

    A step of the user's does if it has made torch start a GPU; else its CPU time has to tell.
    """
    if device.is_emulated:
        return True
    if not isinstance(device, StepDevice):
        return device.name.partition(":")[0] != "cpu"
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_available() and torch.cuda.is_initialized())


def open_device(name: str, model: str = "resnet18") -> Device:
    """Open `emulated:RATE`, `emulated:ACCELERATOR/MODEL`, or a real one with a model to train."""
    if name.startswith(EMULATED):
        return _open_emulated(name)
    if name.split(":", maxsplit=1)[0] in REAL:
        return TorchDevice(name, model)
    raise AnalysisError(
        f"device {name!r}: not known. Give cuda, mps, cpu, emulated:IMAGES_PER_SECOND, as in "
        "emulated:1000, or a known accelerator, as in emulated:a100/resnet50."
    )


def _open_emulated(name: str) -> EmulatedDevice:
    try:
        rate = float(name.removeprefix(EMULATED).replace(",", ""))
    except ValueError:
        known = find_accelerator(name)
        return EmulatedDevice(known.images_per_s, known=known, name=name)
    if not 0 < rate < float("inf"):
        raise AnalysisError(
            f"device {name!r}: the rate must be images per second, above 0, as in emulated:1000."
        )
    return EmulatedDevice(rate)


def _sleep_until(moment: float) -> None:
    left = moment - time.perf_counter()
    if left > 0:
        time.sleep(left)


def choose_device(
    step: Callable[[Any], object] | None, name: str | None, model: str
) -> tuple[Device, list[str]]:
    """Return the device, and what a reader should know of the choice."""
    if step is not None:
        return StepDevice(step), []
    if name is not None:
        device = open_device(name, model)
        known = device.known if isinstance(device, EmulatedDevice) else None
        return device, [] if known is None else [f"the emulated accelerator: {known.describe()}"]
    found = find_device()
    if found is None:
        return assumed(f"no GPU was found here; {_HOW}")
    try:
        device = open_device(found, model)
    except AnalysisError as error:
        return assumed(f"{found} is there, but cannot be trained on ({error}); {_HOW}")
    return device, [f"the step is that of {model} on {found}, which torch found; {_HOW} for yours"]


def assumed(why: str) -> tuple[Device, list[str]]:
    """Return an assumed accelerator, and why it is assumed."""
    return EmulatedDevice(ASSUMED_RATE), [
        f"an accelerator of {ASSUMED_RATE:,.0f} images/s is assumed: {why}"
    ]


def any_batch_will_do(device: Device) -> bool:
    """Tell whether batches of another size say the same: a GPU would be slower with small ones."""
    is_own_step = isinstance(device, StepDevice)
    return device.is_emulated or (not is_own_step and device.name.partition(":")[0] == "cpu")


def synchronise_all() -> None:
    """Wait for every GPU that torch uses in this process; without torch there is none."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()


def _import_torch(device: str) -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise AnalysisError(
            f"device {device!r}: needs torch, which does not import here ({error}). Install it, "
            "or take emulated:IMAGES_PER_SECOND."
        ) from error


def _checked_device(torch: Any, name: str) -> Any:
    kind = name.split(":", maxsplit=1)[0]
    there = {
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
        "cpu": lambda: True,
    }
    if not there[kind]():
        raise AnalysisError(
            f"device {name!r}: torch finds none on this machine. Take cpu, or "
            "emulated:IMAGES_PER_SECOND."
        )
    return torch.device(name)
