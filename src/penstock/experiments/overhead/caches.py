"""A control: would a cache do? Of decoded images, and of augmented ones.

cache/decoded/ROUND    {"pipeline": images/s, "end_to_end": {TARGET: images/s}, "bytes": each}
cache/augmented        {"photos": n, "epochs": n, "distinct": n, "distinct_cached": n}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from penstock.experiments.experiment import Task
from penstock.experiments.overhead.loaders import (
    Opened,
    TorchPhotos,
    in_flight,
    open_torchvision,
    torchvision_transform,
)
from penstock.experiments.overhead.photos import Photos
from penstock.experiments.overhead.settings import TORCHVISION, Pipeline, Settings
from penstock.experiments.overhead.targets import Target

EPOCHS = 3
_PHOTOS = 24  # whose augmented images are counted

MeasureRates = Callable[[Opened, int, int, Sequence[Target]], dict[str, Any]]


def cache_tasks(
    number: int,
    photos: Photos,
    settings: Settings,
    targets: Sequence[Target],
    measure_rates: MeasureRates,
) -> Iterator[Task]:
    """Return the measurements of a round; counting is done in the first one alone."""
    if TORCHVISION not in settings.loaders:
        return
    pipeline, cores = settings.typical, settings.most_cores

    def decoded() -> dict[str, Any]:
        plain = TorchPhotos(photos, None)
        # Decoded before the workers begin, which then share the memory.
        kept = [plain.decode(photo) for photo in range(len(photos.paths))]
        size = sum(3 * image.width * image.height for image in kept) / len(kept)
        opened = open_torchvision(photos, pipeline, cores, kept.__getitem__)
        rates = measure_rates(opened, cores, in_flight(TORCHVISION, cores), targets)
        return rates | {"bytes": size}

    yield Task(f"cache/decoded/{number}", f"a cache of decoded images, round {number + 1}", decoded)
    if not number:
        yield Task(
            "cache/augmented",
            "a cache of augmented images",
            lambda: count_distinct(photos, pipeline),
        )


def count_distinct(photos: Photos, pipeline: Pipeline) -> dict[str, int]:
    """Count different augmented images over some epochs, with a cache of them and without."""
    transform = torchvision_transform(pipeline)
    data = TorchPhotos(photos, transform)
    count = min(_PHOTOS, len(photos.paths))
    cached = {photo: _digest(transform(data.decode(photo))) for photo in range(count)}
    fresh, repeated = set(), set()
    for _ in range(EPOCHS):
        for photo in range(count):
            fresh.add(_digest(transform(data.decode(photo))))
            repeated.add(cached[photo])
    return {
        "photos": count,
        "epochs": EPOCHS,
        "distinct": len(fresh),
        "distinct_cached": len(repeated),
    }


def _digest(image: Any) -> bytes:
    return sha256(image.numpy().tobytes()).digest()
