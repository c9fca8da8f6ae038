"""What each op of a data set costs: samples are fetched one by one, with a clock around every op.

Time in which the thread sleeps counts as reading, unless an op sleeps; time in Pillow's, OpenCV's
and torchvision's decoders as decoding, wherever they are called; the rest of `__getitem__` as the
data set's own code. An op that is too short for a clock inside the pipeline is called many times in
a row afterwards, on the images that it was given.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import PIL.ImageFile

from penstock.costs.clocks import SHORT_S, CallTimer, Spent, StageClock
from penstock.costs.costs import Cost, Costs, Kind
from penstock.costs.ops import (
    PYTHON,
    TORCH,
    Arguments,
    StandIn,
    file_name,
    is_dataset,
    op_name,
    replaced_ops,
    runs_in,
    single_ops,
)
from penstock.errors import SourceError, TransformError
from penstock.usable_cores import library_threads

_DECODERS = (
    ("PIL.Image", "open"),
    (f"{PIL.ImageFile.__name__}.ImageFile", "load"),
    ("cv2", "imread"),
    ("cv2", "imdecode"),
    ("torchvision.io", "read_image"),
    ("torchvision.io", "decode_image"),
    ("torchvision.io", "decode_jpeg"),
)
_DECODE, _OWN, _COLLATE = "decode", "the data set's own code", "collate"
_LEAST_ITEMS = 4
_COLLATES = 3
_KEPT = 8  # images of an op, to try it on again
_WORTH_NOTING = 0.2  # share of an op's time


class TimedOp(StandIn):
    """Calls the op and counts the time for `name`."""

    def __init__(self, op: Any, name: str, clock: StageClock) -> None:
        super().__init__(op)
        self._name = name
        self._clock = clock
        self.runs_in = PYTHON
        self.calls = 0
        self.short_calls: list[Arguments] = []  # what it was given when it did not take long

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Call the op, on the clock; what is noted beside it is not counted."""
        with self._clock.stage(None):
            given = Arguments(positional, named)
            self.runs_in = runs_in(self._op, given.image)
            began_s = time.perf_counter()
            with self._clock.stage(self._name):
                result = self._op(*positional, **named)
            self.calls += 1
            if time.perf_counter() - began_s < 2 * SHORT_S and len(self.short_calls) < _KEPT:
                self.short_calls.append(given)
        return result

    def cost(self, spent: Spent, items: int, timer: CallTimer) -> Cost:
        """Return what the op costs per item, given what its calls in the pipeline took."""
        cost = _cost("augment", self._name, spent, items, self.runs_in)
        if self.calls and spent.used_s / self.calls < SHORT_S and self.short_calls:
            try:
                calls = [given.bind(self._op) for given in self.short_calls]
                call_s = float(np.mean([timer.time(call)[0] for call in calls]))
            except Exception:  # noqa: BLE001 (it cannot be repeated: what was seen has to do)
                return cost
            return replace(cost, seconds=call_s * self.calls / items)
        return cost


@dataclass(frozen=True, slots=True)
class DatasetCosts:
    """What a sample costs, and how long each fetched sample took."""

    costs: Costs
    indices: Sequence[int]
    seconds: Sequence[float]


def measure_dataset(
    dataset: Any,
    samples: int,
    *,
    seconds: float = math.inf,
    collate: Callable[[list[Any]], Any] | None = None,
    batch_size: int = 1,
) -> DatasetCosts:
    """Fetch up to `samples` samples, spread over the data set, for about `seconds` at most.

    If a collate function is given, batches are made of them too.
    """
    ops: dict[str, TimedOp] = {}
    items: list[Any] = []
    indices: list[int] = []
    took_s: list[float] = []
    with ExitStack() as stack:
        clock = StageClock()
        stack.callback(clock.close)
        stack.enter_context(library_threads(1))
        rows = fetch(dataset, samples)
        if is_dataset(dataset):  # what is done only once is not what a sample costs
            next(fetch(dataset, 1), None)
        stack.enter_context(_timed_decoders(clock))
        stack.enter_context(replaced_ops(dataset, lambda op: _timed_op(op, clock, ops)))
        until_s = time.perf_counter() + seconds
        while len(indices) < _LEAST_ITEMS or time.perf_counter() <= until_s:
            before_s = clock.used_s
            with clock.stage(_OWN):
                row = next(rows, None)
            if row is None:
                break
            indices.append(row[0])
            took_s.append(clock.used_s - before_s)
            if len(items) < batch_size:
                items.append(row[1])
        if not indices:
            raise SourceError(f"{type(dataset).__name__} is empty. Give it some samples.")
        if collate is not None:
            _time_collate(clock, collate, items, batch_size)
    parts = _parts(clock.spent, ops, len(indices))
    if collate is not None:
        by = TORCH if _is_default(collate) else PYTHON
        parts.append(_cost("collate", _COLLATE, clock.spent[_COLLATE], _COLLATES * batch_size, by))
    return DatasetCosts(Costs(tuple(parts)), indices, took_s)


def measure_transform(pipeline: Any, inputs: Sequence[Arguments]) -> Costs:
    """Run every input through the ops one by one."""
    ops: dict[str, TimedOp] = {}
    clock = StageClock()
    for op in single_ops(pipeline):
        _timed_op(op, clock, ops)
    for sample, arguments in enumerate(inputs):
        given = arguments
        for number, timed in enumerate(ops.values(), 1):
            try:
                given = given.after(given.bind(timed)())
            except Exception as error:
                raise TransformError(
                    f"profile: op {number} ({op_name(timed.op)}) failed on sample {sample}, "
                    f"given {type(given.image).__name__}: {type(error).__name__}: {error}"
                ) from error
    clock.close()
    return Costs(tuple(_op_parts(clock.spent, ops, len(inputs))))


def fetch(dataset: Any, samples: int) -> Iterator[tuple[int, Any]]:
    """Yield samples with their numbers, evenly over a data set, or the first ones of a stream."""
    if is_dataset(dataset):
        indices = spread_indices(len(dataset), samples)
        return ((index, get_sample(dataset, index)) for index in indices)
    return enumerate(islice(iter(dataset), samples))


def spread_indices(length: int, wanted: int) -> list[int]:
    """Return up to `wanted` indices, evenly over the data set."""
    spread = np.linspace(0, length - 1, min(wanted, length)).astype(np.int64)
    chosen: list[int] = np.unique(spread).tolist()
    return chosen


def get_sample(dataset: Any, index: int) -> Any:
    """Return a sample; an error names it."""
    try:
        return dataset[index]
    except Exception as error:
        file = file_name(dataset, index)
        sample = file if file == f"sample {index}" else f"sample {index} ({file})"
        raise SourceError(f"{sample} failed: {type(error).__name__}: {error}") from error


def _parts(spent: dict[str, Spent], ops: dict[str, TimedOp], items: int) -> list[Cost]:
    waited_s = sum(spent[name].blocked_s for name in (_OWN, _DECODE) if name in spent)
    parts = [Cost("read", "waiting for data", waited_s / items, "disk")]
    if _DECODE in spent:
        parts.append(Cost("decode", _DECODE, spent[_DECODE].cpu_s / items, "Pillow or the like"))
    parts.append(Cost("own", _OWN, spent[_OWN].cpu_s / items, PYTHON))
    return [*parts, *_op_parts(spent, ops, items)]


def _op_parts(spent: dict[str, Spent], ops: dict[str, TimedOp], items: int) -> list[Cost]:
    """Return the costs of ops that were called at all."""
    timer = CallTimer()
    return [op.cost(spent[name], items, timer) for name, op in ops.items() if name in spent]


def _cost(kind: Kind, name: str, spent: Spent, images: int, runs_in: str) -> Cost:
    """Count computing and sleep; a note says so if much of it is sleep, which takes no core."""
    asleep = spent.blocked_s / spent.used_s if spent.used_s else 0.0
    note = f"asleep {asleep:.0%} of it" if asleep > _WORTH_NOTING else ""
    return Cost(kind, name, spent.used_s / images, runs_in, note)


def _is_default(collate: Callable[..., Any]) -> bool:
    return getattr(collate, "__module__", "").startswith("torch.utils.data")


def _time_collate(
    clock: StageClock, collate: Callable[[list[Any]], Any], items: list[Any], batch_size: int
) -> None:
    """Make whole batches; items are repeated if there are too few."""
    batch = [items[i % len(items)] for i in range(batch_size)]
    for _ in range(_COLLATES):
        with clock.stage(_COLLATE):
            collate(batch)


@contextmanager
def _timed_decoders(clock: StageClock) -> Iterator[None]:
    with ExitStack() as stack:
        for place, name in _DECODERS:
            owner = _find(place)
            if owner is not None and hasattr(owner, name):
                original = getattr(owner, name)
                setattr(owner, name, _timed(original, clock))
                stack.callback(setattr, owner, name, original)
        yield


def _find(place: str) -> Any:
    """Return a module, or a class in one, if the user has imported it."""
    if place in sys.modules:
        return sys.modules[place]
    module, _, name = place.rpartition(".")
    return getattr(sys.modules.get(module), name, None)


def _timed(function: Callable[..., Any], clock: StageClock) -> Callable[..., Any]:
    def timed(*arguments: Any, **options: Any) -> Any:
        with clock.stage(_DECODE):
            return function(*arguments, **options)

    return timed


def _timed_op(op: Any, clock: StageClock, ops: dict[str, TimedOp]) -> TimedOp:
    """Put a clock around an op; `ops` receives it by name."""
    name = op_name(op, taken=ops)
    ops[name] = TimedOp(op, name, clock)
    return ops[name]
