"""Settings and tasks of the experiment: what is measured, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from penstock.analysis.device.accelerators import EMULATED
from penstock.analysis.machine import describe_environment
from penstock.errors import AnalysisError
from penstock.experiments.experiment import Experiment, Task
from penstock.experiments.formats.augmentations import ALL, PLAIN
from penstock.experiments.formats.contestant import Spec, in_process, prepare_processes
from penstock.experiments.formats.findings import draw
from penstock.experiments.formats.forms import (
    DALI,
    FORMS,
    PENSTOCK,
    TORCH,
    Written,
    contestants,
)
from penstock.experiments.formats.loaders import Load
from penstock.experiments.formats.photos import PhotoSet, open_photos
from penstock.experiments.formats.savings import BASE
from penstock.experiments.formats.writers import MOST_ROWS_PER_GROUP, SHARDS

NAME = "formats"
EMULATED_DEVICES = ("emulated:400", "emulated:2500")
REAL_DEVICE = "cpu"
MODEL = "shufflenet_v2_x0_5"
_LIBRARIES = ("nvidia-dali-cuda120", "h5py", "lmdb", "pyarrow", "google-crc32c")
# A step on a CPU takes long, so only those that answer the study's question train on it.
_ON_REAL_DEVICE = (
    *((TORCH, form) for form in ("folder", "recordio")),
    *((DALI, form) for form in ("folder", "tfrecord", "recordio", "webdataset")),
    *((PENSTOCK, form) for form in ("folder", "pen")),
)
_ON_REAL_DEVICE_QUICKLY = ((TORCH, "folder"), (DALI, "recordio"), (PENSTOCK, "pen"))
# One of each way to ask a storage for samples.
_BEHIND_STORAGE_QUICKLY = (
    *((TORCH, form) for form in ("folder", "tfrecord", "recordio")),
    (DALI, "recordio"),
    *((PENSTOCK, form) for form in ("folder", "tfrecord", "pen")),
)
_AUGMENTED = ((TORCH, "folder"), (DALI, "folder"), (PENSTOCK, "folder"), (PENSTOCK, "pen"))


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line decides."""

    data: Path | None = None
    images: int = 256
    samples: int = 1024
    batch_size: int = 64
    cores: int = 1
    rounds: int = 2
    seconds: float = 1.0  # of a run
    devices: tuple[str, ...] = (*EMULATED_DEVICES, REAL_DEVICE)
    model: str = MODEL
    quick: bool = False

    def __post_init__(self) -> None:
        for name in ("images", "samples", "batch_size", "cores", "rounds"):
            if getattr(self, name) < 1:
                raise AnalysisError(f"{name}: must be 1 or more, got {getattr(self, name)}.")


QUICK: dict[str, Any] = {
    "images": 128, "samples": 256, "batch_size": 16, "rounds": 1, "seconds": 0.3, "quick": True,
    "devices": (EMULATED_DEVICES[-1], REAL_DEVICE),
}  # fmt: skip


def make_experiment(settings: Settings, folder: Path) -> Experiment:
    """Return the experiment; formats are written to a folder below that of the results."""
    photos = open_photos(settings.data, settings.images, settings.samples)
    written = Written(folder / "written" / f"{photos.digest}-{photos.samples}")
    return Experiment(
        NAME,
        {
            "data": "photos made by penstock" if settings.data is None else str(settings.data),
            "photos": photos.digest,
            "distinct": photos.distinct,
            "samples": photos.samples,
            "batch_size": settings.batch_size,
            "cores": settings.cores,
            "seconds": settings.seconds,
            "devices": list(settings.devices),
            "model": settings.model,
            "quick": settings.quick,
        },
        describe_environment() | _versions(),
        lambda: list(_tasks(settings, photos, written)),
        draw,
    )


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _tasks(settings: Settings, photos: PhotoSet, written: Written) -> Iterator[Task]:
    prepare_processes()
    for form in FORMS:
        title = f"writing {FORMS[form].title}"
        yield Task(f"write/{form}", title, partial(_write, form, photos, written))
    calls = _Calls(settings, photos, written)
    for form in FORMS:
        title = f"reading {FORMS[form].title} with one decoder"
        yield Task(f"one/{form}", title, calls.of("", form, "measure"))
    for number in range(settings.rounds):
        for library, form in _turned(_fast_enough(settings), number):
            yield calls.task(f"read/{number}", "reading", library, form, "read")
        for device in settings.devices:
            for library, form in _turned(_trained(settings, device), number):
                yield calls.training(number, device, library, form)
        for library, form in _turned(_AUGMENTED, number):
            yield calls.task(f"augment/{number}", "augmenting", library, form, "augment")
        if number == 0:  # simulated, so that once is enough
            yield from _storage_tasks(settings, calls)


def _storage_tasks(settings: Settings, calls: _Calls) -> Iterator[Task]:
    orders = ("shuffled",) if settings.quick else ("shuffled", "in order")
    for library, form in _BEHIND_STORAGE_QUICKLY if settings.quick else contestants():
        yield calls.task("storage", "simulated storage", library, form, "behind_storages", *orders)


def _turned(who: Sequence[tuple[str, str]], number: int) -> Sequence[tuple[str, str]]:
    """Return contestants in turn: every other round begins with the last."""
    return who[::-1] if number % 2 else who


def _trained(settings: Settings, device: str) -> Sequence[tuple[str, str]]:
    if device.startswith(EMULATED):
        return _fast_enough(settings)
    return _ON_REAL_DEVICE_QUICKLY if settings.quick else _ON_REAL_DEVICE


def _fast_enough(settings: Settings) -> Sequence[tuple[str, str]]:
    """Return all contestants; quickly, those without raw pixels, which take long to read."""
    return [who for who in contestants() if not (settings.quick and FORMS[who[1]].is_raw)]


def _write(name: str, photos: PhotoSet, written: Written) -> dict[str, float]:
    seconds = written.write(name, photos)
    return {"seconds": seconds, "bytes": written.bytes(name)}


@dataclass(frozen=True, slots=True)
class _Calls:
    """Makes the tasks that run in processes of their own."""

    settings: Settings
    photos: PhotoSet
    written: Written

    def task(
        self, key: str, doing: str, library: str, form: str, method: str, *arguments: object
    ) -> Task:
        title = f"{doing}: {library}, {FORMS[form].title}"
        return Task(f"{key}/{library}/{form}", title, self.of(library, form, method, *arguments))

    def training(self, number: int, device: str, library: str, form: str) -> Task:
        """Return a task that trains with the base and with a contestant, one after the other.

        What slows the machine down for a while then slows down both.
        """
        base, rate = (self.of(*who, "train", ALL, device) for who in (BASE, (library, form)))
        return Task(
            f"train/{number}/{device}/{library}/{form}",
            f"training on {device}: {library}, {FORMS[form].title}",
            lambda: {"base": base(), "rate": rate()},
        )

    def of(self, library: str, form: str, method: str, *arguments: object) -> Callable[[], Any]:
        def measure() -> Any:
            self.written.ensure(form, self.photos)
            return in_process(self._spec(library, form), method, *arguments)

        return measure

    def _spec(self, library: str, form: str) -> Spec:
        settings, samples = self.settings, self.photos.samples
        sample_bytes = self.written.bytes(form) / samples
        rows = max(1, min(MOST_ROWS_PER_GROUP, samples // SHARDS))
        return Spec(
            library,
            Load(form, self.written.path(form), settings.batch_size, settings.cores, PLAIN),
            tuple(self.written.files(form)),
            sample_bytes,
            sample_bytes * rows,
            settings.seconds,
            settings.model,
        )
