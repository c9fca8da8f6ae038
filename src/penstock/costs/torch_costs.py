"""What each op of a torch data set costs: items are fetched one by one with every op timed.

Time in which the thread sleeps counts as reading, unless an op sleeps; time in Pillow's, OpenCV's
and torchvision's decoders as decoding, wherever they are called; the rest of `__getitem__` as the
data set's own code.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import PIL.ImageFile

from penstock.costs.costs import Cost, Costs, Kind
from penstock.costs.thread_clock import Spent, StageClock
from penstock.costs.timed_op import TimedOp, name_of

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
_WORTH_NOTING = 0.2  # share of an op's time
_LONGEST_TRY_S = 0.3  # of one op on cropped images


def measure_costs(
    dataset: Any, collate: Callable[[list[Any]], Any], batch_size: int, seconds: float
) -> Costs:
    """Fetch items spread over the data set for about `seconds`, then make batches of them."""
    clock = StageClock()
    ops: dict[str, TimedOp] = {}
    with ExitStack() as stack:
        stack.callback(clock.close)
        stack.enter_context(_one_torch_thread())
        stack.enter_context(_timed_decoders(clock))
        stack.enter_context(timed_ops(dataset, clock, ops))
        until = time.perf_counter() + seconds
        items: list[Any] = []
        rows = _spread_items(dataset, max(batch_size, 64))
        while True:
            with clock.stage(_OWN):
                item = next(rows, rows)  # `rows` itself marks the end
            if item is rows:
                break
            items.append(item)
            if time.perf_counter() > until and len(items) >= _LEAST_ITEMS:
                break
        collated = _time_collate(clock, collate, items, batch_size)
        by = "torch" if _is_default(collate) else "Python"
        costs = _as_costs(clock, ops, len(items), (collated, by))
        return Costs(tuple(_with_place_behind(part, costs, ops) for part in costs.parts))


def _with_place_behind(part: Cost, costs: Costs, ops: dict[str, TimedOp]) -> Cost:
    """Try an op that stands before a crop on what leaves the crop, if it takes much time."""
    names = list(ops)
    if part.name not in ops or part.seconds < _WORTH_NOTING * costs.total_s or part.note:
        return part
    later = names[names.index(part.name) + 1 :]
    crop = next((name for name in later if ops[name].kept), None)
    if crop is None or ops[part.name].kept:  # a crop is not moved behind another one
        return part
    op, images = ops[part.name].op, ops[crop].kept
    try:
        spent_s, calls, until = 0.0, 0, time.perf_counter() + _LONGEST_TRY_S
        while not calls or time.perf_counter() < until:
            image = images[calls % len(images)]
            began_s = time.thread_time()
            op(image)
            spent_s += time.thread_time() - began_s
            calls += 1
    except Exception:  # noqa: BLE001 (an op that does not work there cannot be moved)
        return part
    return replace(part, behind=crop, seconds_behind=spent_s / calls)


def _is_default(collate: Callable[..., Any]) -> bool:
    return getattr(collate, "__module__", "").startswith("torch.utils.data")


def _time_collate(
    clock: StageClock, collate: Callable[[list[Any]], Any], items: list[Any], batch_size: int
) -> int:
    """Make whole batches, of items repeated if there are too few; return how many images."""
    batch = [items[i % len(items)] for i in range(batch_size)]
    for _ in range(_COLLATES):
        with clock.stage(_COLLATE):
            collate(batch)
    return _COLLATES * batch_size


def _as_costs(
    clock: StageClock, ops: dict[str, TimedOp], items: int, collated: tuple[int, str]
) -> Costs:
    spent = clock.spent
    waited_s = sum(spent[name].blocked_s for name in (_OWN, _DECODE) if name in spent)
    parts = [Cost("read", "waiting for data", waited_s / items, "disk")]
    if _DECODE in spent:
        parts.append(Cost("decode", _DECODE, spent[_DECODE].cpu_s / items, "Pillow or the like"))
    parts.append(Cost("own", _OWN, spent[_OWN].cpu_s / items, "Python"))
    for name, op in ops.items():
        if name in spent:
            parts.append(_cost("augment", name, spent[name], items, op.runs_in))
    parts.append(_cost("collate", _COLLATE, spent[_COLLATE], *collated))
    return Costs(tuple(parts))


def _cost(kind: Kind, name: str, spent: Spent, images: int, runs_in: str) -> Cost:
    """Count computing and sleep, and tell where much of it is sleep: that takes no core."""
    used_s = spent.cpu_s + spent.blocked_s
    asleep = spent.blocked_s / used_s if used_s else 0.0
    note = f"asleep {asleep:.0%} of it" if asleep > _WORTH_NOTING else ""
    return Cost(kind, name, used_s / images, runs_in, note)


def _spread_items(dataset: Any, most: int) -> Iterator[Any]:
    if hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
        count = len(dataset)
        step = max(1, count // most)
        return (dataset[index] for index in range(0, count, step))
    return islice(iter(dataset), most)


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


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """Keep torch's ops in the thread whose clock is read."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def timed_ops(dataset: Any, clock: StageClock, ops: dict[str, TimedOp]) -> Iterator[None]:
    """Put a clock around every op of the data set's transforms; `ops` receives them by name."""

    def timed(op: Any) -> TimedOp:
        name, number = name_of(op), 1
        while name in ops:
            number += 1
            name = f"{name_of(op)} ({number})"
        ops[name] = TimedOp(op, name, clock)
        return ops[name]

    with ExitStack() as stack:
        for compose in list_composes(dataset):
            before = compose.transforms
            compose.transforms = [timed(op) for op in before]
            stack.callback(setattr, compose, "transforms", before)
        for owner, name in _single_ops(dataset):
            op = getattr(owner, name)
            setattr(owner, name, timed(op))
            stack.callback(setattr, owner, name, op)
        yield


def innermost(dataset: Any) -> Any:
    """Return the data set inside Subset and the like."""
    while hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    return dataset


def _layers(dataset: Any) -> Iterator[Any]:
    yield dataset
    if hasattr(dataset, "dataset"):
        yield from _layers(dataset.dataset)
    for inner in getattr(dataset, "datasets", ()):
        yield from _layers(inner)


def _is_compose(value: Any) -> bool:
    inner = getattr(value, "transforms", None)
    # torchvision v1 and v2 and Albumentations all keep their ops in such a list.
    return isinstance(inner, (list, tuple)) and bool(inner) and all(callable(op) for op in inner)


def list_composes(dataset: Any) -> list[Any]:
    """Return the lists of transforms that a data set holds, whatever it calls them."""
    found: dict[int, Any] = {}
    for layer in _layers(dataset):
        for value in vars(layer).values():
            if _is_compose(value):
                found[id(value)] = value
    return list(found.values())


def _single_ops(dataset: Any) -> Sequence[tuple[Any, str]]:
    """Return where a data set keeps a transform that is no list."""
    return [
        (layer, name)
        for layer in _layers(dataset)
        for name, value in vars(layer).items()
        if name in {"transform", "augment"} and callable(value) and not _is_compose(value)
    ]
