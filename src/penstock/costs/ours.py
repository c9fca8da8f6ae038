"""What the ops of one of our own pipelines cost: they run fused, so each is timed by its absence.

A pipeline is run with its first op, its first two, and so on; an op costs what it adds. Differences
need steady figures, so it is the processor's time that is counted, whatever else the machine does.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Any

from penstock.costs.ops import with_shares
from penstock.costs.result import Profile
from penstock.costs.steps import PYTHON, op_name
from penstock.loading.loader import Loader
from penstock.results.records import OpCost
from penstock.transforms import Compose
from penstock.transforms.containers import flatten
from penstock.transforms.op import Transform
from penstock.transforms.python_step import PythonStep

PASSES = 5
CORE = "core"


def is_ours(value: Any) -> bool:
    """Whether `value` is a transform of penstock."""
    return isinstance(value, Transform)


def profile_ours(transform: Transform, files: Sequence[str]) -> Profile:
    """Time a pipeline of ours on some files, one thread, one image at a time."""
    ops = list(flatten(transform))
    totals = [_quickest_s(ops[: count + 1], files) / len(files) * 1e6 for count in range(len(ops))]
    costs = [OpCost(f"read, decode, {_name(ops[0])}", totals[0], 0.0, CORE)]
    for op, before, after in zip(ops[1:], totals, totals[1:], strict=False):
        engine = PYTHON if isinstance(op, PythonStep) else CORE
        costs.append(OpCost(_name(op), max(after - before, 0.0), 0.0, engine))
    return Profile(
        what=type(transform).__name__,
        samples=len(files),
        microseconds=totals[-1],
        ops=with_shares(costs),
    )


def _quickest_s(ops: Sequence[Any], files: Sequence[str]) -> float:
    loader = Loader(
        list(files), batch_size=1, transform=Compose(list(ops)), threads=1, output="numpy"
    )
    seconds = []
    for _ in range(PASSES + 1):  # the first also starts the threads
        loader.set_epoch(0)  # the same draws every time
        started_s = process_time()
        for _ in loader:
            pass
        seconds.append(process_time() - started_s)
    loader.close()
    return min(seconds[1:])


def _name(op: Any) -> str:
    return op.name if isinstance(op, PythonStep) else op_name(op)
