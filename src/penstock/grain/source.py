"""A data source for Grain: samples by their positions, decoded one by one or as a whole batch."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import grain
import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.limits import Limits
from penstock.loading.loader import Loader
from penstock.loading.random_access import RandomAccess
from penstock.planner.cut import follows_epochs, is_random
from penstock.rng import REPEAT_SHIFT
from penstock.transforms.values import Layout

_DRAW_BITS = 31  # of a key, above those of the sample


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample that is not read yet: `Source.read` makes a batch of some, `read_one` reads one."""

    index: int  # in the data set
    epoch: int | None  # None if it is not known
    draw: int | None = None  # of Grain's generator, on which the sample's own draws depend

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse to be stacked, as Grain does with what it takes for arrays."""
        raise LoaderError(
            "penstock.grain: these are samples that are not read yet. Batch them with "
            ".batch(size, batch_fn=source.read), or read each with .map(source.read_one)."
        )


class Draw(grain.transforms.RandomMap):
    """Lets the draws of a sample depend on Grain's generator, for `grain.DataLoader`."""

    def random_map(self, element: Sample, rng: np.random.Generator) -> Sample:
        """Return the sample with a number drawn for it."""
        if not isinstance(element, Sample):
            raise LoaderError(
                "penstock.grain.Draw: it goes before samples are read, directly after "
                f"source.samples_without_epoch(); got {type(element).__name__}."
            )
        return replace(element, draw=int(rng.integers(1 << _DRAW_BITS)))


class Source:
    """Samples of a data set by their positions, for `grain.MapDataset` and `grain.DataLoader`.

    What is read is a dictionary of NumPy arrays: "image"; "label" or "targets"; the `columns`. The
    arguments are those of `penstock.Loader`, whose batches of the same samples, epoch and seed have
    the same bytes. Bad files are errors.

    Draws depend on the seed, the sample and its epoch, or on Grain's generator after `Draw`. They
    depend on nothing else, so that Grain's checkpoints go on with the same samples.

    It can be pickled, and starts its threads in every process that reads from it.
    """

    def __init__(
        self,
        data: Any,
        *,
        transform: Any = None,
        labels: Any = None,
        targets: str | None = None,
        background: bool = True,
        columns: Sequence[str] | None = None,
        dtype: Any = None,
        layout: Layout = "chw",
        seed: int = 0,
        threads: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._data = data
        self._options = {
            "transform": transform,
            "labels": labels,
            "targets": targets,
            "background": background,
            "columns": columns,
            "dtype": dtype,
            "layout": layout,
            "seed": seed,
            "threads": threads,
            "limits": limits,
        }
        loader = self._open()
        self._length = len(loader.source)
        self._described = loader.source.describe()
        self._is_random = is_random(loader.plan)
        self._follows_epochs = follows_epochs(loader.plan)
        self.classes = loader.classes
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._access: RandomAccess | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Read one sample; refused if the transforms draw, since Grain tells a source no epoch."""
        position = int(index)
        if not 0 <= position < self._length:
            raise IndexError(f"sample {position:,} of {self._length:,}")
        return self.read_one(Sample(position, None))

    def samples(self) -> Any:
        """Return a `grain.MapDataset` of samples that know their epoch, and are not read yet."""
        return grain.MapDataset.range(self._length).map_with_index(_InEpoch(self._length))

    def samples_without_epoch(self) -> _Unread:
        """Return a data source of samples that are not read yet, for `grain.DataLoader`.

        A data source is not told the epoch there. If the transforms draw, `Draw` must be the first
        of the operations.
        """
        return _Unread(self)

    def read(self, samples: Sequence[Sample]) -> dict[str, Any]:
        """Read samples together, on all threads: for `batch(size, batch_fn=source.read)`."""
        for sample in samples:
            self._check(sample)
        indices: Ints = np.array([sample.index for sample in samples], np.int64)
        draws: Ints = np.array([sample.draw or 0 for sample in samples], np.int64)
        epochs: Ints = np.array([sample.epoch or 0 for sample in samples], np.int64)
        batch: dict[str, Any] = self._reader().read(
            indices, epochs, indices | (draws << REPEAT_SHIFT)
        )
        return batch

    def _check(self, sample: object) -> None:
        if not isinstance(sample, Sample):
            raise LoaderError(
                "penstock.grain.Source.read: samples of this source are needed, got "
                f"{type(sample).__name__}. Begin with source.samples()."
            )
        if sample.epoch is not None:
            return
        if self._follows_epochs:
            raise LoaderError(
                "penstock.grain: a transform follows a schedule of epochs, but nothing says in "
                "which epoch a sample is. Begin with source.samples(), without grain.DataLoader."
            )
        if self._is_random and sample.draw is None:
            raise LoaderError(
                "penstock.grain: the transforms draw random numbers, but nothing says in which "
                "epoch a sample is, so that all epochs would have the same draws. Begin with "
                "source.samples(); with grain.DataLoader, use source.samples_without_epoch() and "
                "put penstock.grain.Draw() first among the operations."
            )

    def read_one(self, sample: Sample) -> dict[str, Any]:
        """Read one sample: for `map(source.read_one)`. `read` is faster for many."""
        one: dict[str, Any] = _first(self.read([sample]))
        return one

    def __repr__(self) -> str:
        """Say what a checkpoint must have in common with the source that goes on from it."""
        return f"penstock.grain.Source({self._described}, seed={self._options['seed']})"

    def __getstate__(self) -> dict[str, Any]:
        own = ("_lock", "_owner", "_access")  # of this process
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def _open(self) -> Loader:
        return Loader(
            self._data, as_dict=True, output="numpy", rank=0, world_size=1, **self._options
        )

    def _reader(self) -> RandomAccess:
        """The threads of this process."""
        if self._owner != os.getpid():
            # Forked: the threads did not come along, and the lock may have been held meanwhile.
            self._lock = threading.Lock()
            self._access, self._owner = None, os.getpid()
        with self._lock:
            if self._access is None:
                loader = self._open()
                if len(loader.source) != self._length:
                    raise LoaderError(
                        f"{self._described}: it has {len(loader.source):,} samples now. "
                        "Make a new Source."
                    )
                self._access = loader.random_access()
            return self._access


class _InEpoch(grain.transforms.MapWithIndex):
    """Gives samples the epoch that Grain's index counts."""

    def __init__(self, length: int) -> None:
        self._length = length

    def map_with_index(self, index: int, element: int) -> Sample:
        return Sample(int(element), int(index) // self._length)


class _Unread:
    """The samples of a source, as a data source of Grain's."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, index: int) -> Sample:
        if not 0 <= index < len(self):
            raise IndexError(f"sample {index:,} of {len(self):,}")
        return Sample(int(index), None)

    def __repr__(self) -> str:
        return repr(self._source)


def _first(value: Any) -> Any:
    """What belongs to the first sample of a batch."""
    if isinstance(value, dict):
        return {name: _first(inner) for name, inner in value.items()}
    return value[0]
