"""Watch any loader from outside: how long does the loop wait for it, how long does it compute?"""

from __future__ import annotations

import atexit
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from time import perf_counter
from typing import Any, Generic, TypeVar

from penstock.errors import LoaderError
from penstock.results.records import Steps
from penstock.watching.loader_facts import count_images, read_facts
from penstock.watching.report import WatchReport, ended_steps, summarise
from penstock.watching.sampling import LoaderSamples, Sampling, sampling_here
from penstock.watching.script import step_listeners
from penstock.watching.step_times import EpochTimes, StepTimes
from penstock.watching.trace import Trace, check_file

Batch = TypeVar("Batch")
Callback = Callable[[int, dict[str, float]], object]
REDRAW_EVERY_S = 0.25
RECENT_STEPS = 100  # that the live line is about
OWN_ATTRIBUTES = {
    *("_loader", "_batch_size", "_callback", "_times", "_live", "_samples"),
    *("_trace", "_trace_file"),
}


def watch(
    loader: Iterable[Batch],
    *,
    batch_size: int | None = None,
    live: bool = False,
    callback: Callback | None = None,
    trace: str | PathLike[str] | None = None,
) -> Watched[Batch]:
    """Return `loader` with a clock: the same batches, and `.report()` says what was waited for.

    Any iterable of batches will do. Everything else about it, such as `len` and `set_epoch`, is
    still there.

    - `batch_size`: images in a batch; None counts them in each batch.
    - `live`: shows one line on stderr that is updated as the loop goes.
    - `callback(step, scalars)`: called after each step with its figures, for TensorBoard and the
      like: "input/wait_ms", "input/compute_ms", "input/wait_share", "input/images_per_s".
    - `trace`: a file for chrome://tracing or Perfetto, with every wait and step, and what the loop
      and its workers were seen doing; written by `report()`, and when the program ends.
    """
    if not isinstance(loader, Iterable) and not hasattr(loader, "__getitem__"):
        raise LoaderError(
            f"watch: {type(loader).__name__} cannot be iterated over. "
            "Give a loader, or another iterable of batches."
        )
    if batch_size is not None and (isinstance(batch_size, bool) or batch_size < 1):
        raise LoaderError(f"watch: batch_size must be 1 or more, got {batch_size!r}.")
    return Watched(loader, batch_size, live, callback, None if trace is None else fspath(trace))


class Watched(Generic[Batch]):
    """A loader whose waits are recorded; made by `watch`."""

    def __init__(
        self,
        loader: Iterable[Batch],
        batch_size: int | None,
        live: bool,
        callback: Callback | None,
        trace: str | None = None,
    ) -> None:
        self._loader = loader
        self._batch_size = batch_size
        self._callback = callback
        self._trace_file = trace
        self._trace = None if trace is None else WatchTrace(trace, loader)
        traced = None if self._trace is None else self._trace.trace
        self._times = StepTimes(listeners=step_listeners(traced, type(loader).__name__))
        self._live = LiveLine(self._times) if live else None
        sampling = sampling_here() if traced is None else Sampling(sampling_here().folder, traced)
        if traced is not None:
            sampling.mark_next(_WatchedIterator.__next__.__code__)
        self._samples = sampling.loader()
        if self._trace is not None:
            self._trace.follow(self, self._samples, sampling)

    def __iter__(self) -> Iterator[Batch]:
        epoch = self._times.begin_epoch()
        with self._samples.starting():
            batches = iter(self._loader)
        epoch.has_begun()
        has_listener = self._callback is not None or self._live is not None
        iterator = _WatchedIterator(
            batches,
            epoch,
            self._samples,
            self._batch_size,
            self._tell if has_listener else None,
            self._after_epoch,
        )
        weakref.finalize(iterator, self._samples.leave).atexit = False  # after a `break`
        return iterator

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]  # its own error is the right one

    def __bool__(self) -> bool:
        return bool(self._loader)  # or Python would ask for a length, which not all have

    def __getattr__(self, name: str) -> Any:
        if name in OWN_ATTRIBUTES:  # not there yet: the loader cannot be asked either
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._loader, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OWN_ATTRIBUTES:
            object.__setattr__(self, name, value)
        else:
            setattr(self._loader, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, and what other processes get of it, keep times of their own."""
        return type(self), (
            self._loader,
            self._batch_size,
            self._live is not None,
            self._callback,
            None,  # a copy must not write to the same file
        )

    def __repr__(self) -> str:
        return f"watch({self._loader!r})"

    def report(self) -> WatchReport:
        """Say what was seen so far, over all epochs; to be printed, or `to_dict()`."""
        if self._live is not None:
            self._live.leave()  # what is printed next has a line of its own
        if self._trace is not None:
            self._trace.write()
        loader: Any = self._loader
        while isinstance(loader, Watched):
            loader = loader._loader  # noqa: SLF001 (of the same class)
        return summarise(self._times, read_facts(loader), self._samples)

    def steps(self) -> Steps:
        """Return the seconds waited and computed in each step that ended."""
        return ended_steps(self._times)

    def _tell(self, step: int) -> None:
        if self._live is not None:
            self._live.step()
        if self._callback is not None:
            waited_s, computed_s, images = self._times.step(step)
            step_s = waited_s + computed_s
            scalars = {
                "input/wait_ms": waited_s * 1e3,
                "input/compute_ms": computed_s * 1e3,
                "input/wait_share": waited_s / step_s if step_s else 0.0,
            }
            if images and step_s:
                scalars["input/images_per_s"] = images / step_s
            self._callback(step, scalars)

    def _after_epoch(self) -> None:
        if self._live is not None:
            self._live.end()


@dataclass(eq=False)
class _WatchedIterator(Iterator[Batch]):
    """One pass over a watched loader."""

    batches: Iterator[Batch]
    epoch: EpochTimes
    samples: LoaderSamples
    batch_size: int | None
    after_step: Callable[[int], None] | None
    after_epoch: Callable[[], None]

    def __next__(self) -> Batch:
        epoch = self.epoch
        epoch.ask()
        if self.after_step is not None and epoch.step is not None:
            self.after_step(epoch.step)
            epoch.restart_wait()
        try:
            batch = self._first() if epoch.step is None else self._following()
        except BaseException:
            self.samples.leave()
            if epoch.step is not None:  # a loop may ask again after its end
                self.after_epoch()
            epoch.end()
            raise
        epoch.give(self.batch_size or count_images(batch))
        return batch

    def _first(self) -> Batch:
        """Return the first batch: loaders that are generators start their workers only now."""
        with self.samples.starting():
            return next(self.batches)

    def _following(self) -> Batch:
        self.samples.follow()
        return next(self.batches)


class WatchTrace:
    """The trace of a watched loader, and its file."""

    def __init__(self, file: str, loader: Any) -> None:
        self.trace = Trace()
        self._file = check_file(file)
        self._name = type(loader).__name__
        self._samples: LoaderSamples | None = None

    def follow(self, watched: Any, samples: LoaderSamples, sampling: Sampling) -> None:
        """Write when the watched loader goes, or the program ends, whichever is first."""
        self._samples = samples
        last = weakref.finalize(watched, self._close, sampling)
        last.atexit = False  # too late: what workers wrote would be gone
        atexit.register(last)

    def write(self) -> None:
        """Write what was seen so far."""
        seen = self.trace.copy()
        if self._samples is not None:
            self._samples.add_to(seen, self._name)
        seen.write(self._file)

    def _close(self, sampling: Sampling) -> None:
        self.write()
        sampling.close()


class LiveLine:
    """One line on stderr that says how the loop is doing, rewritten a few times per second.

    Where stderr is not a terminal, it is written once per epoch.
    """

    def __init__(self, times: StepTimes) -> None:
        self._times = times
        self._redraw_at_s = 0.0
        self._width = 0

    def step(self) -> None:
        """Redraw, if the last time is long enough ago."""
        now_s = perf_counter()
        if now_s >= self._redraw_at_s and sys.stderr.isatty():
            self._redraw_at_s = now_s + REDRAW_EVERY_S
            text = self._text()
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)

    def end(self) -> None:
        """Leave the last state standing, on a line of its own."""
        begin = "\r" if self._width else ""
        sys.stderr.write(f"{begin}{self._text().ljust(self._width)}\n")
        sys.stderr.flush()
        self._width = 0

    def leave(self) -> None:
        """Go to the next line, if the loop was left in the middle of an epoch."""
        if self._width:
            self.end()

    def _text(self) -> str:
        waited_s, computed_s, images = self._times.recent(RECENT_STEPS)
        total_s = waited_s + computed_s
        share = waited_s / total_s if total_s else 0.0
        rate = f", {images / total_s:,.0f} images/s" if images and total_s else ""
        return f"step {self._times.steps:,}: waited {share:.0%}{rate}"


sampling_here().mark_next(_WatchedIterator.__next__.__code__)
