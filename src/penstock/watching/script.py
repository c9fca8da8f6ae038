"""`penstock run`, inside the script's process: times its loaders, and reports when it ends."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, ModuleType, TracebackType
from typing import Any, NoReturn

from penstock.watching.loader_facts import LoaderFacts, count_images, read_facts
from penstock.watching.ranges import nvtx_ranges
from penstock.watching.report import WatchReport, summarise
from penstock.watching.sampling import LoaderSamples, Sampling
from penstock.watching.step_times import Clock, StepListener, StepTimes
from penstock.watching.trace import Trace, TracedSteps

Handler = Callable[[int, FrameType | None], None] | signal.Handlers
EPOCH = "_penstock_epoch_times"  # the attribute with which an iterator is timed


@dataclass(slots=True)
class ScriptLoader:
    """A loader the script iterated over."""

    loader: weakref.ref[Any]
    facts: LoaderFacts
    where: str | None  # the script's line that iterates, as file:line
    times: StepTimes
    samples: LoaderSamples
    module_line: int | None = None  # of the script itself, from which the loop was reached

    def report(self) -> WatchReport:
        """Say what was seen of it."""
        return summarise(self.times, self.facts, self.samples)


class ScriptLoaders:
    """Every loader found, in the order of first use.

    `folder` is where the script's own files are: lines in them are worth naming. `on_find` is
    called for each loader that is found.
    """

    def __init__(
        self,
        folder: str,
        clock: Clock | None = None,
        on_find: Callable[[], None] = lambda: None,
        trace: Trace | None = None,
    ) -> None:
        self._trace = trace
        self.found: list[ScriptLoader] = []
        self._clock = clock
        self._on_find = on_find
        self._folder = os.path.realpath(folder)
        self._sampling = Sampling(self._folder, trace)

    def watch_library(self, module: ModuleType) -> None:
        """Time torch's DataLoader, or one of ours, whose module was just imported."""
        if module.__name__ == "penstock.loading.loader":
            self.time_iteration(module.Loader, module.Iteration)
        elif module.__name__ == "penstock.torch.data_loader":
            self.time_iteration(module.DataLoader, module.Iteration)
        elif module.__name__ == "penstock.translation.delivery":
            self.time_iteration(module.AcceleratedLoader, module.FormedBatches)
        else:
            self.time_iteration(module.DataLoader, module._BaseDataLoaderIter)  # noqa: SLF001

    def time_iteration(self, loader_class: type[Any], iterator_class: type[Any]) -> None:
        """Have `loader_class` say when an epoch begins, its iterators when they give a batch."""
        begin, advance = loader_class.__iter__, iterator_class.__next__
        find = self._find

        @functools.wraps(begin)
        def timed_iter(loader: Any) -> Iterator[Any]:
            found = find(loader, sys._getframe(1))  # noqa: SLF001 (has no public name)
            epoch = found.times.begin_epoch()
            try:
                with found.samples.starting():
                    iterator: Iterator[Any] = begin(loader)
            except BaseException as error:
                error.__traceback__ = _without_us(error.__traceback__)
                raise
            if isinstance(iterator, iterator_class):  # a subclass may give out another kind
                epoch.has_begun()
                setattr(iterator, EPOCH, (epoch, found.samples))
                weakref.finalize(iterator, found.samples.leave).atexit = False  # or it was left
            return iterator

        def timed_next(iterator: Any) -> Any:
            timed = getattr(iterator, EPOCH, None)
            if timed is None:  # not made by iterating over a loader
                return advance(iterator)
            epoch, samples = timed
            epoch.ask()
            samples.follow()
            try:
                batch = advance(iterator)
            except BaseException as error:
                error.__traceback__ = _without_us(error.__traceback__)
                samples.leave()
                epoch.end()
                raise
            epoch.give(count_images(batch))
            return batch

        self._sampling.mark_next(timed_next.__code__)
        loader_class.__iter__ = timed_iter
        if not hasattr(advance, "__wrapped__"):  # or it was timed for another kind of loader
            iterator_class.__next__ = functools.wraps(advance)(timed_next)

    def finish_trace(self) -> None:
        """Put what threads and workers were seen doing into the trace."""
        if self._trace is not None:
            for number, found in enumerate(self.found, start=1):
                found.samples.add_to(self._trace, f"{found.facts.kind} ({found.where or number})")

    def close(self) -> None:
        """End sampling; what was found stays, but its reports have to be made before."""
        self._sampling.close()

    def _find(self, loader: Any, caller: FrameType) -> ScriptLoader:
        for known in self.found:
            if known.loader() is loader:
                return known
        facts, where = read_facts(loader), self._where(caller)
        for known in self.found:
            if (known.facts, known.where) == (facts, where) and _is_made_anew(known, loader):
                known.loader = weakref.ref(loader)
                return known
        name = f"{facts.kind} ({where or len(self.found) + 1})"
        found = ScriptLoader(
            weakref.ref(loader),
            facts,
            where,
            StepTimes(self._clock, listeners=step_listeners(self._trace, name)),
            self._sampling.loader(),
            _module_line(caller),
        )
        self.found.append(found)
        self._on_find()
        return found

    def _where(self, frame: FrameType | None) -> str | None:
        while frame is not None:
            file = os.path.realpath(frame.f_code.co_filename)
            if file.startswith(self._folder + os.sep) and "site-packages" not in file:
                return f"{os.path.relpath(file, self._folder)}:{frame.f_lineno}"
            frame = frame.f_back
        return None


def step_listeners(trace: Trace | None, loader: str) -> list[StepListener]:
    """Return who is told of each step: a trace that was asked for, and NVTX where it is there."""
    listeners: list[StepListener] = [] if trace is None else [TracedSteps(trace, loader)]
    ranges = nvtx_ranges()
    return listeners if ranges is None else [*listeners, ranges]


def _without_us(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without its first line, that of the function that catches the error.

    Raised again from there, it is what a script without us would show (from Python 3.11 on).
    """
    return traceback and traceback.tb_next


def _module_line(frame: FrameType | None) -> int | None:
    """Return the line of the script, outside of any function, that led here."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__":
            return frame.f_lineno
        frame = frame.f_back
    return None


def _is_made_anew(known: ScriptLoader, loader: Any) -> bool:
    """Whether a reader of the script would take `loader` for the one known from the same line.

    Such as one made for every epoch. Trainers keep the earlier ones: these share their data set.
    """
    earlier = known.loader()
    data = getattr(loader, "dataset", None)
    return earlier is None or (data is not None and getattr(earlier, "dataset", None) is data)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a script ended.

    Code inside the process cannot see the exit code that the script gave to `sys.exit`.
    """

    ended: str  # "ended", "crashed", "interrupted", "terminated", or "exited" by os._exit
    exit_code: int | None = None  # as a shell reports it

    @classmethod
    def seen_by_python(cls, ended: str) -> Outcome:
        """Return the outcome of a script that Python itself brought to its end."""
        return cls(ended, {"crashed": 1, "interrupted": 130}.get(ended))


class ScriptEnd:
    """Calls `tell` with the outcome: once, and in this process only.

    This happens when Python exits, after the script's own threads and exit functions; or earlier,
    if the script or a signal ends the process at once.
    """

    def __init__(self, tell: Callable[[Outcome], None]) -> None:
        self._tell = tell
        self._process: int | None = os.getpid()
        self._exit_at_once: Callable[[int], NoReturn] | None = None
        self._handles_sigterm = False

    def be_prepared(self) -> None:
        """Take over `os._exit` and SIGTERM, which end a process at once; called for each loader.

        Before that, a script that looks at the handler of SIGTERM finds the usual one. A script
        with a handler of its own keeps it.
        """
        if self._process != os.getpid():
            return
        if self._exit_at_once is None:
            self._exit_at_once, os._exit = os._exit, self._before_exit_at_once
        if (
            not self._handles_sigterm
            and _is_main_thread()
            and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        ):
            self._handles_sigterm = True
            signal.signal(signal.SIGTERM, self._before_sigterm)
            if hasattr(os, "register_at_fork"):
                # Python forgets a signal that a child gets at its very beginning, unless nothing
                # handles it: then the script would wait forever for a child it has ended.
                os.register_at_fork(
                    before=lambda: self._exchange(self._before_sigterm, signal.SIG_DFL),
                    after_in_parent=lambda: self._exchange(signal.SIG_DFL, self._before_sigterm),
                )

    def speak(self, outcome: Outcome) -> None:
        """Call `tell`, unless that was done, or this is a child that the script forked."""
        if self._process == os.getpid():
            self._process = None
            if _is_main_thread() and hasattr(signal, "SIGCHLD"):
                # torch's handler raises an error when a worker dies, as all workers do now.
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._tell(outcome)

    def _before_exit_at_once(self, status: int) -> NoReturn:
        assert self._exit_at_once is not None  # noqa: S101 (it is what this one replaces)
        self.speak(Outcome("exited", status))
        self._exit_at_once(status)

    def _before_sigterm(self, number: int, frame: FrameType | None) -> None:
        """Report, then end as by the signal alone: without the script's exit functions."""
        del frame
        if signal.getsignal(number) != self._before_sigterm:
            return  # the script's own handler, which found this one and passes the signal on
        self.speak(Outcome("terminated", 128 + number))
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _exchange(self, present: Handler, wanted: Handler) -> None:
        """Replace the handler of SIGTERM; one of the script's own is left alone."""
        if _is_main_thread() and signal.getsignal(signal.SIGTERM) == present:
            signal.signal(signal.SIGTERM, wanted)


@contextmanager
def later_sigterm() -> Iterator[None]:
    """Have a SIGTERM wait until the block ends: torchrun sends one once another rank fails."""
    if not _is_main_thread():
        yield
        return
    came: list[int] = []
    handler = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if handler is None else handler)
        if came:
            os.kill(os.getpid(), signal.SIGTERM)


def _is_main_thread() -> bool:
    """Whether Python lets this thread set signal handlers."""
    return threading.current_thread() is threading.main_thread()
