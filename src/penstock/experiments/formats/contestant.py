"""One library on one format, measured in a process of its own.

Processes are forked from one that has imported torch and torchvision already, so that a process
for each measurement costs little, and memory and threads of one contestant are never another's.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import count
from typing import Any, Literal

from penstock.analysis.cold_cache import forget
from penstock.analysis.device.devices import open_device
from penstock.analysis.machine import process_tree
from penstock.analysis.measure import run_loader
from penstock.demo.passes import LoaderProcess
from penstock.demo.torchvision_import import import_torchvision
from penstock.errors import LoaderError
from penstock.experiments.experiment import UnavailableError
from penstock.experiments.formats.augmentations import AUGMENTATIONS, PLAIN, torchvision_pipeline
from penstock.experiments.formats.dali import DaliLoader
from penstock.experiments.formats.forms import DALI, FORMS, PENSTOCK, TORCH, require_form
from penstock.experiments.formats.loaders import Load, penstock_loader, prepare_with, torch_loader
from penstock.experiments.formats.readers import Found, each_sample
from penstock.experiments.formats.storage import STORAGES, Access, Throttled
from penstock.usable_cores import pinned_to

START: Literal["spawn", "forkserver"] = "spawn" if sys.platform == "win32" else "forkserver"
_MAKERS: Mapping[str, Callable[[Load], Any]] = {
    TORCH: torch_loader,
    DALI: DaliLoader,
    PENSTOCK: penstock_loader,
}
_PRELOADED = ["penstock.experiments.formats.preload", __name__]
_BATCHES_IN_FLIGHT = 2  # of each core: what a DataLoader prepares ahead by default
_MEMORY_FIELDS = frozenset({"Pss_Anon", "Pss_Shmem"})


def prepare_processes() -> None:
    """Let the processes of all contestants begin with what takes long to import."""
    if START == "forkserver":
        multiprocessing.set_forkserver_preload(_PRELOADED)


def require_library(library: str) -> None:
    """Raise UnavailableError if a library cannot be used here."""
    if library == PENSTOCK:
        return
    try:
        import_torchvision()
    except ImportError as error:
        raise UnavailableError(f"{library}: needs torch and torchvision ({error})") from error
    if library == DALI and (find_spec("nvidia") is None or find_spec("nvidia.dali") is None):
        raise UnavailableError(f"{DALI}: not installed (pip install nvidia-dali-cuda120)")


@dataclass(frozen=True, slots=True)
class Spec:
    """What a contestant's process is told."""

    library: str
    load: Load
    files: tuple[str, ...]
    sample_bytes: float
    group_bytes: float  # of what is read at once where a format has groups of samples
    seconds: float  # of a run
    model: str = ""  # that a real device trains

    def access(self, *, shuffle: bool) -> Access:
        """Return what is asked of the storage for one sample.

        Formats that are read from front to back are shuffled in memory, so neighbours are read
        together; others are read sample by sample, unless they are read in order.
        """
        form = self.load.form
        if form == "folder":
            return Access(self.sample_bytes, alone=True)
        if self.library == DALI or (self.library == TORCH and FORMS[form].is_stream):
            return Access(self.sample_bytes, alone=False)
        if form == "parquet" and shuffle:
            return Access(self.group_bytes, alone=True)
        return Access(self.sample_bytes, alone=shuffle)


class Contestant:
    """Makes loaders as they are needed, and measures them."""

    def __init__(self, spec: Spec) -> None:
        logging.disable(logging.WARNING)  # DALI's remarks on epochs that are not read to the end
        self._spec = spec
        self._stack = ExitStack()
        self._stack.enter_context(pinned_to(spec.load.cores))

    def read(self) -> dict[str, Any]:
        """Measure a first epoch from the disk, then rates from memory, and what memory it takes."""
        forget(self._spec.files)
        began_s = time.perf_counter()
        loader, images, first_s = self._loader(PLAIN), 0, 0.0
        for batch in loader:
            first_s = first_s or time.perf_counter() - began_s
            images += len(batch[0])
        cold = images / (time.perf_counter() - began_s)
        _close(loader)
        del loader
        began_s = time.perf_counter()
        loader = self._loader(PLAIN)
        next(iter(loader))
        found: dict[str, Any] = {
            "cold": cold,
            "cold_first_batch_s": first_s,
            "first_batch_s": time.perf_counter() - began_s,
            "shuffled": self._rate(loader),
            "memory_bytes": memory_of_tree(os.getpid()),
        }
        _close(loader)
        del loader
        return found | {"in order": self._timed(PLAIN, shuffle=False)}

    def behind_storages(self, *orders: str) -> dict[str, float]:
        """Measure the rate behind each simulated storage, in each order."""
        found = {}
        for order in orders:
            shuffle = order == "shuffled"
            loader = self._loader(PLAIN, shuffle=shuffle)
            for name, storage in STORAGES.items():
                slow = Throttled(loader, storage, self._spec.access(shuffle=shuffle))
                found[f"{name}, {order}"] = self._rate(slow, in_flight=1)
            _close(loader)
        return found

    def augment(self) -> dict[str, float]:
        """Measure the rate with each augmentation alone, and with all."""
        return {name: self._timed(name) for name in AUGMENTATIONS}

    def train(self, augmentation: str, device: str) -> float:
        """Measure images per second of a training."""
        return self._timed(augmentation, device=device)

    def _timed(
        self, augmentation: str, *, shuffle: bool = True, device: str | None = None
    ) -> float:
        loader = self._loader(augmentation, shuffle=shuffle)
        rate = self._rate(loader, device)
        _close(loader)
        return rate

    def _loader(self, augmentation: str, *, shuffle: bool = True) -> Any:
        load = replace(self._spec.load, augmentation=augmentation, shuffle=shuffle)
        return _MAKERS[self._spec.library](load)

    def _rate(self, loader: Any, device: str | None = None, in_flight: int | None = None) -> float:
        opened = None if device is None else open_device(device, self._spec.model)
        flying = _BATCHES_IN_FLIGHT * self._spec.load.cores if in_flight is None else in_flight
        run = run_loader(loader, opened, seconds=self._spec.seconds, in_flight=flying)
        return run.images_per_s


class OneDecoder:
    """One format read by one thread, with the same decoding and cropping for all."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._stack = ExitStack()
        self._stack.enter_context(pinned_to(1))

    def measure(self) -> dict[str, float]:
        """Measure reading alone, in both orders, and with decoding and cropping."""
        for _ in self._samples(None):  # so that all is in memory
            pass
        decode = prepare_with(torchvision_pipeline(PLAIN))
        return {
            "read, shuffled": self._rate(None, shuffle=True),
            "read, in order": self._rate(None, shuffle=False),
            "decoded": self._rate(decode, shuffle=True),
        }

    def _rate(self, use: Callable[[Any], object] | None, *, shuffle: bool) -> float:
        images, passed_s, began_s = 0, 0.0, time.perf_counter()
        for epoch in count():
            for sample in self._samples(epoch if shuffle else None):
                if use is not None:
                    use(sample.image)
                images += 1
                passed_s = time.perf_counter() - began_s
                if use is not None and passed_s > self._spec.seconds:
                    break
            # Reading goes to the end: what is read first may be a whole shard.
            if passed_s > self._spec.seconds:
                break
        return images / passed_s

    def _samples(self, seed: int | None) -> Iterator[Found]:
        load = self._spec.load
        return each_sample(load.form, load.folder, is_stream=FORMS[load.form].is_stream, seed=seed)


def in_process(spec: Spec, method: str, *arguments: object) -> Any:
    """Call a method of a contestant in a new process; UnavailableError if it cannot run here."""
    form = require_form(spec.load.form)
    kind: type[Contestant | OneDecoder] = Contestant if spec.library else OneDecoder
    require_library(spec.library or TORCH)
    label = f"{spec.library or 'one decoder'} on {form.title}"
    try:
        with LoaderProcess(label, kind, spec, START) as process:
            return process.call(method, *arguments)
    except LoaderError as error:
        if spec.library == PENSTOCK:
            raise
        raise UnavailableError(str(error)) from error


def memory_of_tree(pid: int) -> int | None:
    """Return the bytes that a process and its descendants have for themselves, files left out."""
    total = 0
    for process in process_tree(pid):
        with suppress(OSError):  # it may end meanwhile
            for line in (process / "smaps_rollup").read_text(encoding="ascii").splitlines():
                name, _, value = line.partition(":")
                total += int(value.split()[0]) * 1024 if name in _MEMORY_FIELDS else 0
    return total or None


def _close(loader: Any) -> None:
    close = getattr(loader, "close", None)
    if close is not None:
        close()
