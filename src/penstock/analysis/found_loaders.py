"""Loaders that a script makes and iterates over, timed without the script's knowing."""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from penstock.analysis.after_import import after_import
from penstock.analysis.batch_images import count_images
from penstock.analysis.loader_facts import LoaderFacts, read_facts
from penstock.analysis.step_times import Clock, StepTimes
from penstock.analysis.watch_report import WatchReport, summarise

EPOCH = "_penstock_epoch_times"  # the attribute with which an iterator is timed


@dataclass(slots=True)
class FoundLoader:
    """A loader the script iterated over."""

    loader: weakref.ref[Any]
    facts: LoaderFacts
    where: str | None  # the script's line that iterates, as file:line
    times: StepTimes

    def report(self) -> WatchReport:
        """Say what was seen of it."""
        return summarise(self.times, self.facts)


class FoundLoaders:
    """Every loader found, in the order of first use.

    `folder` is where the script's own files are: lines in them are worth naming.
    """

    def __init__(self, folder: str, clock: Clock | None = None) -> None:
        self.found: list[FoundLoader] = []
        self._clock = clock
        self._folder = os.path.realpath(folder)

    def watch_known_libraries(self) -> None:
        """Time torch's DataLoader and ours from the moment the script imports them."""
        after_import("torch.utils.data.dataloader", self._watch_torch)
        after_import("penstock.loading.loader", self._watch_penstock)

    def time_iteration(self, loader_class: type[Any], iterator_class: type[Any]) -> None:
        """Have `loader_class` say when an epoch begins, its iterators when they give a batch."""
        begin, advance = loader_class.__iter__, iterator_class.__next__
        find = self._find

        @functools.wraps(begin)
        def timed_iter(loader: Any) -> Iterator[Any]:
            times = find(loader, sys._getframe(1)).times  # noqa: SLF001 (has no public name)
            epoch = times.begin_epoch()
            iterator: Iterator[Any] = begin(loader)
            if isinstance(iterator, iterator_class):  # a subclass may give out another kind
                epoch.has_begun()
                setattr(iterator, EPOCH, epoch)
            return iterator

        @functools.wraps(advance)
        def timed_next(iterator: Any) -> Any:
            epoch = getattr(iterator, EPOCH, None)
            if epoch is None:  # not made by iterating over a loader
                return advance(iterator)
            epoch.ask()
            try:
                batch = advance(iterator)
            except BaseException:
                epoch.end()
                raise
            epoch.give(count_images(batch))
            return batch

        loader_class.__iter__ = timed_iter
        iterator_class.__next__ = timed_next

    def _watch_torch(self, module: ModuleType) -> None:
        self.time_iteration(module.DataLoader, module._BaseDataLoaderIter)  # noqa: SLF001

    def _watch_penstock(self, module: ModuleType) -> None:
        self.time_iteration(module.Loader, module.Iteration)

    def _find(self, loader: Any, caller: FrameType) -> FoundLoader:
        for known in self.found:
            if known.loader() is loader:
                return known
        facts, where = read_facts(loader), self._where(caller)
        for known in self.found:
            if (known.facts, known.where) == (facts, where) and _is_made_anew(known, loader):
                known.loader = weakref.ref(loader)
                return known
        self.found.append(FoundLoader(weakref.ref(loader), facts, where, StepTimes(self._clock)))
        return self.found[-1]

    def _where(self, frame: FrameType | None) -> str | None:
        while frame is not None:
            file = os.path.realpath(frame.f_code.co_filename)
            if file.startswith(self._folder + os.sep) and "site-packages" not in file:
                return f"{os.path.relpath(file, self._folder)}:{frame.f_lineno}"
            frame = frame.f_back
        return None


def _is_made_anew(known: FoundLoader, loader: Any) -> bool:
    """Whether a reader of the script would take `loader` for the one known from the same line.

    Such as one made for every epoch. Trainers keep the earlier ones: these share their data set.
    """
    earlier = known.loader()
    data = getattr(loader, "dataset", None)
    return earlier is None or (data is not None and getattr(earlier, "dataset", None) is data)
