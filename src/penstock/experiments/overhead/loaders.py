"""The same pipeline by each loader: crop, flip, augment, normalise to float32.

Every epoch goes through the photos many times over, since a few photos would make one that ends
before workers get going. Nothing is kept of them from one time to the next.
"""

from __future__ import annotations

import gc
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from PIL import Image

from penstock import transforms as T
from penstock.demo.loaders import WORKER_START
from penstock.demo.torchvision_import import import_torchvision
from penstock.experiments.experiment import UnavailableError
from penstock.experiments.overhead.photos import Photos
from penstock.experiments.overhead.settings import (
    BATCH_SIZE,
    CLASSES,
    CROP_PX,
    DALI,
    FOLDER,
    MAGNITUDE,
    PACKED,
    TORCHVISION,
    Pipeline,
)
from penstock.loading.loader import Loader
from penstock.usable_cores import library_threads

EPOCH_BATCHES = 256
_SEED = 0
_TORCH_PREFETCH = 2  # batches of each worker; torch's own default
_PENSTOCK_PREFETCH = 2
_DALI_PREFETCH = 2

Opened = AbstractContextManager[Iterable[Any]]
Decode = Callable[[int], Image.Image]


def open_loader(loader: str, photos: Photos, pipeline: Pipeline, cores: int) -> Opened:
    """Make a loader that uses so many cores; UnavailableError if it cannot do that here."""
    if loader == TORCHVISION:
        return open_torchvision(photos, pipeline, cores)
    if loader == DALI:
        return _open_dali(photos, pipeline, cores)
    if loader == PACKED:
        return _open_penstock(photos, pipeline, cores, data=photos.packed())
    return _open_penstock(photos, pipeline, cores, data=list(photos.paths), labels=photos.labels)


def in_flight(loader: str, cores: int) -> int:
    """Return how many batches a loader prepares ahead."""
    return {
        TORCHVISION: cores * _TORCH_PREFETCH,
        FOLDER: _PENSTOCK_PREFETCH + 1,
        PACKED: _PENSTOCK_PREFETCH + 1,
        DALI: _DALI_PREFETCH + 1,
    }[loader]


def epoch_indices(photos: int) -> list[int]:
    """Return positions of photos, again and again, for a whole epoch."""
    return [index % photos for index in range(EPOCH_BATCHES * BATCH_SIZE)]


@contextmanager
def _open_penstock(
    photos: Photos, pipeline: Pipeline, cores: int, **data: Any
) -> Iterator[Iterable[Any]]:
    augmentations: dict[str, Any] = {
        "randaugment": lambda: T.RandAugment(pipeline.layers, MAGNITUDE),
        "autoaugment": T.AutoAugment,
        "trivialaugment": T.TrivialAugmentWide,
        "pba": T.PopulationBasedAugment,
    }
    mixing: dict[str, Any] = {"mixup": T.MixUp, "cutmix": T.CutMix}
    augmentation, mix = augmentations.get(pipeline.method), mixing.get(pipeline.method)
    loader = Loader(
        **data,
        batch_size=BATCH_SIZE,
        transform=T.Compose(
            [
                T.RandomResizedCrop(CROP_PX),
                T.RandomHorizontalFlip(),
                *([] if augmentation is None else [augmentation()]),
                T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            ]
        ),
        batch_transform=None if mix is None else mix(num_classes=CLASSES),
        shuffle=True,
        seed=_SEED,
        threads=cores,
        prefetch=_PENSTOCK_PREFETCH,
        indices=epoch_indices(len(photos.paths)),
    )
    try:
        yield loader
    finally:
        loader.close()


class TorchPhotos:
    """A data set as torch's DataLoader takes it, with torchvision's transforms on Pillow images."""

    def __init__(self, photos: Photos, transform: Any, decode: Decode | None = None) -> None:
        self._photos, self._transform = photos, transform
        self._decode = decode or self.decode
        self._indices = epoch_indices(len(photos.paths))
        self._labels = photos.labels

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        photo = self._indices[index]
        return self._transform(self._decode(photo)), self._labels[photo]

    def decode(self, photo: int) -> Image.Image:
        """Read a photo from its file, as torchvision's ImageFolder does."""
        with open(self._photos.paths[photo], "rb") as file:
            return Image.open(file).convert("RGB")


def torchvision_transform(pipeline: Pipeline) -> Any:
    """Return the pipeline in torchvision's words, up to the tensor of one image."""
    torch, torchvision = _torchvision()
    v2 = torchvision.transforms.v2
    if pipeline.method == "pba":
        raise UnavailableError("torchvision has no Population Based Augmentation")
    augmentations = {
        "randaugment": lambda: v2.RandAugment(pipeline.layers, MAGNITUDE),
        "autoaugment": v2.AutoAugment,
        "trivialaugment": v2.TrivialAugmentWide,
    }
    augmentation = augmentations.get(pipeline.method)
    return v2.Compose(
        [
            v2.RandomResizedCrop(CROP_PX),
            v2.RandomHorizontalFlip(),
            *([] if augmentation is None else [augmentation()]),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )


@contextmanager
def open_torchvision(
    photos: Photos, pipeline: Pipeline, cores: int, decode: Decode | None = None
) -> Iterator[Iterable[Any]]:
    """Make a DataLoader with a worker for each core; `decode` takes the place of reading files."""
    torch, _ = _torchvision()
    gc.collect()  # what an earlier loader left behind must not be forked with its threads
    data = torch.utils.data
    dataset = TorchPhotos(photos, torchvision_transform(pipeline), decode)
    mix = torchvision_mixing(pipeline)

    def collate(samples: Any) -> Any:
        batch = data.default_collate(samples)
        return batch if mix is None else mix(*batch)

    with warnings.catch_warnings():
        # torch warns of workers beyond the cores it may use.
        warnings.filterwarnings("ignore", "This DataLoader will create", UserWarning)
        loader = data.DataLoader(
            dataset,
            batch_size=BATCH_SIZE,
            shuffle=True,
            num_workers=cores,
            prefetch_factor=_TORCH_PREFETCH,
            persistent_workers=True,
            pin_memory=torch.cuda.is_available(),
            multiprocessing_context=WORKER_START,
            worker_init_fn=_leave_interrupts,
            collate_fn=collate,
        )
        try:
            yield loader
        finally:
            _end_workers(loader)


def _end_workers(loader: Any) -> None:
    """Wait until the workers have ended: they first finish what they have begun.

    Otherwise they would do that on the cores of the loader that is measured next.
    """
    # torch has no public way: persistent workers end with their iterator, whenever that is freed.
    iterator = loader._iterator  # noqa: SLF001
    if iterator is not None:
        iterator._shutdown_workers()  # noqa: SLF001


def _leave_interrupts(worker: int) -> None:
    """Leave Ctrl-C to the main process, which then ends its workers; else both may wait forever."""
    del worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def torchvision_mixing(pipeline: Pipeline) -> Any:
    """Return what mixes a batch of images and labels; None if nothing does."""
    v2 = _torchvision()[1].transforms.v2
    mixing = {"mixup": v2.MixUp, "cutmix": v2.CutMix}.get(pipeline.method)
    return None if mixing is None else mixing(num_classes=CLASSES)


def _torchvision() -> tuple[Any, Any]:
    try:
        return import_torchvision()
    except ImportError as error:
        raise UnavailableError(f"torchvision does not import here ({error})") from error


@contextmanager
def _open_dali(photos: Photos, pipeline: Pipeline, cores: int) -> Iterator[Iterable[Any]]:
    if pipeline.method == "pba":
        raise UnavailableError("DALI has no Population Based Augmentation")
    try:
        from penstock.experiments.overhead.dali import DaliBatches
    except ImportError as error:
        raise UnavailableError(
            f"DALI does not import here ({error}); pip install nvidia-dali-cuda120"
        ) from error
    indices = epoch_indices(len(photos.paths))
    labels = photos.labels
    batches = DaliBatches(
        [photos.paths[index] for index in indices],
        [labels[index] for index in indices],
        pipeline,
        cores,
        seed=_SEED,
        prefetch=_DALI_PREFETCH,
    )
    # It mixes no batches itself, so torchvision does, in the training loop.
    mix = torchvision_mixing(pipeline) if pipeline.method in {"mixup", "cutmix"} else None
    with library_threads(cores):
        yield batches if mix is None else _Mixed(batches, mix)


class _Mixed:
    """Batches, each mixed as it comes."""

    def __init__(self, batches: Iterable[Any], mix: Any) -> None:
        self._batches, self._mix = batches, mix

    def __iter__(self) -> Iterator[Any]:
        for images, labels in self._batches:
            yield self._mix(images, labels)
