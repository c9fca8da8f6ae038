"""What happened when, for chrome://tracing or Perfetto: a file in the Trace Event Format.

All moments are of `time.perf_counter`, which on one machine is the same clock in every process.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.watching.frames import Doing, Stage

MOST_EVENTS = 2_000_000  # some 200 MB
_SAME = 0.1  # seconds between two looks at a thread that count as one stretch
Event = dict[str, Any]


class Trace:
    """Spans on tracks, moments and counters of one process, kept until they are written."""

    def __init__(self, process: str = "training") -> None:
        self._process = process
        self._pid = os.getpid()
        self._events: list[Event] = []
        self._tracks: dict[tuple[int, str], int] = {}
        self._left_out = 0
        self._adding = threading.Lock()

    def span(
        self,
        name: str,
        begin_s: float,
        end_s: float,
        track: str,
        args: Mapping[str, Any] | None = None,
        process: int | None = None,
    ) -> None:
        """Add something that took a while."""
        event = self._event("X", name, begin_s, track, process)
        event["dur"] = max(0.0, end_s - begin_s) * 1e6
        if args:
            event["args"] = dict(args)
        self._add(event)

    def moment(self, name: str, at_s: float, track: str) -> None:
        """Add something that happened at once."""
        self._add(self._event("i", name, at_s, track) | {"s": "t"})

    def counter(self, name: str, at_s: float, value: float) -> None:
        """Add a figure that changes over time."""
        self._add(self._event("C", name, at_s, "") | {"args": {name: value}})

    def stages(self, spans: Iterable[StageSpan], track: str, process: int | None = None) -> None:
        """Add what a thread was seen doing."""
        for span in spans:
            name = span.doing.stage.value + (f": {span.doing.name}" if span.doing.name else "")
            args = {"place": span.doing.place} if span.doing.place else None
            self.span(name, span.begin_s, span.end_s, track, args, process)

    def events(self, process: str | None = None) -> list[Event]:
        """Return all events, and the names of processes and tracks."""
        names = {self._pid: process or self._process}
        named = [
            _name("thread_name", track, pid, number)
            for (pid, track), number in self._tracks.items()
            if track
        ]
        for pid, _ in self._tracks:
            names.setdefault(pid, f"worker {pid}")
        named += [_name("process_name", name, pid, 0) for pid, name in names.items()]
        if self._left_out:
            told = f"{self._left_out:,} later events were left out"
            named.append(_name("process_labels", told, self._pid, 0, key="labels"))
        return named + self._events

    def copy(self) -> Trace:
        """Return a trace with the same events, to which others can be added."""
        other = Trace(self._process)
        with self._adding:
            other._events = list(self._events)
            other._tracks = dict(self._tracks)
            other._left_out = self._left_out
        return other

    def write(self, file: str | Path) -> None:
        """Write everything so far."""
        write_events(file, self.events())

    def _event(
        self, kind: str, name: str, at_s: float, track: str, process: int | None = None
    ) -> Event:
        pid = self._pid if process is None else process
        number = self._tracks.setdefault((pid, track), len(self._tracks))
        return {"ph": kind, "name": name, "ts": at_s * 1e6, "pid": pid, "tid": number}

    def _add(self, event: Event) -> None:
        with self._adding:
            if len(self._events) < MOST_EVENTS:
                self._events.append(event)
            else:
                self._left_out += 1


def _name(what: str, name: str, pid: int, track: int, key: str = "name") -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": track, "args": {key: name}}


def write_events(file: str | Path, events: Iterable[Event]) -> None:
    """Write a file that chrome://tracing and Perfetto open."""
    document = {"displayTimeUnit": "ms", "traceEvents": list(events)}
    try:
        Path(file).write_text(json.dumps(document), "utf-8")
    except OSError as error:
        raise PenstockError(
            f"{file}: cannot write the trace: {error.strerror}. Name a file in a folder that you "
            "may write to."
        ) from error


def check_file(file: str | Path) -> Path:
    """Return where to write a trace, found to be possible before anything is measured."""
    path = Path(file)
    if not path.resolve().parent.is_dir() or path.is_dir():
        what = "it is a folder" if path.is_dir() else "its folder does not exist"
        raise PenstockError(f"{file}: cannot write the trace: {what}. Name a file in a folder.")
    return path.resolve()


class StageSpan:
    """A stretch of time in which a thread was seen doing the same."""

    __slots__ = ("begin_s", "doing", "end_s")

    def __init__(self, doing: Doing, begin_s: float, end_s: float) -> None:
        self.doing, self.begin_s, self.end_s = doing, begin_s, end_s

    def to_list(self) -> list[Any]:
        """Return it in types that JSON knows."""
        doing = self.doing
        return [doing.stage.value, doing.name, doing.place, self.begin_s, self.end_s]

    @staticmethod
    def of(saved: list[Any]) -> StageSpan:
        """Return what `to_list` gave."""
        stage, name, place, begin_s, end_s = saved
        return StageSpan(Doing(Stage(stage), name, place), begin_s, end_s)


class Stretches:
    """Looks at a thread, put together to stretches; more than `MOST_EVENTS` are left out."""

    def __init__(self) -> None:
        self.spans: list[StageSpan] = []

    def add(self, doing: Doing, begin_s: float, end_s: float) -> None:
        """Add a look, which stands for the time since the last one."""
        last = self.spans[-1] if self.spans else None
        if last is not None and last.doing == doing and begin_s - last.end_s < _SAME:
            last.end_s = end_s
        elif len(self.spans) < MOST_EVENTS:
            self.spans.append(StageSpan(doing, begin_s, end_s))


class TracedSteps:
    """Puts the waits and steps of one loader into a trace; see `StepListener`."""

    def __init__(self, trace: Trace, loader: str) -> None:
        self._trace = trace
        self._track = f"loop over {loader}"

    def waited(self, step: int, begin_s: float, end_s: float, images: int) -> None:
        """Note that a batch has come."""
        self._trace.span("wait", begin_s, end_s, self._track, {"batch": step, "images": images})
        self._trace.moment(f"batch {step}", end_s, self._track)

    def computed(self, step: int, begin_s: float, end_s: float) -> None:
        """Note that the loop is done with a batch."""
        self._trace.span("step", begin_s, end_s, self._track, {"batch": step})

    def asks(self) -> None:
        """Nothing to note: the wait is noted when it is over."""

    def ends(self) -> None:
        """Nothing to note: there is no batch."""


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def current_trace() -> Trace | None:
    """Return the trace of what is measured now, if one was asked for."""
    return _current.get()


@contextmanager
def traced_to(file: str | Path | None) -> Iterator[None]:
    """Trace everything inside, and write it to the file; None traces nothing."""
    if file is None:
        yield
        return
    path, trace = check_file(file), Trace("penstock analyze")
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)
        trace.write(path)
