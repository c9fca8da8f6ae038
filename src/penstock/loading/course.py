"""The course of a loader: epochs one after the other, from where it stands, in its own share.

What is decided here outlives the threads: closing a loader ends its runtime, and the next epoch
begins another one.
"""

from __future__ import annotations

import time
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace

from penstock.errors import LoaderError, PenstockError
from penstock.loading.again import Again, read_place
from penstock.loading.cuts import Cuts
from penstock.loading.deliver import Delivery
from penstock.loading.epoch import Delivering, Epoch, Progress
from penstock.loading.failures import Ledger
from penstock.loading.fetch import is_local
from penstock.loading.mix import Mixer, even_counts
from penstock.loading.options import BatchOptions, RunOptions
from penstock.loading.past_batch import PastBatch, Where
from penstock.loading.pipeline import ChosenRules, Pipeline
from penstock.loading.ranks import Ranks, find_ranks, find_threads
from penstock.loading.reuse import check_ranks
from penstock.loading.runtime import Runtime, RuntimeOwner
from penstock.loading.sampler import Shard
from penstock.loading.sampling.bound import check_shape
from penstock.loading.selection import (
    BatchedSelection,
    EpochOrder,
    RankedSelection,
    Selection,
)
from penstock.loading.share import Coming, share_of
from penstock.loading.told import Told
from penstock.planner.plan import Plan
from penstock.planner.rules.rule import Rule

_STATE_VERSION = 1
_PAUSE_S = 0.1  # between two epochs, at least


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
        self._follows_others = False  # whether somebody else lists the samples of epochs
        self._begins_early = True
        self._early: Epoch | None = None  # one that has begun before anybody asked for it
        self._check_counts()
        self._stand_at_the_start()

    def follow(self, order: Callable[[int], EpochOrder]) -> None:
        """Take the samples of every epoch, of all ranks together, from `order(epoch)`."""
        self.order, self._follows_others = order, True
        self._early = None

    def _check_counts(self) -> None:
        if self._mixer is None:
            return
        selection, batching = self.pipeline.selection, self.batching
        if isinstance(selection, BatchedSelection):
            counts = list(selection.batch_counts)
        else:
            samples = len(self.share(self.pipeline.length))
            counts = even_counts(samples, batching.batch_size, drop_last=batching.drop_last)
        self._mixer.check_counts(counts, self.pipeline.options.on_error)

    def anew(
        self,
        plan: Plan,
        options: RunOptions,
        batch_size: int,
        rules: tuple[Rule, ...] | None,
    ) -> Course:
        """The same course with these options, from its first epoch on, with threads of its own.

        It is for those who measure: work that is done between two epochs would belong to neither.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._begins_early = False
        other.pipeline = self.pipeline.anew(plan, options)
        other.batching = replace(self.batching, batch_size=batch_size)
        other._share_selection()
        chosen = None if rules is None else ChosenRules(rules, (rules,) * len(plan.views))
        other._stand_at_the_start(chosen)
        return other

    def _stand_at_the_start(self, rules: ChosenRules | None = None) -> None:
        source = self.pipeline.source
        self._runtimes = RuntimeOwner(Ledger(len(source), source.name), rules)
        if isinstance(self.pipeline.selection, BatchedSelection):
            for sample in self.pipeline.selection.unreadable.tolist():
                self.ledger.note(sample, "skipped", "its size cannot be read")
        self._last: Progress | None = None  # of the last epoch that began
        self._goes_on = False  # whether that began as soon as the one before had ended
        self._early = None
        self._gone_on: dict[int, int] = {}  # epochs that were gone on with, and from which sample
        self.set_epoch(0)

    @property
    def ledger(self) -> Ledger:
        """What happened to which file."""
        return self._runtimes.ledger

    def set_epoch(self, epoch: int) -> None:
        """Go on with `epoch` from its start."""
        self._told = Told()
        self._stand_before(epoch)

    def tell(self, told: int) -> None:
        """Go on with the epoch that a framework told a sampler, or from the place within it."""
        within = self._stands_within
        if within and not self._told.leaves(told, self.epoch):
            self._told = Told(told, self.epoch)
            return
        self._stand_before(self._told.begin(told, self.epoch + 1 if within else self.epoch))

    @property
    def _stands_within(self) -> bool:
        """Whether the next epoch goes on from a place within it."""
        return bool(self._start or (self._batches_of_start or (0,))[0])

    def _stand_before(self, epoch: int) -> None:
        self.epoch = epoch
        self._next_order: EpochOrder | None = None  # a sampler of the user's is asked only once
        self._start = 0  # samples of this rank that are left out of the next epoch
        self._ranks_of_start: int | None = None
        self._batches_of_start: tuple[int, int] | None = None  # left out, and their shape
        self._progress: Progress | None = None

    def share(self, samples: int) -> Shard:
        """Which of so many samples are this rank's."""
        batching = self.batching
        return Shard(samples, batching.rank, batching.world_size, batching.drop_last)

    def batches(self) -> int:
        """Batches in a whole epoch."""
        self.ask_for_ranks()
        if isinstance(self.pipeline.selection, BatchedSelection):
            return self.pipeline.selection.batches
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
        told = self._told.epoch
        selection, reusing = self.pipeline.selection, self.pipeline.reusing
        state = {
            "version": _STATE_VERSION,
            "epoch": epoch,
            "consumed": consumed * self.batching.world_size,
            "seed": self.batching.seed,
            "shuffle": int(self.batching.shuffle),
            "length": len(self.pipeline.source),
            "samples_per_epoch": _length_on_any_ranks(selection),
            "selection": selection.fingerprint(),
        }
        if isinstance(selection, BatchedSelection):
            left_out = self._batches_of_start or (0, selection.batch_shape)
            if consumed:
                left_out = _cuts_of(self.order(epoch)).batch_at(consumed), selection.batch_shape
            state["batches"], state["batch_shape"] = left_out
        if told is not None and (consumed or self._stands_within):
            state["told"] = told
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
        if "told" in state:
            self._told = Told(int(state["told"]), self.epoch)
        if isinstance(self.pipeline.selection, BatchedSelection):
            # Where that is depends on the ranks, which an epoch settles.
            self._batches_of_start = (int(state["batches"]), int(state["batch_shape"]))
        else:
            self._start = self._own_share(int(state["consumed"]), self.batching.world_size)

    def _own_share(self, consumed: int, world_size: int) -> int:
        """How many samples each rank has had; those that they cannot share evenly come again."""
        share, rest = divmod(consumed, world_size)
        if not rest:
            return share
        if consumed >= len(self.order(self.epoch)):
            return share + 1  # the epoch was over
        warnings.warn(
            f"Loader: the state was saved after {consumed:,} samples of an epoch, which "
            f"{world_size} ranks cannot share evenly. {rest} of them come a second time.",
            stacklevel=3,
        )
        return share

    def check_not_forked(self) -> None:
        """Raise in a forked child."""
        self._runtimes.check_not_forked()

    def begin_epoch(self) -> Epoch:
        """Count an epoch and start its work; called for the first batch."""
        self.check_not_forked()
        with self._runtimes.lock:
            self.ask_for_ranks(now=True)
            return self._runtimes.begin(self.pipeline, self._mixer, self._start_epoch)

    def _start_epoch(self, runtime: Runtime) -> Epoch:
        early, self._early = self._early, None
        coming, wanted = self._coming(), (runtime, self.epoch, 0)
        if early is not None and wanted == (early.runtime, early.progress.epoch, coming.start):
            epoch = early.taken()
        else:
            epoch = self._make_epoch(runtime, coming)
        self._progress = epoch.progress
        self._gone_on[self.epoch] = self._start
        self.epoch, self._start, self._batches_of_start = self.epoch + 1, 0, None
        self._next_order = None
        ended_s = None if self._last is None else self._last.ended_s
        self._goes_on = ended_s is not None and time.monotonic() - ended_s < _PAUSE_S
        self._last = epoch.progress
        return epoch

    def _make_epoch(self, runtime: Runtime, coming: Coming, before: Epoch | None = None) -> Epoch:
        pipeline = self.pipeline
        return Epoch(
            batches=coming.batches(),
            seed=self.batching.seed,
            draw_epoch=self.epoch,
            progress=Progress(self.epoch, coming.start, coming.cuts.batch_at(coming.start)),
            delivering=Delivering(
                pipeline.options.prefetch,
                self.delivery,
                one_size=not pipeline.beside.sizes_may_differ,
                read_ahead=pipeline.read_ahead.batches(
                    self.batching.batch_size, pipeline.options.prefetch
                ),
            ),
            runtime=runtime,
            before=before,
            follow=weakref.WeakMethod(self._begin_early) if self._may_begin_early() else None,
        )

    def _may_begin_early(self) -> bool:
        """Whether nobody can tell that an epoch began before it was asked for, but by the clock.

        No code of the user's runs in it, nothing is fetched from far away, and no file is left out.
        """
        pipeline = self.pipeline
        plans = (pipeline.plan, *pipeline.plan.views)
        return (
            self._begins_early
            and not self._follows_others
            and pipeline.reusing is None
            and pipeline.library is None
            and pipeline.elsewhere is None
            and pipeline.options.on_error == "raise"
            and is_local(pipeline.source)
            and not any(segment.python for plan in plans for segment in plan.segments)
        )

    def _begin_early(self, before: Epoch) -> Epoch | None:
        """Begin the epoch that comes after `before`, whose last batches are under way.

        Only in a loop that goes from epoch to epoch without a pause: whatever else is done in
        between, such as validation, or measuring something, needs the processor itself.
        """
        with self._runtimes.lock:
            if not self._goes_on or self._progress is not before.progress or self._stands_within:
                return None
            try:
                self._early = self._make_epoch(before.runtime, self._coming(), before)
            except PenstockError:  # whoever asks for the epoch gets it
                self._early = None
            return self._early

    def past_batch(
        self, epoch: int, step: int, rank: int | None, world_size: int | None
    ) -> PastBatch:
        """Make a batch of any epoch again; rank and world size are this one's unless given."""
        self.check_not_forked()
        read_place(epoch, step)
        if rank is None and world_size is not None:
            raise LoaderError(f"batch_at: world_size={world_size} alone. Give rank, too.")
        with self._runtimes.lock:
            self.ask_for_ranks()
            if self._follows_others:
                raise LoaderError(
                    "batch_at: the order of samples is that of a sampler, which cannot be asked "
                    "again for an epoch that is over. Leave the sampler out, and use shuffle=True "
                    "or the loader's weights= or sampling=."
                )
            own, pipeline = self.batching, self.pipeline
            batching = replace(
                own,
                rank=own.rank if rank is None else rank,
                world_size=own.world_size if world_size is None else world_size,
            )
            start = 0
            if batching.world_size == own.world_size:
                start = self._start if epoch == self.epoch else self._gone_on.get(epoch, 0)
            elif isinstance(pipeline.selection, RankedSelection):
                shared = pipeline.selection.shared(own.batch_size, batching.world_size)
                pipeline = replace(pipeline, selection=shared)
            rules = self._runtimes.rules_for(pipeline)
        order = pipeline.selection.epoch(epoch)
        picked = share_of(pipeline, batching, order, epoch, start).batch(epoch, step)
        one_size = not pipeline.beside.sizes_may_differ
        again = Again(pipeline, rules, self._mixer, self.delivery, own.seed, one_size)
        return again.make(picked, Where(epoch, step, batching.rank, batching.world_size))

    def to_come(self) -> Coming:
        """What is left for this rank of the epoch that comes next, without beginning it."""
        self.ask_for_ranks()
        return self._coming()

    def _coming(self) -> Coming:
        if self._next_order is None:
            self._next_order = self.order(self.epoch)
        order, pipeline, batching = self._next_order, self.pipeline, self.batching
        start = self._start
        if isinstance(pipeline.selection, BatchedSelection) and self._batches_of_start is not None:
            check_shape(pipeline.selection, *self._batches_of_start)
            start = _cuts_of(order).start_of_batch(self._batches_of_start[0])
        if pipeline.reusing is not None and start:
            check_ranks(self._ranks_of_start, batching.world_size)
        return share_of(pipeline, batching, order, self.epoch, start)

    def _share_selection(self) -> None:
        """Tell a selection whose epochs depend on the ranks how many there are."""
        selection, batching = self.pipeline.selection, self.batching
        if isinstance(selection, RankedSelection):
            shared = selection.shared(batching.batch_size, batching.world_size)
            self.pipeline = replace(self.pipeline, selection=shared)
            self.order = shared.epoch

    def close(self) -> None:
        """Stop the threads now; beginning an epoch starts new ones."""
        self._runtimes.close()
        self._early = None

    def ask_for_ranks(self, *, now: bool = False) -> None:
        """Find out which share of the data is ours; it is fixed once an epoch has begun."""
        if self._ranks.was_given:
            return
        found = find_ranks(None, None, now=now)
        if found == self._ranks:
            return
        if self._runtimes.has_begun:
            if now and (found.rank, found.world_size) != (self._ranks.rank, self._ranks.world_size):
                raise LoaderError(
                    f"This loader has begun as {self._ranks.describe()}, but is now "
                    f"{found.describe()}. Initialise torch.distributed before the first batch, "
                    "or make a new Loader."
                )
            return
        # A state that was loaded counts samples of all ranks together.
        consumed = self._start * self._ranks.world_size
        self._start = self._own_share(consumed, found.world_size)
        self._ranks, self._next_order = found, None
        self.batching = replace(self.batching, rank=found.rank, world_size=found.world_size)
        self._share_selection()
        if self._counts_cores:
            options = replace(self.pipeline.options, threads=find_threads(found))
            self.pipeline = replace(self.pipeline, options=options)
        self._check_counts()


def _cuts_of(order: EpochOrder) -> Cuts:
    assert isinstance(order, Cuts)  # noqa: S101  as every epoch of a BatchedSelection
    return order


def _length_on_any_ranks(selection: Selection) -> int:
    """The length of epochs in a state, which another number of ranks may go on from."""
    return selection.listed if isinstance(selection, RankedSelection) else len(selection)
