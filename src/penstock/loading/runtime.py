"""What runs in the background: the threads and the memory of a loader, for any number of epochs."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from penstock.data.column_source import ColumnSource
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.batch import PART_SIZE, BatchMaker, Part
from penstock.loading.failures import Ledger
from penstock.loading.mix import Mixer
from penstock.loading.options import OutputOptions
from penstock.loading.pipeline import ChosenRules, Pipeline
from penstock.loading.read_ahead import NEAR
from penstock.loading.runner import PartRunner
from penstock.resources import Pool, python_ends

BegunT = TypeVar("BegunT")


class Runtime:
    """Runs parts in the background until nobody refers to it, or it is closed."""

    def __init__(
        self,
        runner: PartRunner,
        output: OutputOptions,
        prefetch: int,
        mixer: Mixer | None = None,
        check: Callable[[Ints], None] | None = None,
        parts_under_way: int = NEAR.parts,
    ) -> None:
        self.maker = BatchMaker(output, most_idle=prefetch + 2)
        self._owner = os.getpid()
        self._runner: PartRunner | None = runner
        self._mixer = mixer
        self._check = check
        under_way = max(runner.most_under_way, parts_under_way)
        self._conductors = Pool(under_way, "penstock-conductor")
        # The last reference may be dropped while any lock is held, for example if the garbage
        # collector runs in the middle of a submit. So nothing is shut down then: a pool that
        # nobody refers to ends its threads by itself.
        # As Python ends, it calls this although there are references.
        self._end = weakref.finalize(self, _abandon, self._owner, runner, self.maker)
        self._was_closed = False

    def start(self, part: Part) -> Future[None]:
        """Start a part."""
        self.check_usable()
        runner = self._runner
        try:
            if runner is not None:
                return self._conductors.submit(_run, runner, self._mixer, part)
        except RuntimeError as error:  # the pool was shut down since we looked
            raise _closed() from error
        raise _closed()

    @property
    def part_size(self) -> int:
        """How many samples a part should have at most."""
        return PART_SIZE if self._runner is None else self._runner.part_size

    @property
    def parts_ahead(self) -> int:
        """How many parts should be under way or ready, if `prefetch` alone would be too few."""
        return 0 if self._runner is None else self._runner.parts_ahead

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._end.alive

    def is_crowded(self) -> bool:
        """Whether parts wait for a thread, as those of another epoch that runs meanwhile."""
        return self._conductors.has_waiting()

    def check_unchanged(self, samples: Ints) -> None:
        """Raise if the data that these samples were read from has changed meanwhile."""
        if self._check is not None:
            self._check(samples)

    def check_usable(self) -> None:
        """Raise after a fork, or after closing."""
        check_not_forked(self._owner)
        if self.closed:
            raise _closed() if self._was_closed else python_ends()

    def close(self) -> None:
        """Stop now, and wait until all threads have ended; any thread but its own may call it."""
        runner = self._runner
        if runner is None or os.getpid() != self._owner:
            return
        if self._conductors.holds_this_thread() or runner.holds_this_thread():
            raise LoaderError(
                "Loader.close: called from a transform or another function that this loader runs, "
                "so it would wait for itself. Close it from the loop over its batches."
            )
        self._was_closed = True
        if self._end.detach() is not None:
            runner.close()
            self._conductors.shutdown(wait=True, cancel_futures=True)
            self.maker.close()
            runner.end()
            self._runner = None


def _closed() -> LoaderError:
    return LoaderError("This loader was closed while it was iterated. Iterate it again.")


def check_not_forked(owner: int) -> None:
    """Raise in a forked child, whose copy of a loader has no threads."""
    if os.getpid() != owner:
        raise LoaderError(
            f"This loader was made in process {owner} and is used in process {os.getpid()}, after "
            "a fork: its threads did not come along. Make the Loader in the process that uses it; "
            "it needs no worker processes."
        )


def _run(runner: PartRunner, mixer: Mixer | None, part: Part) -> None:
    """Run a part, and mix its batch if it was the last; keeps no reference to the Runtime."""
    runner.run(part)
    if part.batch.note_done(len(part.slots)) and mixer is not None:
        mixer.mix(part.batch, part.seed, part.epoch)


def _abandon(owner: int, runner: PartRunner, maker: BatchMaker) -> None:
    if os.getpid() == owner:  # a forked child has nothing to end
        runner.abandon()
        maker.close()


class RuntimeOwner:
    """Makes the runtime of a pipeline when it is first needed, and keeps it until it is closed.

    `lock` is held while work begins, so that whatever decides about it changes in one piece.
    """

    def __init__(self, ledger: Ledger, rules: ChosenRules | None = None) -> None:
        self.ledger = ledger
        self.lock = threading.RLock()
        self._rules = rules  # None: chosen when the runtime is made
        self._runtime: Runtime | None = None
        self._owner = os.getpid()

    @property
    def has_begun(self) -> bool:
        """Whether there is a runtime."""
        return self._runtime is not None

    def check_not_forked(self) -> None:
        """Raise in a forked child."""
        check_not_forked(self._owner)

    def rules_for(self, pipeline: Pipeline) -> ChosenRules:
        """Return the rules that batches are made with, or others that give the same batches."""
        with self.lock:
            if self._rules is None and pipeline.rules_change_no_byte:
                return pipeline.no_rules()
            return self._chosen(pipeline)

    def _chosen(self, pipeline: Pipeline) -> ChosenRules:
        if self._rules is None:
            self._rules = pipeline.choose_rules()
        return self._rules

    def begin(
        self, pipeline: Pipeline, mixer: Mixer | None, start: Callable[[Runtime], BegunT]
    ) -> BegunT:
        """Return what `start` makes of the runtime; a new runtime is kept only if that works."""
        self.check_not_forked()
        with self.lock:
            if self._runtime is not None and not self._runtime.closed:
                return start(self._runtime)
            self._runtime, source = None, pipeline.source
            runtime = Runtime(
                pipeline.make_runner(self._chosen(pipeline), self.ledger),
                pipeline.output,
                pipeline.options.prefetch,
                mixer,
                source.check_unchanged if isinstance(source, ColumnSource) else None,
                pipeline.read_ahead.parts,
            )
            try:
                begun = start(runtime)
            except BaseException:
                runtime.close()
                raise
            self._runtime = runtime
            return begun

    def close(self) -> None:
        """Stop the threads now; whatever begins later starts new ones."""
        if os.getpid() != self._owner:
            return  # a forked child has no threads to stop, and the lock may never be free there
        with self.lock:
            runtime = self._runtime
        if runtime is not None:
            runtime.close()
            with self.lock:
                if self._runtime is runtime:
                    self._runtime = None
