"""What runs in the processes of Ray: a loader that prepares the parts it is asked for.

A worker keeps nothing that anybody would miss: a part depends on what its order says and on the
data set, so any other worker prepares the same bytes.
"""

from __future__ import annotations

import os
import queue
import socket
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
import ray

from penstock._version import __version__
from penstock.errors import LoaderError, PenstockError
from penstock.loading.loader import Loader
from penstock.loading.pipeline import ChosenRules
from penstock.loading.prepared_part import OrderedPart, PreparedPart, Preparer
from penstock.sources import Source

_NAMES_COMPARED = 16


@dataclass(frozen=True, slots=True)
class Spec:
    """The arguments of the loader that workers open."""

    data: Any
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Where a worker runs: host, process and node, as Ray's own tools name it."""

    host: str
    pid: int
    node: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What must be the same wherever a data set is opened."""

    version: str
    samples: int
    names: tuple[str, ...]  # of some samples

    @staticmethod
    def of(source: Source) -> Facts:
        """What this process sees."""
        count = min(len(source), _NAMES_COMPARED)
        some = np.linspace(0, len(source) - 1, count).astype(np.int64).tolist() if count else []
        # Files may be mounted elsewhere there, so only the ends of their paths are compared.
        names = tuple(os.path.basename(source.name(sample)) for sample in some)
        return Facts(__version__, len(source), names)

    def difference(self, other: Facts) -> str | None:
        """How another process sees it differently, if so."""
        if self.version != other.version:
            return f"has penstock {other.version}, this process {self.version}"
        if self.samples != other.samples:
            return f"sees {other.samples:,} samples, this process {self.samples:,}"
        for mine, theirs in zip(self.names, other.names, strict=True):
            if mine != theirs:
                return f"sees a sample {theirs!r} where this process sees {mine!r}"
        return None


@dataclass(frozen=True, slots=True)
class Raised:
    """An error on its way to another process, which raises it anew.

    Not every exception can be pickled, and Ray would raise one of its own that wraps it.
    """

    kind: type[PenstockError]
    arguments: tuple[Any, ...]
    attributes: Mapping[str, Any]

    @staticmethod
    def of(error: Exception) -> Raised:
        """Take along what an error says; one that is not ours becomes a LoaderError."""
        if isinstance(error, PenstockError):
            return Raised(type(error), error.args, dict(vars(error)))
        told = "".join(traceback.format_exception(error)).rstrip()
        place = f"{socket.gethostname()}, process {os.getpid()}"
        return Raised(LoaderError, (f"RayLoader: a worker failed ({place}):\n{told}",), {})

    def error(self) -> PenstockError:
        """The error again."""
        error = self.kind.__new__(self.kind, *self.arguments)
        error.args = self.arguments
        vars(error).update(self.attributes)
        return error


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker made of an order, and what it would have warned of on a terminal."""

    part: PreparedPart | Raised
    warned: tuple[str, ...] = ()


class Worker:
    """The actor. `open` comes first; then any number of `prepare`, several at a time."""

    def __init__(self) -> None:
        self._preparer: Preparer | None = None
        self._warned: queue.SimpleQueue[str] = queue.SimpleQueue()
        warnings.showwarning = self._note_warning

    def _note_warning(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del filename, lineno, file, line
        if category is UserWarning:  # others are about libraries, and for those who write code
            self._warned.put(str(message))

    def open(self, spec: Spec, rules: ChosenRules) -> tuple[WorkerInfo, Facts] | Raised:
        """Open the data set, and say what is seen of it and where."""
        try:
            loader = Loader(spec.data, **spec.arguments)
            self._preparer = loader.preparer(rules)
            node = ray.get_runtime_context().get_node_id()
            return WorkerInfo(socket.gethostname(), os.getpid(), node), Facts.of(loader.source)
        except Exception as error:  # noqa: BLE001 (raised where the user sees it)
            return Raised.of(error)

    def prepare(self, order: OrderedPart) -> Answer:
        """Prepare a part of a batch."""
        part: PreparedPart | Raised
        try:
            part = self._opened().prepare(order)
        except Exception as error:  # noqa: BLE001 (raised where the user sees it)
            part = Raised.of(error)
        return Answer(part, tuple(self._warned.get() for _ in range(self._warned.qsize())))

    def _opened(self) -> Preparer:
        if self._preparer is None:
            raise LoaderError("RayLoader: a worker was asked for a part before it was opened.")
        return self._preparer
