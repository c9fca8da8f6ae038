"""Real training steps on a device that torch knows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from penstock.analysis.device.devices import Interval
from penstock.errors import AnalysisError

_CLASSES = 1000


class TorchDevice:
    """Trains a model by SGD on what it is given: copy, forward, backward, update."""

    is_emulated = False
    takes_any_size = True

    def __init__(self, name: str, model: str) -> None:
        self._torch = _import_torch(name)
        self.name = name
        self._device = _checked_device(self._torch, name)
        self.model_name = model
        self._model = make_model(model).to(self._device).train()
        self.library = type(self._model).__module__.partition(".")[0]
        self._optimiser = self._torch.optim.SGD(self._model.parameters(), lr=1e-3)
        self._busy: list[Interval] = []

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
        number: int = self._device.index or 0
        # The driver numbers all GPUs, torch only those that are visible to the process.
        uuid = getattr(self._torch.cuda.get_device_properties(number), "uuid", None)
        return number if uuid is None else f"GPU-{uuid}"

    def submit(self, batch: Any) -> None:
        """Train on a batch; labels that are no class indices are made up."""
        torch = self._torch
        begin = time.perf_counter()
        images, labels = _images_and_labels(torch, batch)
        images = images.to(self._device, non_blocking=True)
        if not images.is_floating_point():
            images = images.float().div_(255)
        labels = labels.to(self._device, non_blocking=True) % _CLASSES
        loss = torch.nn.functional.cross_entropy(self._model(images), labels)
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self._optimiser.step()
        self._busy.append((begin, time.perf_counter()))

    def synchronise(self) -> None:
        """Wait for the device."""
        synchronise_all()

    def forget(self) -> None:
        """Drop the intervals."""
        self._busy.clear()

    def seconds_to_copy(self, batch: Any) -> float:
        """Measure how long a batch takes from the host's memory to the device's."""
        images, _ = _images_and_labels(self._torch, batch)
        if self._device.type == "cpu":
            return 0.0
        images.to(self._device)
        synchronise_all()
        begin = time.perf_counter()
        images.to(self._device)
        synchronise_all()
        return time.perf_counter() - begin


def synchronise_all() -> None:
    """Wait for every GPU that torch uses in this process; without torch there is none."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()


def make_model(name: str) -> Any:
    """Make a model by its name in torchvision or timm, or by `module:callable`."""
    module, _, attribute = name.partition(":")
    if attribute:
        return _by_path(module, attribute)()
    for maker in (_from_torchvision, _from_timm):
        model = maker(name)
        if model is not None:
            return model
    raise AnalysisError(
        f"model {name!r}: neither torchvision nor timm has it here. Name one of theirs, or give "
        "module:callable for one of your own."
    )


def _by_path(module: str, attribute: str) -> Callable[[], Any]:
    try:
        made: Callable[[], Any] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise AnalysisError(f"model {module}:{attribute}: {error}.") from error
    return made


def _from_torchvision(name: str) -> Any:
    try:
        models = import_module("torchvision.models")
        return models.get_model(name, weights=None)
    except (ImportError, RuntimeError, ValueError):
        return None


def _from_timm(name: str) -> Any:
    try:
        timm = import_module("timm")
        return timm.create_model(name, pretrained=False, num_classes=_CLASSES)
    except (ImportError, RuntimeError):
        return None


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


def _images_and_labels(torch: Any, batch: Any) -> tuple[Any, Any]:
    if isinstance(batch, Mapping):
        batch = tuple(batch.values())
    images = batch[0] if isinstance(batch, (tuple, list)) else batch
    labels = batch[1] if isinstance(batch, (tuple, list)) and len(batch) > 1 else None
    images = torch.as_tensor(images)
    if images.ndim != 4:
        raise AnalysisError(
            f"the model takes batches of images in four dimensions, got {tuple(images.shape)}. "
            "Give a step of your own: analyze(loader, step=...) or --step."
        )
    if not isinstance(labels, torch.Tensor) or labels.ndim != 1 or labels.is_floating_point():
        labels = torch.zeros(len(images), dtype=torch.int64)
    return images, labels
