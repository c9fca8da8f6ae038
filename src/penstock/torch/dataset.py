"""A torch Dataset whose samples are read, decoded and transformed natively."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils import data as torch_data

from penstock._core import active_isa
from penstock.data.columns import label_column
from penstock.data.open_data import open_loader_data
from penstock.data.packed import PackedSource
from penstock.errors import LoaderError, SampleIndexError, told_by
from penstock.geometry import Ints
from penstock.limits import Limits, limits_or_in_force
from penstock.loading.failures import Ledger
from penstock.loading.options import RunOptions, read_allow
from penstock.loading.ranks import find_ranks, find_threads
from penstock.loading.selection import Listed
from penstock.loading.work import Asked, Work
from penstock.planner.cut import is_random
from penstock.planner.plan import Plan
from penstock.rng import check_epoch, check_key
from penstock.sources import Labels, Source
from penstock.torch.drawn_epoch import DrawnEpoch
from penstock.torch.in_process import Engine, Recipe
from penstock.transforms.targets import Targets
from penstock.transforms.values import Layout
from penstock.translation.transforms.lines import Translation


class Dataset(torch_data.Dataset[Any]):
    """Samples of a data set, for torch's DataLoader, its samplers, and whatever is built on them.

    `data` is whatever `penstock.Loader` reads, and all arguments mean what they mean there. A
    sample is what a Loader delivers of it, without the dimension of the batch: `(image, label)`,
    `(image, target)`, a dictionary. A label that is a whole number is a Python int.

    torch's DataLoader asks for a whole batch at a time, which is then read, decoded and
    transformed together. `penstock.torch.DataLoader` also prepares batches ahead, without worker
    processes (docs/torch.md).

    - `as_dict`: a mapping gives keys other names: {"image": "pixel_values", "label": "labels"}.
    - `seed`: None draws from torch's own generator, so that `torch.manual_seed` repeats what was
      drawn. A number draws as `Loader(seed=...)` does: the same image for the same epoch and
      sample. The epoch is then the one last given to `set_epoch`, in worker processes, too.
    - `threads`: None takes one in a worker process of a DataLoader, and elsewhere the cores that
      this process may use, divided by LOCAL_WORLD_SIZE.
    - `on_error`: "raise"; "substitute" takes the next sample of the data set that can be read, with
      its label; "skip" leaves bad samples out of a batch, which is then shorter, and is an error
      where a single sample is asked for.
    """

    @told_by("Dataset")
    def __init__(
        self,
        data: Any,
        *,
        transform: Any = None,
        labels: Any = None,
        targets: Targets | str | None = None,
        masks: Any = None,
        mask_fill: int = 0,
        background: bool = True,
        columns: Sequence[str] | None = None,
        as_dict: bool | Mapping[str, str] = False,
        dtype: Any = None,
        layout: Layout = "chw",
        seed: int | None = None,
        threads: int | None = None,
        plan: bool = True,
        fidelity: str = "exact",
        allow: Iterable[str] = (),
        on_error: str = "raise",
        pixel_limit: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        active_isa()  # so that a wrong PENSTOCK_SIMD is an error here, not at the first file
        allowed = limits_or_in_force(limits)
        running = RunOptions(
            1 if threads is None else threads,
            0,
            "native",
            fidelity,
            on_error,
            allowed.pixels if pixel_limit is None else pixel_limit,
            plan,
            read_allow(allow),
        )
        check_seed("Dataset", seed)
        if targets == "yolo":
            raise LoaderError(
                "Dataset: targets='yolo' puts the boxes of a whole batch into flat arrays, which "
                "single samples have not. Use penstock.Loader, or targets='list'."
            )
        source = open_loader_data(data, labels, masks, allowed)
        # The source has the masks by now, wherever they were given.
        wants_masks = masks if masks is None or isinstance(masks, bool) else True
        asked = Asked(
            transform,
            targets,
            wants_masks,
            mask_fill,
            background,
            columns,
            as_dict,
            dtype,
            layout,
        )
        self.seed = seed
        self._threads = threads
        self._recipe = Recipe(source, asked, running, allowed)
        self._engine = Engine(self._recipe, partial(_threads_here, self._threads))
        self._epoch = DrawnEpoch()

    @told_by("Dataset")
    def with_transform(self, transform: Any) -> Dataset:
        """Return a Dataset of the same samples with another transform; this one stays as it is."""
        asked = replace(self._recipe.asked, transform=transform)
        recipe = replace(self._recipe, asked=asked)
        other = type(self).__new__(type(self))
        other.__setstate__({**self.__getstate__(), "_recipe": recipe, "_epoch": DrawnEpoch()})
        return other

    def __len__(self) -> int:
        """Samples in the data set."""
        return len(self._recipe.source)

    def __getitem__(self, index: int) -> Any:
        """Return one sample; negative indices count from the end, as in a list."""
        made = self._make([index])
        if not made:
            (reason,) = [e for e in self.ledger if e.sample == self.position(index)]
            raise LoaderError(
                f"Dataset: sample {index} cannot be used: {reason}. on_error='skip' leaves it out "
                "of a batch, but it was asked for alone. Use on_error='substitute'."
            )
        return tuple(made[0]) if isinstance(made[0], tuple) else made[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Return several samples, which are made together; torch's DataLoader asks for them so.

        With on_error="skip" the list is shorter if some cannot be read.
        """
        made = self._make(list(indices))
        if not made and len(indices):
            raise LoaderError(
                f"Dataset: none of {len(indices):,} samples asked for can be used, so "
                "on_error='skip' leaves nothing of the batch. Use on_error='substitute', or larger "
                "batches."
            )
        if self.seed is not None:
            self._epoch.count(len(set(indices)), len(self), lambda: is_random(self.plan))
        return made

    def position(self, index: Any) -> int:
        """Return which sample is meant by an index; raises an IndexError if there is none."""
        try:
            position = operator.index(index)
        except TypeError as error:
            raise LoaderError(
                f"Dataset: an index must be a whole number, got {type(index).__name__}. Ask for "
                "several samples with torch's Subset or a sampler."
            ) from error
        if not -len(self) <= position < len(self):
            raise SampleIndexError(f"Dataset: sample {position} of {len(self):,}.")
        return position % len(self)

    @property
    def epoch(self) -> int:
        """The epoch whose draws are made with a `seed`."""
        return self._epoch.number

    def set_epoch(self, epoch: int) -> None:
        """Make samples with the draws of `epoch` from now on, in worker processes, too."""
        self._epoch.set(check_epoch("Dataset", epoch))

    @property
    def source(self) -> Source:
        """The data set as it was opened."""
        return self._recipe.source

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels, in the order of their numbers, if they are known."""
        return self.work.beside.classes

    @property
    def class_to_idx(self) -> Mapping[str, int] | None:
        """The number of each class, if they have names; as torchvision's ImageFolder has it."""
        return None if self.classes is None else {n: i for i, n in enumerate(self.classes)}

    @property
    def labels(self) -> Labels | None:
        """The label of every sample, for samplers; None without labels."""
        found = label_column(self.source)
        return None if found is None else found.at(np.arange(len(self)))

    def sizes(self) -> Ints | None:
        """Return the (height, width) of every image, for samplers.

        None where finding out would mean to open every file: only packed files have them listed.
        """
        if not isinstance(self.source, PackedSource):
            return None
        records = self.source.records(np.arange(len(self)))
        return np.stack([records.heights, records.widths], axis=1).astype(np.int64)

    @property
    def ledger(self) -> Ledger:
        """Every file that this process skipped, replaced or took the slow path for."""
        return self._here().ledger

    @property
    def plan(self) -> Plan:
        """The steps as they are written."""
        return self.work.plan

    @property
    def transform(self) -> Any:
        """The transform that was given; another one needs another Dataset."""
        return self._recipe.asked.transform

    @transform.setter
    def transform(self, given: Any) -> None:
        raise LoaderError(
            f"Dataset: its transform cannot be replaced, here by {type(given).__name__}, since all "
            "work was planned with it. Use dataset.with_transform(...). timm's create_loader puts "
            "in a transform; penstock.timm.create_loader takes this Dataset."
        )

    @property
    def translation(self) -> Translation:
        """What became of each transform of torchvision's, timm's or Albumentations' given to it."""
        return self.work.translation

    @property
    def threads(self) -> int | None:
        """The threads that were asked for."""
        return self._threads

    @property
    def work(self) -> Work:
        """What is done to samples, for loaders that make them by themselves."""
        return self._here().work

    @property
    def running(self) -> RunOptions:
        """How it is done, for the same."""
        return self._recipe.running

    @property
    def names(self) -> Mapping[str, str]:
        """What the keys of samples are called instead, for the same."""
        return self._recipe.names

    def close(self) -> None:
        """Stop the threads now; asking for a sample starts new ones."""
        if self._engine.process == os.getpid():
            self._engine.close()

    def __getstate__(self) -> dict[str, Any]:
        """Leave threads out; they are started anew wherever this is unpickled."""
        return {name: value for name, value in vars(self).items() if name != "_engine"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._engine = Engine(self._recipe, partial(_threads_here, self._threads))

    def __repr__(self) -> str:
        draws = "torch's generator" if self.seed is None else f"seed={self.seed}"
        element = self.work.output.element.name.lower()
        return f"Dataset({self.source.describe()}, dtype={element}, draws from {draws})"

    @told_by("Dataset")
    def _make(self, indices: Sequence[Any]) -> list[Any]:
        samples: Ints = np.array([self.position(index) for index in indices], dtype=np.int64)
        if not len(samples):
            return []
        seed = draw_key() if self.seed is None else self.seed
        return self._here().make(Listed(samples).at(np.arange(len(samples))), seed, self.epoch)

    def _here(self) -> Engine:
        """The engine of this process."""
        if self._engine.process != os.getpid():
            self._engine = self._engine.anew()
        return self._engine


def _threads_here(asked: int | None) -> int:
    if asked is not None:
        return asked
    is_worker = torch_data.get_worker_info() is not None
    return 1 if is_worker else find_threads(find_ranks(None, None))


def draw_key(generator: torch.Generator | None = None) -> int:
    """Draw what keys the random numbers of samples, as torch's DataLoader draws its seeds."""
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


def check_seed(where: str, seed: Any) -> None:
    """Raise unless it is None or fits the key of random numbers."""
    if seed is None:
        return
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise LoaderError(f"{where}: seed must be None or a whole number, got {seed!r}.")
    check_key(seed, 0)
