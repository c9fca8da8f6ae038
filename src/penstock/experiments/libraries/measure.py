"""Times of operations and chains, and how far each library's pixels are from Pillow's.

In each iteration every library has its turn, so that slow minutes of a machine fall on all. An
iteration takes as many photos as make it long enough to be measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

import numpy as np

from penstock.experiments.experiment import Task
from penstock.experiments.libraries.ours import (
    NAME,
    PLANS,
    STORAGES,
    OurData,
    first_image,
    seconds_per_image,
    title,
)
from penstock.experiments.libraries.photos import cache_folder, photos_of
from penstock.experiments.libraries.toolkits import Pixels, Toolkit
from penstock.experiments.libraries.work import (
    CHAINS,
    LOAD,
    OPS,
    Chain,
    Photos,
    Settings,
    chain_key,
    ops_key,
    pixels_key,
)
from penstock.loading.loader import Loader
from penstock.packing.pack import pack

CUMULATIVE = ("exact",)  # plans of which each step is measured, not only the last
_DIGITS = 3


class Bench:
    """The libraries, and the photos and loaders that are in use at the moment."""

    def __init__(self, settings: Settings, toolkits: Sequence[Toolkit]) -> None:
        self._settings = settings
        self._toolkits = toolkits
        self._data: dict[str, tuple[list[str], OurData]] = {}
        self._open_for: object = None
        self._loaders: dict[tuple[str, ...], Loader] = {}
        self._stack = ExitStack()

    def tasks(self) -> Iterator[Task]:
        """Yield what is to be measured, in a good order: photos of a size stay in memory."""
        for photos in self._settings.sizes:
            rounds = self._settings.rounds_of(photos)
            if photos.width_px * photos.height_px <= self._settings.compared_px:
                yield Task(
                    pixels_key(photos),
                    f"{photos.name}: pixels",
                    partial(self._pixels, photos),
                )
            for number in rounds:
                yield Task(
                    ops_key(photos, number),
                    f"{photos.name}: operations, iteration {number + 1}",
                    partial(self._ops, photos, number),
                )
            for chain, number in product(CHAINS, rounds):
                yield Task(
                    chain_key(photos, chain, number),
                    f"{photos.name}: {chain.name}, iteration {number + 1}",
                    partial(self._chain, photos, chain, number),
                )

    def close(self) -> None:
        """Free loaders and libraries."""
        self._stack.close()
        for toolkit in self._toolkits:
            toolkit.close()

    def _ops(self, photos: Photos, iteration: int) -> dict[str, Any]:
        """Return for each library and operation: milliseconds of loading, and of both."""
        paths = self._turn(photos, iteration)
        found: dict[str, Any] = {}
        for toolkit in self._toolkits:
            toolkit.seconds(paths[:1], ["flip"])  # what comes first after another library is slow
            found[toolkit.name] = {op: _mean_ms(toolkit.seconds(paths, [op])) for op in OPS}
        for storage in STORAGES:
            loaded = self._seconds(photos, "ops", storage, "exact", ())
            found[title(storage, "exact")] = {
                op: [_ms(loaded), _ms(self._seconds(photos, "ops", storage, "exact", (op,)))]
                for op in OPS
            }
        return found

    def _chain(self, photos: Photos, chain: Chain, iteration: int) -> dict[str, list[float]]:
        """Return for each library milliseconds after loading and each step; or at the end only."""
        paths = self._turn(photos, iteration)
        found: dict[str, list[float]] = {}
        for toolkit in self._toolkits:
            toolkit.seconds(paths[:1], ["flip"])
            found[toolkit.name] = _mean_ms(toolkit.seconds(paths, chain.steps))
        for storage, plan in product(STORAGES, PLANS):
            each = self._settings.cumulative and plan in CUMULATIVE
            lengths = range(0 if each else len(chain.steps), len(chain.steps) + 1)
            found[title(storage, plan)] = [
                _ms(self._seconds(photos, chain.name, storage, plan, chain.steps[:length]))
                for length in lengths
            ]
        return found

    def _turn(self, photos: Photos, iteration: int) -> list[str]:
        """Return the photos that a library takes in an iteration; the next takes the next ones."""
        files, _ = self._data_of(photos)
        first = iteration * photos.turn
        return [files[(first + number) % len(files)] for number in range(photos.turn)]

    def _pixels(self, photos: Photos) -> dict[str, Any]:
        """Return mean and largest difference to Pillow for each operation and chain."""
        files, ours = self._data_of(photos)
        works = {LOAD: (), **{op: (op,) for op in OPS}}
        works |= {chain.name: chain.steps for chain in CHAINS}
        found: dict[str, Any] = {toolkit.name: {} for toolkit in self._toolkits}
        found |= {f"{NAME} {plan}": {} for plan in PLANS}
        for work, steps in works.items():
            expected = self._toolkits[0].result(files[0], steps)
            for toolkit in self._toolkits:
                result = toolkit.result(files[0], steps)
                found[toolkit.name][work] = difference(result, expected)
            # A single operation has nothing that a plan could change.
            for plan in PLANS if len(steps) > 1 else ("exact",):
                loader = ours.open("file", plan, steps)
                try:
                    found[f"{NAME} {plan}"][work] = difference(first_image(loader), expected)
                finally:
                    loader.close()
        return found

    def _seconds(
        self, photos: Photos, work: str, storage: str, plan: str, steps: Sequence[str]
    ) -> float:
        """Return the time per image of a loader, which stays open while the work is the same."""
        if self._open_for != (photos, work):
            self._stack.close()
            self._loaders.clear()
            self._open_for = photos, work
        key = (storage, plan, *steps)
        if key not in self._loaders:
            loader = self._data_of(photos)[1].open(storage, plan, steps)
            self._loaders[key] = loader
            self._stack.callback(loader.close)
            seconds_per_image(loader)  # the first epoch also makes the plan
        return seconds_per_image(self._loaders[key])

    def _data_of(self, photos: Photos) -> tuple[list[str], OurData]:
        """Return distinct photos, and the same for our loaders: as often as a pass has images."""
        if photos.name not in self._data:
            real = None if self._settings.photos is None else Path(self._settings.photos)
            files = photos_of(photos.size, photos.distinct, real)
            listed = list(islice(cycle(files), photos.images))
            packed = cache_folder() / f"{'made' if real is None else 'real'}-{photos.name}.pen"
            packed.unlink(missing_ok=True)
            pack(listed, packed, progress=False)
            self._data[photos.name] = files, OurData(photos.size, listed, packed)
        return self._data[photos.name]


def difference(result: Pixels, expected: Pixels) -> list[float]:
    """Return the mean and the largest difference of levels; refuses results of another size."""
    if result.shape != expected.shape:
        raise AssertionError(f"{result.shape} is not Pillow's {expected.shape}")
    levels = np.abs(result.astype(np.int16) - expected)
    return [round(float(levels.mean()), 4), int(levels.max())]


def _mean_ms(times: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean over photos of the times after each step."""
    return [_ms(sum(column) / len(column)) for column in zip(*times, strict=True)]


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, _DIGITS)
