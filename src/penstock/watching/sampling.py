"""Sampling of a training loop and of the worker processes of its loaders, as they are started."""

from __future__ import annotations

import atexit
import functools
import glob
import importlib
import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CodeType
from typing import Any

from penstock.watching import nvml
from penstock.watching.frames import FrameReader
from penstock.watching.sampler import (
    SPANS,
    Sampler,
    Tally,
    WorkerSampler,
    current_frames,
    queued_threads_s,
    read_stretches,
    read_tallies,
)
from penstock.watching.trace import Stretches, Trace

COUNT_QUEUES_EVERY_S = 0.5
WORKER_MODULE = "torch.utils.data._utils.worker"
_starting = threading.local()  # .target: where workers that this thread starts report to


class Sampling:
    """Samples any number of loops in this process, each for one loader, and their workers.

    `folder` is where the user's own files are. What workers report is kept until `close`.
    """

    def __init__(self, folder: str, trace: Trace | None = None) -> None:
        self.folder = folder
        self.trace = trace
        self._reader = FrameReader(folder)
        self._loops: dict[int, LoaderSamples] = {}  # by thread: the loader it asked last
        self._numbers = 0
        # Made by the first worker that reports: most loaders in a process have none.
        self._tallies = os.path.join(tempfile.gettempdir(), f"penstock-{secrets.token_hex(8)}")
        self._sampler: Sampler | None = None
        self._process = os.getpid()
        self._changing = threading.RLock()
        self._is_before_forks = False
        self._queued_s: float | None = None
        self._since_counted_s = 0.0
        self._gpu: nvml.Gpu | None = None
        self._since_gpu_s = 0.0

    def loader(self) -> LoaderSamples:
        """Return a record for one more loader."""
        self._numbers += 1
        return LoaderSamples(self, self._numbers)

    def mark_next(self, code: CodeType) -> None:
        """Take a function for the one that asks a loader for its next batch."""
        self._reader.mark_next(code)

    def follow(self, samples: LoaderSamples) -> None:
        """Sample the calling thread for this loader from now on."""
        self._loops[threading.get_ident()] = samples
        if self._sampler is None and os.getpid() == self._process:
            with self._changing:
                if self._sampler is None:
                    self._stop_before_forks()
                    self._since_counted_s = 0.0
                    self._queued_s = queued_threads_s()
                    self._sampler = Sampler(self._look)

    def leave(self, samples: LoaderSamples) -> None:
        """Stop sampling the calling thread for this loader, which has no more to give."""
        if self._loops.get(threading.get_ident()) is samples:
            del self._loops[threading.get_ident()]
        if not self._loops:
            self._stop_sampler()

    @contextmanager
    def starting(self, number: int) -> Iterator[None]:
        """Have workers that are started inside report as those of loader `number`.

        No thread of ours runs in that time: a process with threads should not be forked.
        """
        hook_torch_workers()
        self._stop_sampler()
        outer = getattr(_starting, "target", None)
        is_traced = self.trace is not None
        _starting.target = (os.path.join(self._tallies, str(number)), self.folder, is_traced)
        try:
            yield
        finally:
            _starting.target = outer

    def files(self, number: int) -> list[str]:
        """Return what the workers of a loader have written."""
        return glob.glob(f"{glob.escape(self._tallies)}/{number}-*.json")

    def close(self) -> None:
        """End sampling, and remove what the workers reported."""
        if os.getpid() != self._process:
            return  # a child that the script forked: the reports are its parent's
        if self._sampler is not None:
            self._sampler.stop()
        if self._gpu is not None:
            self._gpu.close()
        shutil.rmtree(self._tallies, ignore_errors=True)

    def _stop_sampler(self) -> None:
        """End the thread, until a loop asks for its next batch."""
        if os.getpid() != self._process:
            return  # a child that the script forked has no such thread
        with self._changing:
            sampler, self._sampler = self._sampler, None
        if sampler is not None:
            sampler.stop()

    def _stop_before_forks(self) -> None:
        """Have no thread of ours run when the script forks: Python warns of that from 3.12 on."""
        if self._is_before_forks or not hasattr(os, "register_at_fork"):
            return
        self._is_before_forks = True
        stop = weakref.WeakMethod(self._stop_sampler)

        def before() -> None:
            stop_sampler = stop()
            if stop_sampler is not None:
                stop_sampler()

        os.register_at_fork(before=before)

    def _count_queues(self) -> None:
        """Note how long threads of this process, those of the step's libraries too, had no core."""
        queued_s, seconds = queued_threads_s(), self._since_counted_s
        before_s, self._queued_s, self._since_counted_s = self._queued_s, queued_s, 0.0
        if before_s is not None and queued_s is not None:
            for samples in set(self._loops.values()):
                samples.loop.queued_s += max(0.0, queued_s - before_s)
                samples.counted_s += seconds

    def _ask_gpu(self) -> None:
        """Note how busy the GPU is that torch uses here, if it uses one by now."""
        self._since_gpu_s = 0.0
        if self._gpu is None:
            name = nvml.gpu_of_torch()
            if name is None:
                return
            self._gpu = nvml.Gpu(name)
        busy = self._gpu.busy()
        if self.trace is not None and busy is not None:
            self.trace.counter("GPU busy, %", time.perf_counter(), 100 * busy)
        for samples in set(self._loops.values()):
            samples.gpu = samples.gpu or nvml.GpuUse()
            samples.gpu.note = self._gpu.note
            if busy is not None:
                samples.gpu.samples += 1
                samples.gpu.busy_sum += busy

    def _look(self, seconds: float) -> None:
        self._since_gpu_s += seconds
        if self._since_gpu_s >= nvml.EVERY_S:
            self._ask_gpu()
        self._since_counted_s += seconds
        if self._since_counted_s >= COUNT_QUEUES_EVERY_S:
            self._count_queues()
        frames = current_frames()
        for thread, samples in list(self._loops.items()):
            frame = frames.get(thread)
            if frame is None:
                self._loops.pop(thread, None)  # the thread has ended
            else:
                doing = self._reader.read(frame)
                samples.loop.add(doing, seconds)
                if self.trace is not None:
                    now_s = time.perf_counter()
                    samples.stretches.add(doing, now_s - seconds, now_s)


class LoaderSamples:
    """What sampling saw of one loader: in the loop that asks it, and in its workers."""

    def __init__(self, sampling: Sampling, number: int) -> None:
        self.loop = Tally()
        self.gpu: nvml.GpuUse | None = None  # None where torch uses no GPU
        self.stretches = Stretches()  # of the loop, if there is a trace
        self.counted_s = 0.0  # during which loop.queued_s was counted
        self._sampling = sampling
        self._number = number

    def follow(self) -> None:
        """Sample the calling thread, which asks this loader for a batch."""
        self._sampling.follow(self)

    def leave(self) -> None:
        """Sample the calling thread no more: the loader's epoch is over."""
        self._sampling.leave(self)

    def starting(self) -> Any:
        """Have workers that are started inside report here."""
        return self._sampling.starting(self._number)

    def add_to(self, trace: Trace, loader: str) -> None:
        """Put what the loop and the workers were seen doing into a trace."""
        trace.stages(self.stretches.spans, f"stages of the loop over {loader}")
        for file in self._sampling.files(self._number):
            worker = int(file.rpartition("-")[2].removesuffix(".json"))
            trace.stages(read_stretches(file + SPANS), f"worker of {loader}", worker)

    def workers(self) -> Tally:
        """Add up what the workers reported so far."""
        return read_tallies(self._sampling.files(self._number))


@functools.cache
def sampling_here() -> Sampling:
    """Return the sampling of all loops that are watched in this process."""
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = os.sep
    sampling = Sampling(folder)
    atexit.register(sampling.close)
    return sampling


class SampledLoop:
    """torch's worker loop with a sampler beside it.

    A forked worker has this very object; a spawned one gets a copy with the target, and finds
    torch's own loop by its name.
    """

    def __init__(
        self,
        loop: Callable[..., None] | None = None,
        target: tuple[str, str, bool] | None = None,
    ) -> None:
        self._loop = loop
        self._target = target

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Run torch's loop, in the worker process."""
        loop = self._loop or importlib.import_module(WORKER_MODULE)._worker_loop  # noqa: SLF001
        target = self._target or getattr(_starting, "target", None)
        if target is None:
            loop(*arguments, **named)
            return
        prefix, folder, is_traced = target
        sampler = None
        with suppress(Exception):  # a worker that cannot be looked at works all the same
            os.makedirs(os.path.dirname(prefix), mode=0o700, exist_ok=True)
            file = f"{prefix}-{os.getpid()}.json"
            sampler = WorkerSampler(file, folder, is_traced=is_traced)
        try:
            loop(*arguments, **named)
        finally:
            if sampler is not None:
                sampler.stop()

    def __reduce__(self) -> tuple[Any, ...]:
        return SampledLoop, (None, getattr(_starting, "target", None))


def hook_torch_workers() -> None:
    """Put a sampler into the workers that torch's DataLoader starts from now on.

    Does nothing if torch is not there, or if its worker loop has another name.
    """
    module: Any = sys.modules.get(WORKER_MODULE)
    loop = getattr(module, "_worker_loop", None)
    if loop is not None and not isinstance(loop, SampledLoop):
        module._worker_loop = SampledLoop(loop)  # noqa: SLF001
