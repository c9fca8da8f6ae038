"""A thread that looks at another one some 50 times per second, and adds up what that was doing.

Each look counts for the time since the last one. A look takes some 10 microseconds and waking up
for it up to 200: about one per cent of a core. CPU time and time spent queueing for a core are
read from the system's own counters for the thread.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from penstock.watching.frames import Doing, FrameReader, Stage
from penstock.watching.trace import StageSpan, Stretches

EVERY_S = 0.02
TRACE_EVERY_S = 2.0  # a whole file each time
SPANS = ".spans"
SUMS = ("samples", "wall_s", "cpu_s", "queued_s", "process_cpu_s")  # of a Tally
_looking = threading.Lock()


def current_frames() -> dict[int, FrameType]:
    """Return what each thread of this process is doing.

    Meanwhile the interpreter holds an internal lock. A garbage collection at this moment may free
    objects that release Python's lock, such as tensors; another thread that needs the internal
    lock, for example to start a thread, would then wait forever. So the collector is switched off.
    """
    with _looking:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return sys._current_frames()  # noqa: SLF001 (has no public name)
        finally:
            if was_enabled:
                gc.enable()


@dataclass(slots=True)
class Tally:
    """What was seen of one or more threads, in seconds."""

    samples: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of the threads themselves
    queued_s: float = 0.0  # ready to run, but other work had the core
    process_cpu_s: float = 0.0  # of their whole processes
    seconds: dict[Doing, float] = field(default_factory=dict)

    def add(self, doing: Doing, seconds: float) -> None:
        """Count a look at a thread, for the time since the last one."""
        self.samples += 1
        self.wall_s += seconds
        self.seconds[doing] = self.seconds.get(doing, 0.0) + seconds

    def of(self, *stages: Stage) -> float:
        """Return the seconds of some stages."""
        return sum(spent for doing, spent in self.seconds.items() if doing.stage in stages)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        seconds = [
            [doing.stage.value, doing.name, doing.place, spent]
            for doing, spent in list(self.seconds.items())
        ]
        return {name: getattr(self, name) for name in SUMS} | {"seconds": seconds}

    def add_dict(self, saved: dict[str, Any]) -> None:
        """Add what `to_dict` returned elsewhere."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) + saved[name])
        for stage, name, place, spent in saved["seconds"]:
            doing = Doing(Stage(stage), name, place)
            self.seconds[doing] = self.seconds.get(doing, 0.0) + spent


class ThreadCounters:
    """CPU time and queueing time of another thread of this process, in seconds.

    Where the system does not tell them apart by thread, CPU time is that of the process.
    """

    def __init__(self, ident: int, native_id: int) -> None:
        self._clock: int | None = None
        self._scheduler: int | None = None
        if sys.platform == "linux":
            self._clock = time.pthread_getcpuclockid(ident)
            try:
                self._scheduler = os.open(f"/proc/self/task/{native_id}/schedstat", os.O_RDONLY)
            except OSError:  # a kernel without these figures
                self._scheduler = None

    def read(self) -> tuple[float, float]:
        """Return CPU time and queueing time."""
        cpu_s, queued_s = time.process_time(), 0.0
        if sys.platform == "linux" and self._clock is not None:
            cpu_s = time.clock_gettime(self._clock)
        if self._scheduler is not None:
            queued_s = int(os.pread(self._scheduler, 64, 0).split()[1]) / 1e9
        return cpu_s, queued_s

    def close(self) -> None:
        """Let go of the system's file."""
        if self._scheduler is not None:
            os.close(self._scheduler)
            self._scheduler = None


def queued_threads_s() -> float | None:
    """Return how long all threads of this process were ready without a core; None if not told."""
    if sys.platform != "linux":
        return None
    queued = 0
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/schedstat", "rb") as file:
                queued += int(file.read().split()[1])
        except (OSError, IndexError):  # it has ended, or the kernel does not tell
            continue
    return queued / 1e9


class Sampler:
    """Calls `look(seconds)` again and again from a thread of its own.

    It ends when it is stopped, or when the object whose method `look` is has gone. `seconds` is
    the time since the last call. Intervals vary, or a loop of the same period would always be met
    at the same point.
    """

    def __init__(self, look: Callable[[float], None]) -> None:
        self._look = weakref.WeakMethod(look)
        self._stopped = threading.Event()
        self._intervals = random.Random(os.getpid())  # not the one that the user has seeded
        self._thread = threading.Thread(target=self._run, name="penstock sampler", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no thread can be started: nothing is seen, and the script goes on
            self._stopped.set()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        last_s = time.perf_counter()
        while not self._stopped.wait(EVERY_S * self._intervals.uniform(0.6, 1.4)):
            now_s, look = time.perf_counter(), self._look()
            if look is None:
                return
            try:
                look(now_s - last_s)
            except Exception:  # noqa: BLE001 (the script goes on, whatever fails here)
                return
            del look
            last_s = now_s


class WorkerSampler:
    """Samples the thread that made it, and keeps a file with what was seen up to date.

    A worker process may be ended at any moment, so the file is written again and again.
    """

    WRITE_EVERY_S = 0.5

    def __init__(self, file: str, folder: str, *, is_traced: bool = False) -> None:
        self._file = file
        self._stretches = Stretches() if is_traced else None
        self._reader = FrameReader(folder)
        self._ident = threading.get_ident()
        self._counters = ThreadCounters(self._ident, threading.get_native_id())
        self._began = (*self._counters.read(), time.process_time())
        self._tally = Tally()
        self._written_s = self._traced_s = 0.0
        self._sampler = Sampler(self._look)

    def stop(self) -> None:
        """End sampling, and write what was seen."""
        self._sampler.stop()
        self._write()
        self._write_stretches()
        self._counters.close()

    def _look(self, seconds: float) -> None:
        frame = current_frames().get(self._ident)
        doing, now_s = self._reader.read(frame), time.perf_counter()
        self._tally.add(doing, seconds)
        if self._stretches is not None:
            self._stretches.add(doing, now_s - seconds, now_s)
        del frame
        if self._tally.wall_s - self._written_s > self.WRITE_EVERY_S:
            self._write()

    def _write_stretches(self) -> None:
        if self._stretches is not None:
            self._save(f"{self._file}{SPANS}", [one.to_list() for one in self._stretches.spans])

    def _write(self) -> None:
        self._written_s = self._tally.wall_s
        tally, (cpu_s, queued_s, process_s) = self._tally, self._began
        now_cpu_s, now_queued_s = self._counters.read()
        tally.cpu_s, tally.queued_s = now_cpu_s - cpu_s, now_queued_s - queued_s
        tally.process_cpu_s = time.process_time() - process_s
        self._save(self._file, tally.to_dict())
        if self._stretches is not None and self._written_s - self._traced_s > TRACE_EVERY_S:
            self._traced_s = self._written_s
            self._write_stretches()

    @staticmethod
    def _save(path: str, content: Any) -> None:
        try:
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(f"{path}.new", path)
        except OSError:  # the folder is gone: nobody will ask
            return


def read_stretches(file: str) -> list[StageSpan]:
    """Return what a worker was seen doing, when."""
    try:
        with open(file, encoding="utf-8") as text:
            return [StageSpan.of(saved) for saved in json.load(text)]
    except (OSError, ValueError):  # the worker was killed while it wrote
        return []


def read_tallies(files: Iterable[str]) -> Tally:
    """Add up what the workers wrote."""
    total = Tally()
    for file in files:
        try:
            with open(file, encoding="utf-8") as text:
                total.add_dict(json.load(text))
        except (OSError, ValueError):  # the worker ended before it wrote anything
            continue
    return total
