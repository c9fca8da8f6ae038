"""Images per second and utilisation of the detector's training, for each way to load its data.

Loading alone on some cores; end to end with an emulated accelerator; and end to end with the CPU
as the accelerator, for real.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

from penstock import transforms as T
from penstock.analysis.device.devices import Device, EmulatedDevice, StepDevice
from penstock.analysis.device.utilisation import busy_in_last
from penstock.costs.code_lines import time_functions
from penstock.demo.loaders import WORKER_START
from penstock.demo.torchvision_import import import_torchvision
from penstock.errors import PenstockError
from penstock.experiments.experiment import Task, UnavailableError
from penstock.experiments.libraries.detector.voc import SPLIT, make_voc, open_voc
from penstock.experiments.libraries.photos import cache_folder
from penstock.experiments.libraries.work import Settings
from penstock.loading.loader import Loader
from penstock.packing.pack import pack
from penstock.translation.accelerate import accelerate, explain_translation
from penstock.usable_cores import pinned_to, usable_cores

PLAIN, WRAPPED = "plain Dataset", "VOCDetection"
ACCELERATED, PACKED = "VOCDetection, accelerated", "packed by penstock"
LOADERS = (PLAIN, WRAPPED, ACCELERATED, PACKED)
STUDY_CORES = 12  # that the study needed for one V100
LINES_KEY, TRANSLATION_KEY = "detector/lines", "detector/translation"
EMULATED_KEY = "detector/emulated"
_LINES_ON = 32  # samples
_LEAST_S = 1.5  # of a measurement of loading alone


def rate_key(cores: int, number: int) -> str:
    """Return where a round of loading alone is kept."""
    return f"detector/loading/{cores}/{number}"


def real_key(loader: str) -> str:
    """Return where training on the CPU with a loader is kept."""
    return f"detector/cpu/{loader}"


class DetectorBench:
    """The data set, and loaders over it; made when something is first measured."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def tasks(self) -> Iterator[Task]:
        """Yield what is to be measured."""
        yield Task(LINES_KEY, "detector: time by line", self._lines)
        yield Task(TRANSLATION_KEY, "detector: what accelerate does", self._translations)
        for number, cores in product(range(self._settings.rounds), self.cores):
            yield Task(
                rate_key(cores, number),
                f"detector: loading on {cores} cores, round {number + 1}",
                partial(self._loading, cores),
            )
        yield Task(EMULATED_KEY, "detector: training, emulated", self._emulated)
        for name in LOADERS:
            yield Task(
                real_key(name),
                f"detector: training on the CPU, {name}",
                partial(self._real, name),
            )

    @property
    def cores(self) -> tuple[int, ...]:
        """Those that this machine has."""
        return tuple(count for count in self._settings.cores if count <= usable_cores())

    @cached_property
    def _root(self) -> Path:
        if self._settings.voc is not None:
            return Path(self._settings.voc)
        return make_voc(self._settings.voc_photos)

    @cached_property
    def _packed(self) -> Path:
        folder, _ = open_voc(self._root)
        target = self._root.parent / f"{self._root.name}.pen"
        if self._settings.voc is not None:
            target = cache_folder() / "voc-real.pen"
            target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        pack(folder, target, split=SPLIT, progress=False)
        return target

    @cached_property
    def _torch(self) -> Any:
        try:
            return import_torchvision()
        except ImportError as error:
            raise UnavailableError(f"torchvision cannot be imported: {error}") from error

    @cached_property
    def _classes(self) -> list[str]:
        self._torch  # noqa: B018 (imports torchvision as it has to be imported here)
        from torchvision.tv_tensors._dataset_wrapper import VOC_DETECTION_CATEGORY_TO_IDX

        return sorted(VOC_DETECTION_CATEGORY_TO_IDX, key=VOC_DETECTION_CATEGORY_TO_IDX.get)

    @cached_property
    def plain(self) -> Any:
        """The Dataset that was written by hand."""
        classes = self._classes  # imports torch
        from penstock.experiments.libraries.detector.plain_dataset import PlainVocDataset

        return PlainVocDataset(open_voc(self._root)[0], classes)

    @cached_property
    def wrapped(self) -> Any:
        """The same of torchvision's parts."""
        torch, torchvision = self._torch
        from penstock.experiments.libraries.detector.plain_dataset import JITTER, SIDE_PX

        v2 = torchvision.transforms.v2
        steps = v2.Compose(
            [
                v2.RandomHorizontalFlip(),
                v2.ColorJitter(brightness=JITTER, contrast=JITTER),
                v2.Resize((SIDE_PX, SIDE_PX)),
                v2.ToImage(),
                v2.ToDtype(torch.float32, scale=True),
            ]
        )
        _, year = open_voc(self._root)
        found = torchvision.datasets.VOCDetection(self._root, year, SPLIT, transforms=steps)
        return torchvision.datasets.wrap_dataset_for_transforms_v2(found)

    def _data_loader(self, dataset: Any, workers: int, batch_size: int | None = None) -> Any:
        torch, _ = self._torch
        return torch.utils.data.DataLoader(
            dataset,
            batch_size=batch_size or self._settings.batch_size,
            shuffle=True,
            num_workers=workers,
            persistent_workers=workers > 0,
            multiprocessing_context=WORKER_START if workers else None,
            collate_fn=_together,
        )

    @contextmanager
    def _open(self, name: str, cores: int, batch_size: int | None = None) -> Iterator[Any]:
        if name in (PLAIN, WRAPPED):
            dataset = self.plain if name == PLAIN else self.wrapped
            yield self._data_loader(dataset, cores, batch_size)
            return
        loader = self._ours(name, cores, batch_size)
        try:
            yield loader
        finally:
            loader.close()

    def _ours(self, name: str, threads: int, batch_size: int | None) -> Any:
        if name == ACCELERATED:
            return accelerate(self._data_loader(self.wrapped, 0, batch_size), threads=threads)
        from penstock.experiments.libraries.detector.plain_dataset import JITTER, SIDE_PX

        return Loader(
            self._packed,
            batch_size=batch_size or self._settings.batch_size,
            transform=T.Compose(
                [
                    T.RandomHorizontalFlip(),
                    T.ColorJitter(brightness=JITTER, contrast=JITTER),
                    T.Resize((SIDE_PX, SIDE_PX)),
                    T.ToDtype("float32", scale=True),
                ]
            ),
            shuffle=True,
            threads=threads,
        )

    def _lines(self) -> list[dict[str, Any]]:
        """Return what each line of the plain Dataset takes for a sample, in microseconds."""
        dataset = self.plain
        samples = min(_LINES_ON, len(dataset))
        kind = type(dataset)
        with pinned_to(1):
            for index in range(samples):  # what is done only once is not what a sample costs
                dataset[index]
            try:
                lines = time_functions(
                    lambda: sum(1 for index in range(samples) if dataset[index]), [kind.__getitem__]
                )
            except PenstockError as error:
                raise UnavailableError(str(error)) from error
        return [
            {"code": one.code.partition("  #")[0], "us": round(one.microseconds, 1)}
            for one in lines
        ]

    def _translations(self) -> dict[str, list[str]]:
        """Return what `accelerate` says of both Datasets."""
        return {
            name: str(explain_translation(self._data_loader(dataset, 0))).splitlines()
            for name, dataset in ((PLAIN, self.plain), (WRAPPED, self.wrapped))
        }

    def _loading(self, cores: int) -> dict[str, float]:
        """Return images per second of each loader on so many cores, nothing being trained."""
        found = {}
        for name in LOADERS:
            with pinned_to(cores), self._open(name, cores) as loader:
                found[name] = round(_images_per_s(loader), 1)
        return found

    def _emulated(self) -> dict[str, Any]:
        """Return rate and utilisation of an emulated accelerator, for each loader and cores."""
        rate = self._settings.accelerator
        if rate is None:
            with pinned_to(1), self._open(PLAIN, 1) as loader:
                rate = round(STUDY_CORES * _images_per_s(loader))
        runs = []
        for cores, name in product(self.cores, LOADERS):
            with pinned_to(cores), self._open(name, cores) as loader:
                device = EmulatedDevice(rate)
                runs.append(_train(loader, device, self._settings.steps_emulated, name, cores))
        return {"images_per_s": rate, "runs": runs}

    def _real(self, name: str) -> dict[str, Any]:
        """Return the same with the CPU as the accelerator; every loader begins with one model."""
        torch, _ = self._torch
        from penstock.experiments.libraries.detector.model import make_ssd, training_step

        torch.manual_seed(0)
        step = training_step(make_ssd(len(self._classes)))
        losses: list[float] = []
        cores, batch_size = max(self.cores), self._settings.real_batch_size
        with pinned_to(cores), self._open(name, cores, batch_size) as loader:
            device = StepDevice(_noting(step, losses))
            run = _train(loader, device, self._settings.steps_real, name, cores)
        return run | {"losses": [round(loss, 3) for loss in losses]}


def _together(samples: Any) -> Any:
    return tuple(zip(*samples))  # noqa: B905 (as everybody writes it, which accelerate knows)


def _noting(step: Callable[[Any], float], losses: list[float]) -> Callable[[Any], None]:
    def noted(batch: Any) -> None:
        losses.append(step(batch))

    return noted


def _batches(loader: Any) -> Iterator[Any]:
    """Yield batches of one epoch after the other; images as a list, whatever they came as."""
    while True:
        for images, targets in loader:
            yield list(images), targets


def _images_per_s(loader: Any) -> float:
    """Return the rate over whole epochs after the first, which starts workers and plans."""
    for _ in loader:
        pass
    images, began = 0, time.perf_counter()
    while time.perf_counter() - began < _LEAST_S:
        images += sum(len(batch[0]) for batch in loader)
    return images / (time.perf_counter() - began)


def _train(loader: Any, device: Device, steps: int, name: str, cores: int) -> dict[str, Any]:
    """Train for some steps after the first one; return rate and utilisation over time."""
    batches = _batches(loader)
    for _ in loader:  # starts workers and plans
        pass
    device.submit(next(batches))
    device.synchronise()
    device.forget()
    images, began = 0, time.perf_counter()
    for _ in range(steps):
        batch = next(batches)
        images += len(batch[0])
        device.submit(batch)
    device.synchronise()
    took_s = time.perf_counter() - began
    used = busy_in_last(device, steps)
    if used is None:
        raise AssertionError(f"{device.name}: no steps were seen")
    return {
        "loader": name,
        "cores": cores,
        "images_per_s": round(images / took_s, 1),
        "seconds": [round(moment, 3) for moment in used.seconds],
        "busy": [round(share, 3) for share in used.busy],
    }
