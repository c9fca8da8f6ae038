"""Where a DataLoader stands: which epoch it runs, how far it is, and how it goes on from there."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import data as torch_data

from penstock.geometry import Ints
from penstock.loading.epoch import Progress
from penstock.loading.told import Told
from penstock.rng import check_epoch
from penstock.torch.dataset import Dataset, draw_key
from penstock.torch.indices import EpochIndices
from penstock.torch.ranks import rank_of, ranks_of
from penstock.torch.samplers import told_since, told_so_far
from penstock.torch.state import (
    Place,
    RandomState,
    is_stateful,
    put_sampler_back,
    samplers_of,
    stateful_sampler,
)


@dataclass(slots=True)
class Run:
    """An epoch that has begun."""

    start: RandomState
    base_seed: int
    restarts: int  # epochs since `base_seed` was drawn
    before: int  # batches that were left out, as they had been delivered
    indices: EpochIndices
    progress: Progress


class Standing(torch_data.DataLoader[Any]):
    """torch's DataLoader with epochs and a state; what makes batches of them derives from it."""

    seed: int | None
    _whole: Dataset
    _within: Ints | None  # where in it the samples are; None for all of it

    def _stand_at_the_start(self) -> None:
        """Be before the first batch of the first epoch; samplers must be there."""
        self._epoch = 0  # that the next iteration runs
        self._told = Told()
        self._heard = told_so_far(self)
        self._pending: Place | None = None  # where it goes on
        self._run: Run | None = None
        self._base_seed: int | None = None
        self._restarts = 0

    @property
    def _seed_here(self) -> int | None:
        return self._whole.seed if self.seed is None else self.seed

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration runs."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration run `epoch`, and tell samplers that have a `set_epoch`.

        If a state was loaded that stands in this very epoch, it is gone on from there; else the
        epoch runs from its start.
        """
        self._epoch = check_epoch("DataLoader", epoch)
        if self._pending is not None and self._pending.epoch != epoch:
            self._pending = None
        self._tell_samplers(epoch)
        self._told = Told()

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands: after the batches delivered so far.

        It has the states of torch's generators and samplers, and can be saved by `torch.save`.
        """
        return self._place().as_dict(self._described())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next iteration go on from a `state_dict`, batch for batch.

        When that iteration begins, torch's generators are put where they were when it was saved.
        """
        self._pending = Place.from_dict(state, self._described())
        self._epoch = self._pending.epoch
        self._told = Told()
        if self._pending.batches:
            self._told = Told(self._pending.told, self._pending.epoch)
        self._run = None

    def _begin(self) -> Run:
        """Begin the epoch that comes next, as far as it is known before the first batch."""
        told = told_since(self._heard, told_so_far(self))
        return self._follow(told, self._begin_where_it_stands(told))

    def _follow(self, told: int | None, run: Run) -> Run:
        """Run the epoch that a framework told the samplers, if it did."""
        if told is None:
            return run
        if run.before:
            if not self._told.leaves(told, run.progress.epoch):
                self._told = Told(told, run.progress.epoch)
                return run
            self._tell_samplers(told)
            run = self._begin_where_it_stands(None)
        run.progress.epoch = self._told.begin(told, run.progress.epoch)
        self._epoch = run.progress.epoch + 1
        return run

    def _tell_samplers(self, epoch: int) -> None:
        for _, sampler in samplers_of(self):
            if callable(getattr(sampler, "set_epoch", None)):
                sampler.set_epoch(epoch)
        self._heard = told_so_far(self)

    def _begin_where_it_stands(self, told: int | None) -> Run:
        """Ask generators and samplers, in the order in which torch's loader does."""
        place = self._pending
        is_own = place is not None and place.rank == rank_of(self)
        if place is not None:
            place.start.restore(self, is_own=is_own)
            if told is not None and not place.batches:
                self._tell_samplers(told)  # again: they stand as in the epoch before
        self._heard = told_so_far(self)
        start, stateful = RandomState.of(self), stateful_sampler(self)
        sampler_state = None if stateful is None else copy.deepcopy(stateful.state_dict())
        if place is not None and place.sampler is not None:
            sampler_state = place.sampler
            listed = put_sampler_back(place, stateful, self._list_indices)
        else:
            listed = self._list_indices()
        self._draw_base_seed(place)
        before = 0 if place is None else place.batches
        indices = EpochIndices(
            listed,
            self._whole,
            self._within,
            listed if is_stateful(listed) else stateful,
            single=self.batch_sampler is None,
            before=sampler_state,
        )
        if place is not None and place.batches:
            if place.sampler is None:
                indices.skip(before)
            else:
                indices.count_on(place.seen)
            if is_own:
                torch.set_rng_state(place.now)
        progress = Progress(self._epoch, 0, before)
        self._epoch, self._pending = self._epoch + 1, None
        return Run(start, self._base_seed or 0, self._restarts, before, indices, progress)

    def _list_indices(self) -> Any:
        return iter(self._index_sampler)

    def _draw_base_seed(self, place: Place | None) -> None:
        """Draw the seed that torch's loader draws for its workers.

        Workers that persist get one only when they are started, and count epochs from there.
        """
        if place is not None and place.restarts:
            self._base_seed, self._restarts = place.base_seed, place.restarts
        elif place is None and self._next_restarts():
            self._restarts = self._next_restarts()
        else:
            self._base_seed, self._restarts = draw_key(self.generator), 0

    def _next_restarts(self) -> int:
        """How many epochs the next one is away from the draw of its base seed."""
        persists = self.persistent_workers and self.num_workers > 0
        return self._restarts + 1 if persists and self._base_seed is not None else 0

    def _place(self) -> Place:
        run = self._run
        if run is None and self._pending is not None:
            return self._pending
        now = RandomState.of(self)
        if run is None or run.progress.finished:
            stateful = stateful_sampler(self)
            return Place(
                self._epoch,
                0,
                now,
                now.of_torch,
                self._base_seed,
                self._next_restarts(),
                None if stateful is None else stateful.state_dict(),
                rank=rank_of(self),
            )
        sampler, seen = None, None
        if run.indices.is_stateful:
            sampler, counts = run.indices.state_after(run.progress.batches - run.before)
            seen = torch.from_numpy(counts)
        return Place(
            run.progress.epoch,
            run.progress.batches,
            run.start,
            now.of_torch,
            run.base_seed,
            run.restarts,
            sampler,
            seen,
            self._told.epoch,
            rank_of(self),
        )

    def _described(self) -> dict[str, Any]:
        """What must be the same for a state to go on: it is refused by these names."""
        sampler = self._index_sampler
        return {
            "seed": self._seed_here,
            "length": len(self._whole if self._within is None else self._within),
            "batch_size": self.batch_size or getattr(sampler, "batch_size", None),
            "drop_last": bool(getattr(sampler, "drop_last", False)),
            "sampler": [type(one).__name__ for _, one in samplers_of(self)],
            "ranks": ranks_of(self) or 1,
        }
