"""Which accelerator an analysis is about: the one asked for, the one there is, or assumed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.analysis.device.devices import (
    Device,
    EmulatedDevice,
    StepDevice,
    find_device,
    open_device,
)
from penstock.analysis.device.torch_device import TorchDevice
from penstock.errors import AnalysisError

ASSUMED_RATE = 1000.0  # images a second
_HOW = "give your training step (--step), or --device"


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
    on_cpu = isinstance(device, TorchDevice) and device.name.partition(":")[0] == "cpu"
    return device.is_emulated or on_cpu
