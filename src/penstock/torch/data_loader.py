"""A torch DataLoader that works with native threads instead of worker processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import replace
from typing import Any

import torch
from torch.utils.data import default_collate

from penstock.errors import LoaderError, told_by
from penstock.loading.again import Again, read_place
from penstock.loading.deliver import IMAGE
from penstock.loading.epoch import Delivering, Epoch, Iteration
from penstock.loading.failures import Ledger
from penstock.loading.mix import Mixer, even_counts, open_mixer
from penstock.loading.options import RunOptions
from penstock.loading.past_batch import PastBatch, Where
from penstock.loading.pipeline import Pipeline
from penstock.loading.ranks import find_ranks, find_threads
from penstock.loading.runtime import Runtime, RuntimeOwner
from penstock.planner.cut import follows_epochs
from penstock.sources import Source
from penstock.torch.again import epoch_of_samplers, list_again, pick
from penstock.torch.dataset import Dataset, check_seed
from penstock.torch.delivery import OnlyOurs, TorchDelivery, open_delivery
from penstock.torch.in_process import leave_behind, pipeline_of
from penstock.torch.indices import EpochIndices, is_data, unwrap
from penstock.torch.ranks import warn_of_ranks
from penstock.torch.samplers import (
    RandomSampler,
    SequentialSampler,
    lists_at_leisure,
    told_since,
    told_so_far,
)
from penstock.torch.standing import Run, Standing

_PREFETCH = 2  # batches beyond the one asked for, where prefetch_factor says nothing


class DataLoader(Standing):
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

    @told_by("DataLoader")
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
        if is_data(dataset):
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
        if threads is not None:
            replace(self._whole.running, threads=threads)  # refuses what is no number of threads
        self.batch_transform = batch_transform
        self._mixer = self._open_mixer()
        if self._mixer is not None and self.collate_fn is default_collate:
            self.collate_fn = OnlyOurs(batch_transform)
        self._stand_at_the_start()
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

    def __iter__(self) -> Any:
        """Begin an epoch, with the draws from torch's generators that torch's loader makes."""
        if not self._warned:
            self._warned = warn_of_ranks(self)
        self._leave_other_processes()
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
        threads = self._whole.threads if self.threads is None else self.threads
        if threads is None:
            threads = find_threads(find_ranks(None, None))
        ahead = _PREFETCH if self.prefetch_factor is None else self.prefetch_factor
        return replace(self._whole.running, threads=threads, prefetch=ahead)

    def _pipeline(self) -> Pipeline:
        return pipeline_of(
            self._whole.work, self._running(), indices=self._within, pins=self.pin_memory
        )

    def _start(self, run: Run) -> Epoch:
        """Begin to make batches; called for the first one."""
        self._leave_other_processes()
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
            if not follows_epochs(self._whole.work.plan):
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


_OF_A_PROCESS = frozenset({"_runtimes", "_run", "_mixer", "_process"})
