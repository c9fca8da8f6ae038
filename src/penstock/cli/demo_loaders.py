"""The two loaders of the demo, doing the same work: crop, flip, normalise to float32."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.analysis.cores import pinned_to
from penstock.cli.torchvision_import import import_torch_if_there, import_torchvision
from penstock.sources import open_image_folder

CROP_PX = 224
SEED = 0
# The quickest way to start workers, and torch's own default on Linux until Python 3.14.
# It has to be named: a process that was itself spawned would spawn its workers.
WORKER_START = "fork" if sys.platform == "linux" else None
BATCHES_PER_CORE = 8  # enough for every worker to reach its stride


@dataclass(frozen=True, slots=True)
class Work:
    """What both loaders do in a pass."""

    folder: str
    batch_size: int

    def indices(self, photos: int, cores: int) -> list[int]:
        """Return the photos of a pass: the whole set again and again, as many as batches need."""
        return [i % photos for i in range(BATCHES_PER_CORE * cores * self.batch_size)]


@dataclass(frozen=True, slots=True)
class Pass:
    """One run through the photos; the first on a number of cores also builds the loader."""

    images: int
    seconds: float
    first_batch_s: float  # includes building the loader, if it was built

    @property
    def images_per_s(self) -> float:
        """Images a second over the whole pass."""
        return self.images / self.seconds


class _TimedLoaders:
    """One loader for each number of cores, built when first asked for and kept."""

    def __init__(self, build: Callable[[int], Iterable[tuple[Any, Any]]]) -> None:
        self._build = build
        self._loaders: dict[int, Iterable[tuple[Any, Any]]] = {}

    def run_pass(self, cores: int) -> Pass:
        images = 0
        first_batch_s = 0.0
        with pinned_to(cores):
            started_s = time.perf_counter()
            if cores not in self._loaders:
                self._loaders[cores] = self._build(cores)
            for batch, _ in self._loaders[cores]:
                if not images:
                    first_batch_s = time.perf_counter() - started_s
                images += len(batch)
            return Pass(images, time.perf_counter() - started_s, first_batch_s)


class PenstockSide:
    """penstock.Loader with as many threads as cores."""

    def __init__(self, work: Work) -> None:
        from penstock import Loader

        import_torch_if_there()  # now, because imports are not part of the first batch
        self._loader = Loader
        self._work = work
        self._source = open_image_folder(work.folder)
        self._loaders = _TimedLoaders(self._build)

    def run_pass(self, cores: int) -> Pass:
        """Load the photos once on that many cores."""
        return self._loaders.run_pass(cores)

    def _build(self, cores: int) -> Iterable[tuple[Any, Any]]:
        indices = np.array(self._work.indices(len(self._source), cores))
        return self._loader(
            self._source.paths(indices),
            labels=self._source.labels[indices],
            batch_size=self._work.batch_size,
            transform=penstock_pipeline(),
            shuffle=True,
            seed=SEED,
            threads=cores,
        )


class TorchvisionSide:
    """torchvision's ImageFolder in torch's DataLoader, with as many workers as cores."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._torch, self._torchvision = import_torchvision()
        self._torch.set_num_threads(1)
        self._loaders = _TimedLoaders(self._build)

    def run_pass(self, cores: int) -> Pass:
        """Load the photos once on that many cores."""
        return self._loaders.run_pass(cores)

    def count_identical(self, images: int) -> tuple[int, int]:
        """Return how many images both loaders make bit for bit the same, and of how many."""
        from penstock.cli.demo_check import count_identical

        return count_identical(self._work, images)

    def _build(self, cores: int) -> Iterable[tuple[Any, Any]]:
        from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD

        v2, data = self._torchvision.transforms.v2, self._torch.utils.data
        pipeline = v2.Compose(
            [
                v2.RandomResizedCrop(CROP_PX),
                v2.RandomHorizontalFlip(),
                v2.PILToTensor(),
                v2.ToDtype(self._torch.float32, scale=True),
                v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
            ]
        )
        photos = self._torchvision.datasets.ImageFolder(self._work.folder, pipeline)
        loader: Iterable[tuple[Any, Any]] = data.DataLoader(
            data.Subset(photos, self._work.indices(len(photos), cores)),
            batch_size=self._work.batch_size,
            shuffle=True,
            num_workers=cores,
            persistent_workers=True,
            multiprocessing_context=WORKER_START,
        )
        return loader


def penstock_pipeline() -> Any:
    """Return the demo's transforms in penstock's words."""
    from penstock import transforms as T

    return T.Compose(
        [
            T.RandomResizedCrop(CROP_PX),
            T.RandomHorizontalFlip(),
            T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
