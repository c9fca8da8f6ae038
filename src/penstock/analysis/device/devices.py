"""Accelerators to analyse a training with: the one asked for, the one there is, or an assumed one.

The emulated one needs no hardware at all.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from penstock.errors import AnalysisError
from penstock.watching.loader_facts import count_images

EMULATED = "emulated:"
REAL = ("cuda", "mps", "cpu")
ASSUMED_RATE = 1000.0  # images a second
_HOW = "give your training step (--step), or --device"
QUEUE_DEPTH = 2  # batches that a training loop may be ahead of the device

Interval = tuple[float, float]


class Device(Protocol):
    """Takes batches and trains on them, or seems to."""

    @property
    def name(self) -> str:
        """What the user asked for."""
        ...

    @property
    def is_emulated(self) -> bool:
        """Whether nothing is computed."""
        ...

    @property
    def takes_any_size(self) -> bool:
        """Whether images of another size can be tried on it."""
        ...

    @property
    def busy(self) -> tuple[Interval, ...]:
        """When it was at work, in seconds of `time.perf_counter`, if it can tell."""
        ...

    def submit(self, batch: Any) -> None:
        """Start a step; returns before the step ends, unless too many are under way."""
        ...

    def synchronise(self) -> None:
        """Wait until all steps have ended."""
        ...

    def forget(self) -> None:
        """Drop the busy intervals so far."""
        ...


class EmulatedDevice:
    """Is busy for `images / images_per_s` a step, uses no CPU, and runs ahead of nobody.

    Steps follow each other on a timeline; nothing but the wait for it is real.
    """

    is_emulated = True
    takes_any_size = True

    def __init__(self, images_per_s: float, queue_depth: int = QUEUE_DEPTH) -> None:
        self.images_per_s = images_per_s
        self._depth = queue_depth
        self._busy: list[Interval] = []
        self._ends: deque[float] = deque()

    @property
    def name(self) -> str:
        """As `open_device` reads it."""
        return f"{EMULATED}{self.images_per_s:g}"

    @property
    def busy(self) -> tuple[Interval, ...]:
        """Every step so far."""
        return tuple(self._busy)

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

    def forget(self) -> None:
        """Drop the intervals; steps under way stay."""
        self._busy.clear()


class StepDevice:
    """A training step of the user's own: `step(batch)`."""

    is_emulated = False
    takes_any_size = False  # a model of the user's may be made for one

    def __init__(self, step: Callable[[Any], object]) -> None:
        self._step = step
        self._busy: list[Interval] = []

    @property
    def name(self) -> str:
        """Whose step it is."""
        return getattr(self._step, "__qualname__", type(self._step).__name__)

    @property
    def busy(self) -> tuple[Interval, ...]:
        """When the step was called, which for an asynchronous device is not all of its work."""
        return tuple(self._busy)

    def submit(self, batch: Any) -> None:
        """Call the step."""
        begin = time.perf_counter()
        self._step(batch)
        self._busy.append((begin, time.perf_counter()))

    def synchronise(self) -> None:
        """Wait for what the step left under way on a GPU."""
        from penstock.analysis.device.torch_device import synchronise_all

        synchronise_all()

    def forget(self) -> None:
        """Drop the intervals."""
        self._busy.clear()


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
    """Open `emulated:RATE`, or `cuda`, `mps` or `cpu` with a model to train."""
    if name.startswith(EMULATED):
        return EmulatedDevice(_read_rate(name))
    if name.split(":", maxsplit=1)[0] in REAL:
        from penstock.analysis.device.torch_device import TorchDevice

        return TorchDevice(name, model)
    raise AnalysisError(
        f"device {name!r}: not known. Give cuda, mps, cpu, or emulated:IMAGES_PER_SECOND, as in "
        "emulated:1000."
    )


def _read_rate(name: str) -> float:
    try:
        rate = float(name.removeprefix(EMULATED).replace(",", ""))
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise AnalysisError(
            f"device {name!r}: the rate must be images a second, above 0, as in emulated:1000."
        )
    return rate


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
        return open_device(name, model), []
    found = find_device()
    if found is None:
        return assumed(f"no GPU was found here; {_HOW}")
    try:
        device = open_device(found, model)
    except AnalysisError as error:
        return assumed(f"{found} is there, but cannot be trained on ({error}); {_HOW}")
    return device, [f"the step is that of {model} on {found}, which torch found; {_HOW} for yours"]


def assumed(why: str) -> tuple[Device, list[str]]:
    """Return an accelerator that nobody has, and why it was taken."""
    return EmulatedDevice(ASSUMED_RATE), [
        f"an accelerator of {ASSUMED_RATE:,.0f} images/s is assumed: {why}"
    ]


def any_batch_will_do(device: Device) -> bool:
    """Tell whether batches of another size say the same: a GPU would be slower with small ones."""
    is_own_step = isinstance(device, StepDevice)
    return device.is_emulated or (not is_own_step and device.name.partition(":")[0] == "cpu")
