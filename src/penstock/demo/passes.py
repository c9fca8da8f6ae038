"""The demo's loaders timed in turn, each in a process of its own.

So neither loader's threads or modules touch the other's.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from statistics import median
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from penstock.demo.loaders import Work
from penstock.demo.torchvision_import import import_torch_if_there
from penstock.errors import LoaderError, PenstockError
from penstock.progress import ProgressBar
from penstock.usable_cores import pinned_to, usable_cores

if TYPE_CHECKING:
    from typing_extensions import Self

SHORTEST_PASS_S = 0.3
FAREWELL_S = 5.0  # that a process has to end after it was asked to

Sides = Mapping[str, Callable[[Work], object]]  # the plain one first


@dataclass(frozen=True, slots=True)
class Pass:
    """Epochs of one loader; the first pass on a number of cores also builds the loader."""

    images: int
    seconds: float
    first_batch_s: float  # includes building the loader, if it was built

    @property
    def images_per_s(self) -> float:
        """Images per second over the whole pass."""
        return self.images / self.seconds


Results = dict[tuple[str, int], list[Pass]]  # by label and number of cores


@dataclass(frozen=True, slots=True)
class Row:
    """One loader on a number of cores; rates and ratios have an entry per timed pass."""

    loader: str
    cores: int
    images_per_s: tuple[float, ...]
    ratios: tuple[float, ...]  # to the plain loader's rate in the same round
    first_batch_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures under names with units."""
        return {
            "loader": self.loader,
            "cores": self.cores,
            "images_per_s": round(median(self.images_per_s), 1),
            "images_per_s_lowest": round(min(self.images_per_s), 1),
            "images_per_s_highest": round(max(self.images_per_s), 1),
            "ratio_to_plain": round(median(self.ratios), 3),
            "first_batch_s": round(self.first_batch_s, 4),
        }


class TimedLoader:
    """One loader for each number of cores, built when first asked for and kept."""

    def __init__(self, build: Callable[[Work, int], Any], work: Work) -> None:
        import_torch_if_there()  # now, because imports are not part of the first batch
        self._build = partial(build, work)
        self._loaders: dict[int, Any] = {}

    def run_pass(self, cores: int) -> Pass:
        """Load epochs on that many cores until the pass is long enough to be timed."""
        images = 0
        first_batch_s = 0.0
        with pinned_to(cores):
            started_s = time.perf_counter()
            if cores not in self._loaders:
                self._loaders[cores] = self._build(cores)
            while not images or time.perf_counter() - started_s < SHORTEST_PASS_S:
                for batch, _ in self._loaders[cores]:
                    if not images:
                        first_batch_s = time.perf_counter() - started_s
                    images += len(batch)
            return Pass(images, time.perf_counter() - started_s, first_batch_s)


def measure_passes(work: Work, sides: Sides, passes: int) -> list[Row]:
    """Time each side on one core and on all, alternating; the first side is the reference."""
    core_counts = sorted({1, usable_cores()})
    with ExitStack() as stack:
        running = {
            label: stack.enter_context(LoaderProcess(label, side, work))
            for label, side in sides.items()
        }
        return _rows(_alternate(running, core_counts, passes), reference=next(iter(sides)))


def _alternate(
    running: Mapping[str, LoaderProcess], core_counts: list[int], passes: int
) -> Results:
    """Run every side on every number of cores, round by round; round 0 builds and warms up."""
    results: Results = {(label, cores): [] for cores in core_counts for label in running}
    total = (passes + 1) * len(results)
    with ProgressBar("measuring", total=total, unit="passes", quiet_for_s=0, rate=False) as bar:
        for _ in range(passes + 1):
            for (label, cores), done in results.items():
                many = "1 core" if cores == 1 else f"{cores} cores"
                bar.advance(0, title=f"{label} on {many}")
                done.append(running[label].call("run_pass", cores))
                bar.advance()
    return results


def _rows(results: Results, reference: str) -> list[Row]:
    rows = []
    for (label, cores), (first, *timed) in results.items():
        rates = tuple(done.images_per_s for done in timed)
        theirs = [done.images_per_s for done in results[reference, cores][1:]]
        ratios = tuple(rate / plain for rate, plain in zip(rates, theirs, strict=True))
        rows.append(Row(label, cores, rates, ratios, first.first_batch_s))
    return rows


@dataclass(frozen=True, slots=True)
class _Failure:
    message: str


class LoaderProcess:
    """An object that lives in a fresh process, made there by `factory(argument)`.

    Entering waits until it is made; leaving ends the process.
    Both `factory` and the arguments of calls must be picklable.
    """

    def __init__(
        self,
        label: str,
        factory: Callable[[Any], object],
        argument: object,
        start: Literal["spawn", "forkserver"] = "spawn",
    ) -> None:
        self.label = label
        context: Any = multiprocessing.get_context(start)
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, factory, argument))
        self._theirs = theirs

    def __enter__(self) -> Self:
        self._process.start()
        self._theirs.close()  # so that the end of the process closes the last writing end
        try:
            self._answer()
        except BaseException:
            self._end(gently=False)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._end(gently=kind is None)

    def call(self, method: str, *arguments: object) -> Any:
        """Call a method of the object over there and return its result."""
        self._connection.send((method, arguments))
        return self._answer()

    def _answer(self) -> Any:
        try:
            answer = self._connection.recv()
        except (EOFError, ConnectionError) as error:
            self._process.join(FAREWELL_S)
            raise LoaderError(
                f"{self.label}: its process ended by itself (exit code {self._process.exitcode}); "
                "there may be too little memory."
            ) from error
        if isinstance(answer, _Failure):
            raise LoaderError(f"{self.label}: {answer.message}")
        return answer

    def _end(self, *, gently: bool) -> None:
        if gently:
            try:
                self._connection.send(None)
            except OSError:
                gently = False
        self._connection.close()
        if not gently:
            self._process.terminate()
        self._process.join(FAREWELL_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _leave_when_terminated() -> None:
    """End by way of an exception, so that a loader can still end its own workers."""
    owner = os.getpid()

    def leave(number: int, frame: FrameType | None) -> None:
        del number, frame
        if os.getpid() != owner:  # a worker that was forked from here, and has nothing to tidy
            os._exit(1)
        raise SystemExit

    signal.signal(signal.SIGTERM, leave)


def _serve(connection: Connection, factory: Callable[[Any], object], argument: object) -> None:
    # Ctrl-C reaches all processes of a terminal; the first one decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _leave_when_terminated()
    warnings.simplefilter("ignore")  # our user need not see what other packages warn about
    try:
        served = factory(argument)
        connection.send(None)
        while (request := connection.recv()) is not None:
            method, arguments = request
            connection.send(getattr(served, method)(*arguments))
    except EOFError:
        return
    except PenstockError as error:
        connection.send(_Failure(str(error)))
    except Exception as error:  # noqa: BLE001 (told in full by the first process)
        connection.send(_Failure(f"stopped with {type(error).__name__}: {error}"))
