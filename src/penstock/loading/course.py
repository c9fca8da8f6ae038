"""The course of a loader: epochs one after the other, from where it stands, in its own share.

What is decided here outlives the threads: closing a loader ends its runtime, and the next epoch
begins another one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from penstock.data.column_source import ColumnSource
from penstock.errors import LoaderError
from penstock.loading.deliver import Delivery
from penstock.loading.epoch import Batching, Epoch, Progress, Runtime, check_not_forked
from penstock.loading.failures import Ledger
from penstock.loading.mix import Mixer
from penstock.loading.options import BatchOptions, RunOptions
from penstock.loading.pipeline import ChosenRules, Pipeline
from penstock.loading.ranks import Ranks, find_ranks, find_threads
from penstock.loading.reuse import check_ranks
from penstock.loading.sampler import Shard
from penstock.loading.selection import EpochOrder
from penstock.planner.plan import Plan
from penstock.planner.rules.rule import Rule

_STATE_VERSION = 1


class Course:
    """Which epoch of a loader comes next, which samples of it are ours, and who runs it."""

    def __init__(
        self,
        pipeline: Pipeline,
        batching: BatchOptions,
        ranks: Ranks,
        delivery: Delivery,
        mixer: Mixer | None,
        *,
        counts_cores: bool,
    ) -> None:
        self.pipeline = pipeline
        self.batching = batching
        self.delivery = delivery
        self.order: Callable[[int], EpochOrder] = pipeline.selection.epoch
        self._ranks = ranks
        self._counts_cores = counts_cores  # whether the number of threads follows the ranks
        self._mixer = mixer
        self._stand_at_the_start()

    def anew(
        self,
        plan: Plan,
        options: RunOptions,
        batch_size: int,
        rules: tuple[Rule, ...] | None,
    ) -> Course:
        """The same course with these options, from its first epoch on, with threads of its own."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.pipeline = self.pipeline.anew(plan, options)
        other.batching = replace(self.batching, batch_size=batch_size)
        other._stand_at_the_start()
        if rules is not None:
            other._rules = ChosenRules(rules, (rules,) * len(plan.views))
        return other

    def _stand_at_the_start(self) -> None:
        source = self.pipeline.source
        self.ledger = Ledger(len(source), source.name)
        self._rules: ChosenRules | None = None  # chosen when the first batch is asked for
        self._runtime: Runtime | None = None
        self._beginning = threading.RLock()
        self._owner = os.getpid()
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Go on with `epoch` from its start."""
        self.epoch = epoch
        self._start = 0  # samples of this rank that are left out of the next epoch
        self._ranks_of_start: int | None = None
        self._progress: Progress | None = None

    def share(self, samples: int) -> Shard:
        """Which of so many samples are this rank's."""
        batching = self.batching
        return Shard(samples, batching.rank, batching.world_size, batching.drop_last)

    def batches(self) -> int:
        """Batches in a whole epoch."""
        self.ask_for_ranks()
        samples, batch = len(self.share(self.pipeline.length)), self.batching.batch_size
        return samples // batch if self.batching.drop_last else -(-samples // batch)

    def describe_share(self) -> str:
        """Return which rank this is, and who said so."""
        self.ask_for_ranks()
        return self._ranks.describe()

    def state(self) -> dict[str, int]:
        """Where it stands: after the batches delivered so far, in a few integers."""
        self.ask_for_ranks()
        epoch, consumed = self.epoch, self._start
        if self._progress is not None and not self._progress.finished:
            epoch, consumed = self._progress.epoch, self._progress.consumed
        selection, reusing = self.pipeline.selection, self.pipeline.reusing
        state = {
            "version": _STATE_VERSION,
            "epoch": epoch,
            "consumed": consumed * self.batching.world_size,
            "seed": self.batching.seed,
            "shuffle": int(self.batching.shuffle),
            "length": len(self.pipeline.source),
            "samples_per_epoch": len(selection),
            "selection": selection.fingerprint(),
        }
        if reusing is not None:
            state["reuse"] = reusing.asked.fingerprint()
            state["world_size"] = self.batching.world_size
        return state

    def go_on_from(self, state: Mapping[str, int]) -> None:
        """Stand where `state` was saved; raises LoaderError if that was another course."""
        if state.get("version") != _STATE_VERSION:
            raise LoaderError(
                f"Loader.load_state_dict: state version {state.get('version')!r}; "
                f"this version reads {_STATE_VERSION}."
            )
        mine = self.state()
        mine.setdefault("reuse", 0)
        all_samples = {"samples_per_epoch": mine["length"], "selection": 0, "reuse": 0}
        for key in ("seed", "shuffle", "length", *all_samples):
            if state.get(key, all_samples.get(key)) != mine[key]:
                raise LoaderError(
                    f"Loader.load_state_dict: the state was saved with {key}={state.get(key)!r}, "
                    f"this loader has {key}={mine[key]}; its batches would not go on from there."
                )
        self.set_epoch(int(state["epoch"]))
        self._ranks_of_start = state.get("world_size")
        self._start = -(-int(state["consumed"]) // self.batching.world_size)

    def check_not_forked(self) -> None:
        """Raise in a forked child."""
        check_not_forked(self._owner)

    def begin_epoch(self) -> Epoch:
        """Count an epoch and start its work; called for the first batch."""
        self.check_not_forked()
        with self._beginning:
            self.ask_for_ranks(now=True)
            if self._runtime is not None and not self._runtime.closed:
                return self._start_epoch(self._runtime)
            self._runtime, source = None, self.pipeline.source
            if self._rules is None:
                self._rules = self.pipeline.choose_rules()
            runtime = Runtime(
                self.pipeline.make_runner(self._rules, self.ledger),
                self.pipeline.output,
                self.pipeline.options.prefetch,
                self._mixer,
                source.check_unchanged if isinstance(source, ColumnSource) else None,
            )
            try:
                epoch = self._start_epoch(runtime)
            except BaseException:
                runtime.close()
                raise
            self._runtime = runtime
            return epoch

    def _start_epoch(self, runtime: Runtime) -> Epoch:
        order, pipeline, batching = self.order(self.epoch), self.pipeline, self.batching
        if pipeline.reusing is not None:
            if self._start:
                check_ranks(self._ranks_of_start, batching.world_size)
            order = pipeline.reusing.order(pipeline.selection, order, self.epoch, batching)
        epoch = Epoch(
            number=self.epoch,
            order=order,
            shard=self.share(len(order)),
            start=self._start,
            batching=Batching(
                batching.batch_size,
                batching.drop_last,
                pipeline.options.prefetch,
                self.delivery,
                one_size=not pipeline.beside.sizes_may_differ,
            ),
            runtime=runtime,
        )
        self._progress = epoch.progress
        self.epoch, self._start = self.epoch + 1, 0
        return epoch

    def close(self) -> None:
        """Stop the threads now; beginning an epoch starts new ones."""
        if os.getpid() != self._owner:
            return  # a forked child has no threads to stop, and the lock may never be free there
        with self._beginning:
            runtime = self._runtime
        if runtime is not None:
            runtime.close()
            with self._beginning:
                if self._runtime is runtime:
                    self._runtime = None

    def ask_for_ranks(self, *, now: bool = False) -> None:
        """Find out which share of the data is ours; it is fixed once an epoch has begun."""
        if self._ranks.was_given:
            return
        found = find_ranks(None, None, now=now)
        if found == self._ranks:
            return
        if self._runtime is not None:
            if now and (found.rank, found.world_size) != (self._ranks.rank, self._ranks.world_size):
                raise LoaderError(
                    f"This loader has begun as {self._ranks.describe()}, but is now "
                    f"{found.describe()}. Initialise torch.distributed before the first batch, "
                    "or make a new Loader."
                )
            return
        # A state that was loaded counts samples of all ranks together.
        self._start = -(-self._start * self._ranks.world_size // found.world_size)
        self._ranks = found
        self.batching = replace(self.batching, rank=found.rank, world_size=found.world_size)
        if self._counts_cores:
            options = replace(self.pipeline.options, threads=find_threads(found))
            self.pipeline = replace(self.pipeline, options=options)
        if self._mixer is not None:
            samples = len(self.share(self.pipeline.length))
            self._mixer.check_counts(samples, self.batching, self.pipeline.options.on_error)
