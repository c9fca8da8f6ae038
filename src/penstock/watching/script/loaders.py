"""Loaders that a script makes and iterates over, timed without the script's knowing."""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType, ModuleType, TracebackType
from typing import Any

from penstock.watching.loader_facts import LoaderFacts, count_images, read_facts
from penstock.watching.report import WatchReport, summarise
from penstock.watching.sampling import LoaderSamples, Sampling
from penstock.watching.step_times import Clock, StepTimes

EPOCH = "_penstock_epoch_times"  # the attribute with which an iterator is timed


@dataclass(slots=True)
class FoundLoader:
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


class FoundLoaders:
    """Every loader found, in the order of first use.

    `folder` is where the script's own files are: lines in them are worth naming. `on_find` is
    called for each loader that is found.
    """

    def __init__(
        self,
        folder: str,
        clock: Clock | None = None,
        on_find: Callable[[], None] = lambda: None,
    ) -> None:
        self.found: list[FoundLoader] = []
        self._clock = clock
        self._on_find = on_find
        self._folder = os.path.realpath(folder)
        self._sampling = Sampling(self._folder)

    def watch_library(self, module: ModuleType) -> None:
        """Time torch's DataLoader, or one of ours, whose module was just imported."""
        if module.__name__ == "penstock.loading.loader":
            self.time_iteration(module.Loader, module.Iteration)
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
        iterator_class.__next__ = functools.wraps(advance)(timed_next)

    def close(self) -> None:
        """End sampling; what was found stays, but its reports have to be made before."""
        self._sampling.close()

    def _find(self, loader: Any, caller: FrameType) -> FoundLoader:
        for known in self.found:
            if known.loader() is loader:
                return known
        facts, where = read_facts(loader), self._where(caller)
        for known in self.found:
            if (known.facts, known.where) == (facts, where) and _is_made_anew(known, loader):
                known.loader = weakref.ref(loader)
                return known
        found = FoundLoader(
            weakref.ref(loader),
            facts,
            where,
            StepTimes(self._clock),
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


def _is_made_anew(known: FoundLoader, loader: Any) -> bool:
    """Whether a reader of the script would take `loader` for the one known from the same line.

    Such as one made for every epoch. Trainers keep the earlier ones: these share their data set.
    """
    earlier = known.loader()
    data = getattr(loader, "dataset", None)
    return earlier is None or (data is not None and getattr(earlier, "dataset", None) is data)
