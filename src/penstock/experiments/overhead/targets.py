"""What is trained: a model on an accelerator that is there, or that is emulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.analysis.device.accelerators import EMULATED, find_accelerator
from penstock.analysis.device.devices import Device, EmulatedDevice, Interval, open_device
from penstock.errors import AnalysisError

ANY_MODEL = "any model"  # an emulated accelerator of a rate, whatever it trains


@dataclass(frozen=True, slots=True)
class Target:
    """A model on one or more accelerators."""

    device: str  # as `open_device` reads it
    group: str  # the accelerator alone, as in "emulated a100"
    model: str
    gpus: int = 1
    rate: float | None = None  # of one emulated accelerator
    source: str = ""  # where that rate was published

    @property
    def key(self) -> str:
        """Return what it is called in results."""
        return f"{self.group} | {self.model}"

    @property
    def label(self) -> str:
        """Return what it is called in tables."""
        many = f"{self.gpus} x " if self.gpus > 1 else ""
        return f"{self.model} on {many}{self.group}"

    @property
    def is_emulated(self) -> bool:
        """Whether nothing is computed."""
        return self.rate is not None

    @property
    def computes_here(self) -> bool:
        """Whether it trains on the processor that also loads: seconds for each step."""
        return self.device == "cpu"

    def open(self) -> Device:
        """Open the accelerators; a model is made without weights."""
        if self.gpus == 1:
            return open_device(self.device, self.model)
        names = [self.device] * self.gpus
        if not self.is_emulated:
            names = [f"{self.device}:{number}" for number in range(self.gpus)]
        return DeviceGroup([open_device(name, self.model) for name in names])

    def to_dict(self) -> dict[str, Any]:
        """Return it in JSON's types."""
        return asdict(self)

    @staticmethod
    def from_dict(kept: Mapping[str, Any]) -> Target:
        """Read what `to_dict` wrote."""
        return Target(**kept)


class DeviceGroup(Device):
    """Several accelerators that take batches in turn, each with a model of its own."""

    def __init__(self, devices: Sequence[Device]) -> None:
        super().__init__()
        self.name = f"{len(devices)} x {devices[0].name}"
        self.is_emulated = all(device.is_emulated for device in devices)
        self._devices = devices
        self._turns = self._forever()

    def _forever(self) -> Iterator[Device]:
        while True:
            yield from self._devices

    @property
    def busy(self) -> tuple[Interval, ...]:
        """Steps of all, by when they ended."""
        steps = [step for device in self._devices for step in device.busy]
        return tuple(sorted(steps, key=lambda step: step[1]))

    def submit(self, batch: Any) -> None:
        """Give the batch to whose turn it is; waits only if that one has enough to do."""
        next(self._turns).submit(batch)

    def synchronise(self) -> None:
        """Wait for all of them."""
        for device in self._devices:
            device.synchronise()

    def forget(self) -> None:
        """Drop the busy intervals of all of them."""
        for device in self._devices:
            device.forget()


def find_targets(devices: Sequence[str], models: Sequence[str], gpus: int) -> list[Target]:
    """Return what to train: each model on each device that knows it.

    `emulated:a100` has a rate for each model; `emulated:a100/resnet50` is for that model alone;
    `emulated:2500` is 2,500 images per second, whatever the model.
    """
    found: dict[str, Target] = {}
    for device in devices:
        for target in _targets_of(device, models, gpus):
            found.setdefault(target.key, target)
    return list(found.values())


def _targets_of(device: str, models: Sequence[str], gpus: int) -> list[Target]:
    if not device.startswith(EMULATED):
        if gpus > 1 and device != "cuda":
            raise AnalysisError(
                f"--gpus {gpus}: more than one accelerator are cuda or emulated ones, "
                f"got {device!r}."
            )
        return [Target(device, device, model, gpus) for model in models]
    name = device.removeprefix(EMULATED)
    if _is_number(name):
        opened = open_device(device)
        assert isinstance(opened, EmulatedDevice)  # noqa: S101 (its prefix says so)
        rate = opened.images_per_s
        group = f"emulated accelerator of {rate:,.0f} images/s"
        return [Target(device, group, ANY_MODEL, gpus, rate)]
    if "/" in name:
        return [_known(device, gpus)]
    return [_known(f"{device}/{model}", gpus) for model in models]


def _known(device: str, gpus: int) -> Target:
    known = find_accelerator(device)
    group = f"emulated {known.accelerator}"
    if known.precision != find_accelerator(f"{known.accelerator}/{known.model}").precision:
        group = f"{group} in {known.precision}"
    return Target(device, group, known.model, gpus, known.images_per_s, known.describe())


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True
