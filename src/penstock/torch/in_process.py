"""What a data set needs to make samples of its own: the engine, once in every process.

Threads do not survive a fork, and files that several processes read through one handle give the
bytes of one to the other. So whatever is of another process is left alone, and made anew.
"""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import PIL.Image
from torch.utils import data as torch_data

from penstock.data.unpacked import UnpackedSource
from penstock.limits import Limits
from penstock.loading.deliver import IMAGE
from penstock.loading.epoch import Delivering, Epoch, Progress
from penstock.loading.failures import Ledger
from penstock.loading.options import RunOptions
from penstock.loading.pipeline import Pipeline
from penstock.loading.runtime import Runtime, RuntimeOwner
from penstock.loading.selection import Chosen, Picked, read_indices
from penstock.loading.to_torch import TorchMemory
from penstock.loading.work import Asked, Work, open_work
from penstock.sources import Source
from penstock.torch.samples import as_samples
from penstock.torch.segments import SegmentMemory

# Imported now, and not by the first thread that needs them: a process that is forked in the middle
# of an import waits for its end forever, and torch's workers begin with numpy.random.
importlib.import_module("numpy.random")
PIL.Image.preinit()

_of_other_processes: list[object] = []  # kept, since letting go of it would end threads not there


@dataclass(frozen=True, slots=True)
class Recipe:
    """An open data set, and what is to be done with its samples; can be pickled."""

    source: Source
    asked: Asked
    running: RunOptions
    limits: Limits

    def work(self) -> Work:
        """Return the same, read and checked."""
        return open_work(self.source, None, self.asked, self.running, "torch", self.limits)

    @property
    def names(self) -> Mapping[str, str]:
        """Other names for the keys of samples that are dictionaries."""
        as_dict = self.asked.as_dict
        return as_dict if isinstance(as_dict, Mapping) else {}

    def opened_here(self) -> Recipe:
        """Return the same for a child of the process that has opened the data set."""
        if isinstance(self.source, UnpackedSource):
            return replace(self, source=copy.copy(self.source))
        return self


def leave_behind(thing: object) -> None:
    """Keep what belongs to another process as it is, for as long as this one lives."""
    _of_other_processes.append(thing)


def pipeline_of(
    work: Work,
    running: RunOptions,
    *,
    indices: Any = None,
    pins: bool = False,
    lender: Callable[[], TorchMemory] | None = None,
) -> Pipeline:
    """Return what makes the samples; only those at `indices` may replace others."""
    length = len(work.beside.source)
    chosen = None if indices is None else read_indices(indices, length)
    everything = Chosen(length, chosen, None, length, shuffle=False, seed=0)
    output = replace(work.output, pins=pins, lender=lender)
    return Pipeline(work.beside, work.plan, 0, running, output, everything, None, work.library)


class Engine:
    """Makes samples on request, in the process that it was made in."""

    def __init__(self, recipe: Recipe, find_threads: Callable[[], int]) -> None:
        self.process = os.getpid()
        self.work = recipe.work()
        self._recipe = recipe
        self._find_threads = find_threads  # asked late, when ranks know of each other
        self._pipeline: Pipeline | None = None
        source = self.work.beside.source
        self._runtimes = RuntimeOwner(Ledger(len(source), source.name))

    @property
    def ledger(self) -> Ledger:
        """What happened to which file in this process."""
        return self._runtimes.ledger

    def make(self, picked: Picked, seed: int, epoch: int) -> list[Any]:
        """Return these samples; they lie in the memory of one batch, unless their sizes differ."""

        def start(runtime: Runtime) -> Epoch:
            return Epoch(
                batches=iter([picked]),
                seed=seed,
                draw_epoch=epoch,
                progress=Progress(epoch),
                delivering=Delivering(0, self.work.delivery, one_size=False),
                runtime=runtime,
            )

        if self._pipeline is None:
            running = replace(self._recipe.running, threads=self._find_threads())
            # Memory is not page-locked: in worker processes that would open the device in each.
            is_worker = torch_data.get_worker_info() is not None
            lender = SegmentMemory if is_worker else None
            self._pipeline = pipeline_of(self.work, running, lender=lender)
        delivered = next(self._runtimes.begin(self._pipeline, None, start), None)
        if delivered is None:  # all of them were left out
            return []
        has_views = bool(self.work.output.views)
        image_key = self._recipe.names.get(IMAGE, IMAGE)
        return as_samples(delivered, image_key, has_views=has_views)

    def close(self) -> None:
        """Stop the threads; the next samples start new ones."""
        self._runtimes.close()

    def anew(self) -> Engine:
        """Return an engine for a child of this one's process, and leave this one as it is."""
        leave_behind(self)
        return Engine(self._recipe.opened_here(), self._find_threads)
