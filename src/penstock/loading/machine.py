"""What runs while a loader is iterated: threads, and memory that goes round."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from concurrent.futures import Future

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.batch import BatchMaker
from penstock.loading.mix import Mixer
from penstock.loading.options import OutputOptions
from penstock.loading.parts import Part, PartRunner
from penstock.resources import Pool

# Parts of batches whose files are in memory at the same time. Each has a thread that takes it
# through its stages, asleep whenever the core is at work on it.
_MOST_PARTS_UNDER_WAY = 4


class Runtime:
    """Runs parts in the background until nobody refers to it, or it is closed."""

    def __init__(
        self,
        runner: PartRunner,
        output: OutputOptions,
        prefetch: int,
        mixer: Mixer | None = None,
        check: Callable[[Ints], None] | None = None,
    ) -> None:
        self.maker = BatchMaker(output, most_idle=prefetch + 2)
        self._owner = os.getpid()
        self._runner: PartRunner | None = runner
        self._mixer = mixer
        self._check = check
        self._conductors = Pool(_MOST_PARTS_UNDER_WAY, "penstock-conductor")
        # Where the last reference is dropped, any lock may be held: by the garbage collector, in
        # the midst of a submit, say. So nothing is shut down there; a pool that nobody refers to
        # ends its threads by itself.
        self._end = weakref.finalize(self, _abandon, self._owner, runner, self.maker)

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
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._end.alive

    def check_unchanged(self, samples: Ints) -> None:
        """Raise if the data that these samples were read from has changed under our hands."""
        if self._check is not None:
            self._check(samples)

    def check_usable(self) -> None:
        """Raise after a fork, or after closing."""
        check_not_forked(self._owner)
        if self.closed:
            raise _closed()

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
    """Run a part, and mix its batch if it was the last. Refers to no Runtime, see there."""
    runner.run(part)
    if part.batch.note_done(len(part.slots)) and mixer is not None:
        mixer.mix(part.batch, part.epoch)


def _abandon(owner: int, runner: PartRunner, maker: BatchMaker) -> None:
    if os.getpid() == owner:  # a forked child has nothing to end
        runner.abandon()
        maker.close()
