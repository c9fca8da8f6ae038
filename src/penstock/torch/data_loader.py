"""A torch DataLoader that works with native threads instead of worker processes."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils import data as torch_data
from torch.utils.data import default_collate

from penstock.errors import LoaderError
from penstock.loading.again import Again, read_place
from penstock.loading.deliver import IMAGE
from penstock.loading.epoch import Delivering, Epoch, Iteration, Progress
from penstock.loading.failures import Ledger
from penstock.loading.mix import Mixer, even_counts, open_mixer
from penstock.loading.options import RunOptions
from penstock.loading.past_batch import PastBatch, Where
from penstock.loading.pipeline import Pipeline
from penstock.loading.ranks import find_ranks, find_threads
from penstock.loading.runtime import Runtime, RuntimeOwner
from penstock.loading.told import Told
from penstock.rng import check_epoch
from penstock.sources import Source
from penstock.torch.again import epoch_of_samplers, list_again, pick
from penstock.torch.dataset import Dataset, check_seed, draw_key
from penstock.torch.delivery import OnlyOurs, TorchDelivery, open_delivery
from penstock.torch.in_process import leave_behind, pipeline_of
from penstock.torch.indices import EpochIndices, unwrap
from penstock.torch.ranks import rank_of, ranks_of, warn_of_ranks
from penstock.torch.samplers import (
    RandomSampler,
    SequentialSampler,
    lists_at_leisure,
    told_since,
    told_so_far,
)
from penstock.torch.state import (
    Place,
    RandomState,
    is_stateful,
    put_sampler_back,
    samplers_of,
    stateful_sampler,
)
from penstock.transforms.policies.population import PopulationBasedAugment

_PREFETCH = 2  # batches beyond the one asked for, where prefetch_factor says nothing


@dataclass(slots=True)
class _Run:
    """An epoch that has begun."""

    start: RandomState
    base_seed: int
    restarts: int  # epochs since `base_seed` was drawn
    before: int  # batches that were left out, as they had been delivered
    indices: EpochIndices
    progress: Progress


class DataLoader(torch_data.DataLoader[Any]):
    """torch's DataLoader over a `penstock.torch.Dataset`, whose batches are made natively.

    It takes the arguments of torch's DataLoader and has its attributes, samplers and order: after
    `torch.manual_seed` it lists the same samples as torch's, and leaves torch's generator in the
    same state. Batches are what torch's `default_collate` makes of the samples, or `collate_fn`.

    `dataset` may also be a `Subset`, however nested, or whatever `penstock.Loader` reads.

    What differs (docs/torch.md):

    - `num_workers`: kept, but no process is started; `threads` of this process do the work. So
      `worker_init_fn`, `multiprocessing_context` and `timeout` have nothing to act on, and
      `persistent_workers` none to keep; threads always stay from epoch to epoch.
    - `prefetch_factor`: how many batches are prepared beyond the one that is asked for, in all.
    - `in_order`: batches always come in order.
    - `seed`: None keys random draws by the seed that torch's loader draws for its workers in each
      epoch. A number keys them by seed, epoch and sample, as `penstock.Loader` does.
    - `threads`: None takes those of the dataset or, if it says nothing either, the cores that this
      process may use, divided by LOCAL_WORLD_SIZE.
    - `batch_transform`: MixUp, CutMix or a RandomChoice of them, as in `penstock.Loader`.
    - `state_dict` and `load_state_dict` go on in the middle of an epoch, batch for batch.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        seed: int | None = None,
        threads: int | None = None,
        batch_transform: Any = None,
    ) -> None:
        check_seed("DataLoader", seed)
        if _is_data(dataset):
            dataset = Dataset(dataset, seed=seed, threads=threads)
        self._whole, self._within = unwrap(dataset)
        if isinstance(collate_fn, OnlyOurs):  # a framework makes this loader anew
            collate_fn = None
        if sampler is None and batch_sampler is None:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
            shuffle = None
        super().__init__(
            dataset,
            batch_size,
            shuffle,
            sampler,
            batch_sampler,
            num_workers,
            collate_fn,
            pin_memory,
            drop_last,
            timeout,
            worker_init_fn,
            multiprocessing_context,
            generator,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device,
            **({} if in_order else {"in_order": False}),  # older versions do not know it
        )
        self.seed = seed
        self.threads = threads
        self.batch_transform = batch_transform
        self._mixer = self._open_mixer()
        if self._mixer is not None and self.collate_fn is default_collate:
            self.collate_fn = OnlyOurs(batch_transform)
        self._epoch = 0  # that the next iteration runs
        self._told = Told()
        self._heard = told_so_far(self)
        self._pending: Place | None = None  # where it goes on
        self._run: _Run | None = None
        self._base_seed: int | None = None
        self._restarts = 0
        self._listed: dict[int, int | None] = {}  # epochs, and what samplers were told of them
        self._warned = False
        self._open_runtimes()

    @property
    def source(self) -> Source:
        """The data set as it was opened."""
        return self._whole.source

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels, in the order of their numbers, if they are known."""
        return self._whole.classes

    @property
    def ledger(self) -> Ledger:
        """Every file that was skipped, replaced or took the slow path, with the reason."""
        return self._runtimes.ledger

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

    def __iter__(self) -> Any:
        """Begin an epoch, with the draws from torch's generators that torch's loader makes."""
        if not self._warned:
            self._warned = warn_of_ranks(self)
        run = self._begin()
        self._run = run
        iteration = Iteration(lambda: self._start(run))
        if self.num_workers > 0:  # torch asks the sampler at once where it has worker processes
            if not self._heard:
                iteration.start()
            elif not lists_at_leisure(self):
                run.indices.ask_first()
        return iteration

    def check_worker_number_rationality(self) -> None:
        """Say nothing about the number of worker processes, as none are started."""

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

    def batch_at(
        self, epoch: int, step: int, *, rank: int | None = None, world_size: int | None = None
    ) -> PastBatch:
        """Make a batch again that was delivered before, as `penstock.Loader.batch_at` does.

        It needs a `seed`, and an order that can be listed again: `shuffle=False`, torch's
        DistributedSampler, or one of penstock's samplings with `bind`. Samplers list the epoch as
        this loader ran it or, if it has not, as after `set_epoch(epoch)`.
        """
        read_place(epoch, step)
        self._leave_other_processes()
        if self._seed_here is None:
            raise LoaderError(
                "batch_at: random draws are keyed by what torch's generator gave when the epoch "
                "began, which is not known any more. Give the DataLoader a seed=."
            )
        told = self._listed.get(epoch)
        order = list_again(self, epoch if told is None else told, rank, world_size)
        indices = EpochIndices(
            iter(order.sampler), self._whole, self._within, None, single=self.batch_sampler is None
        )
        picked = pick(indices, epoch, step)
        delivery, one_size = self._delivery()
        pipeline = self._pipeline()
        rules = self._runtimes.rules_for(pipeline)
        again = Again(pipeline, rules, self._mixer, delivery, self._seed_here, one_size)
        return again.make(picked, Where(epoch, step, order.rank, order.world_size))

    def close(self) -> None:
        """Stop the threads now; iterating again starts new ones."""
        self._runtimes.close()

    def __getstate__(self) -> dict[str, Any]:
        """Leave threads and unfinished epochs out."""
        return {name: value for name, value in vars(self).items() if name not in _OF_A_PROCESS}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._run = None
        self._mixer = self._open_mixer()
        self._open_runtimes()

    def __repr__(self) -> str:
        draws = "torch's generator" if self._seed_here is None else f"seed={self._seed_here}"
        size = self.batch_size or type(self.batch_sampler).__name__
        return (
            f"DataLoader({self.source.describe()}, batch_size={size}, "
            f"{type(self.sampler).__name__}, threads={self._running().threads}, draws from {draws})"
        )

    @property
    def _seed_here(self) -> int | None:
        return self._whole.seed if self.seed is None else self.seed

    def _open_runtimes(self) -> None:
        self._process = os.getpid()
        self._runtimes = RuntimeOwner(Ledger(len(self.source), self.source.name))

    def _leave_other_processes(self) -> None:
        """Take nothing over from a process that this one was forked from."""
        if self._process != os.getpid():
            leave_behind(self._runtimes)
            self._open_runtimes()

    def _open_mixer(self) -> Mixer | None:
        work, running = self._whole.work, self._whole.running
        mixer = open_mixer(self.batch_transform, work.beside, work.delivery, work.output, running)
        if mixer is None:
            return None
        if self.batch_sampler is None:
            raise LoaderError(
                f"DataLoader: {self.batch_transform!r} mixes batches, but batch_size=None yields "
                "single samples. Give a batch_size."
            )
        if self.batch_size is not None and isinstance(self.sampler, Sized):
            counts = even_counts(len(self.sampler), self.batch_size, drop_last=self.drop_last)
            mixer.check_counts(counts, running.on_error)
        return mixer

    def _running(self) -> RunOptions:
        threads = self.threads or self._whole.threads or find_threads(find_ranks(None, None))
        ahead = _PREFETCH if self.prefetch_factor is None else self.prefetch_factor
        return replace(self._whole.running, threads=threads, prefetch=ahead)

    def _pipeline(self) -> Pipeline:
        return pipeline_of(
            self._whole.work, self._running(), indices=self._within, pins=self.pin_memory
        )

    def _begin(self) -> _Run:
        """Begin the epoch that comes next, as far as it is known before the first batch."""
        told = told_since(self._heard, told_so_far(self))
        return self._follow(told, self._begin_where_it_stands(told))

    def _follow(self, told: int | None, run: _Run) -> _Run:
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

    def _begin_where_it_stands(self, told: int | None) -> _Run:
        """Ask generators and samplers, in the order in which torch's loader does."""
        place = self._pending
        self._leave_other_processes()
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
        return _Run(start, self._base_seed or 0, self._restarts, before, indices, progress)

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

    def _start(self, run: _Run) -> Epoch:
        """Begin to make batches; called for the first one."""
        told = told_since(self._heard, told_so_far(self))
        self._heard = told_so_far(self)
        followed = self._follow(told, run)
        if self._run is run:
            self._run = followed
        run = followed
        delivery, one_size = self._delivery()
        pipeline = self._pipeline()
        seed, draw_epoch = self._seed_here, run.progress.epoch
        if seed is None:
            seed = run.base_seed
            if not _follows_epochs(self._whole.work.plan):
                draw_epoch = run.restarts

        def start(runtime: Runtime) -> Epoch:
            return Epoch(
                batches=run.indices,
                seed=seed,
                draw_epoch=draw_epoch,
                progress=run.progress,
                delivering=Delivering(pipeline.options.prefetch, delivery, one_size=one_size),
                runtime=runtime,
            )

        epoch = self._runtimes.begin(pipeline, self._mixer, start)
        self._listed[run.progress.epoch] = epoch_of_samplers(self)
        return epoch

    def _delivery(self) -> tuple[TorchDelivery, bool]:
        """Return what hands batches over, and whether images of several sizes are an error."""
        return open_delivery(
            self._whole.work,
            self._whole.names.get(IMAGE, IMAGE),
            self.collate_fn,
            single=self.batch_sampler is None,
            pin=self.pin_memory and torch.cuda.is_available(),
        )

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


_OF_A_PROCESS = frozenset({"_runtimes", "_run", "_mixer", "_process"})


def _is_data(dataset: Any) -> bool:
    """Whether it is a data set as `penstock.Loader` takes it: a path, a list of files, a Source."""
    if isinstance(dataset, torch_data.Dataset):
        return False
    return isinstance(dataset, (str, bytes, os.PathLike, list, tuple)) or hasattr(
        dataset, "describe"
    )


def _follows_epochs(plan: Any) -> bool:
    """Whether what is drawn depends on the epoch itself, as with a schedule over the training."""
    ops = [
        node.op for one in (plan, *plan.views) for segment in one.segments for node in segment.ops
    ]
    return any(_is_scheduled(op) for op in ops)


def _is_scheduled(op: Any) -> bool:
    inner = getattr(op, "transforms", ())
    return isinstance(op, PopulationBasedAugment) or any(_is_scheduled(one) for one in inner)
