"""What each op of a penstock loader costs: ops run fused, so each one is timed by its absence.

Op after op is added to the plan, and an op costs the CPU time that it adds. Ops that set the size
of the images are there from the beginning, with the decoder and the final pass: the decoder does
only what the crop needs, so none of them has a cost of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from PIL import Image

from penstock.costs.clocks import StageClock, lock_share
from penstock.costs.costs import Cost, Costs
from penstock.costs.ops import CORE, PYTHON, op_name
from penstock.costs.plan_variants import (
    MeasuredLoader,
    OpNode,
    changes_size,
    keep_only,
    op_nodes,
)
from penstock.data.packed import PackedSource
from penstock.errors import PenstockError
from penstock.planner.plan import Plan
from penstock.transforms.python_step import PythonStep
from penstock.watching.loader_facts import count_images

_ROUNDS = 3
_READS = 16
_LEAST_BATCHES = 6  # with fewer, one that was begun before the clock weighs too much
_LEAST_BATCH, _SMALL_BATCH = 2, 8  # images


def measure_loader(
    loader: MeasuredLoader, *, seconds: float = math.inf, batches: int | None = None
) -> Costs:
    """Measure on one thread: for about `seconds`, or so many batches of each plan."""
    nodes = op_nodes(loader.plan)
    base = {node.stream for node in nodes if changes_size(node.op)}
    added = [node for node in nodes if node.stream not in base]
    if loader.plan.views:
        added = _one_of_each(added)
    plans = [keep_only(loader.plan, base)]
    kept = set(base)
    for node in added:
        kept |= {node.stream}
        if loader.plan.views:
            kept |= {other.stream for other in nodes if other.op == node.op}
        plans.append(keep_only(loader.plan, kept))
    try:
        spent = _cpu_per_image(loader, plans, seconds, batches)
    except PenstockError:  # without an op, images of a batch may differ in size
        plans, added = [loader.plan], []
        spent = _cpu_per_image(loader, plans, seconds, batches)
    sized = [op_name(node.op) for node in nodes if node.stream in base or not added]
    if loader.plan.views:
        sized = list(dict.fromkeys(sized))
    parts = [
        Cost("read", "waiting for files", _read_s(loader), "disk"),
        Cost("decode", " + ".join(["decode", *sized, "final pass"]), spent[0], CORE),
    ]
    for node, before, after in zip(added, spent[:-1], spent[1:], strict=True):
        name = op_name(node.op, taken=[part.name for part in parts])
        runs_in = PYTHON if isinstance(node.op, PythonStep) else CORE
        parts.append(Cost("augment", name, max(0.0, after - before), runs_in))
    return Costs(tuple(parts))


def _one_of_each(nodes: list[OpNode]) -> list[OpNode]:
    """The first node of every op: views repeat each other's, which are measured together."""
    found: list[OpNode] = []
    for node in nodes:
        if all(node.op != other.op for other in found):
            found.append(node)
    return found


def _cpu_per_image(
    loader: MeasuredLoader, plans: list[Plan], seconds: float, batches: int | None
) -> list[float]:
    """Return CPU seconds per image of each plan: the least of some rounds on the same images."""
    budget_s = seconds / (_ROUNDS * len(plans))
    if batches is None:
        loader = _with_batches_for(loader, plans[-1], budget_s)
    least = [float("inf")] * len(plans)
    until_s = time.perf_counter() + seconds
    for number_of_round in range(_ROUNDS):
        if number_of_round and time.perf_counter() > until_s:
            break
        for number in reversed(range(len(plans))):  # the most costly plan settles how many batches
            images, cpu_s, batches = _time_plan(loader, plans[number], batches, budget_s)
            least[number] = min(least[number], cpu_s / images)
    return least


def _with_batches_for(loader: MeasuredLoader, plan: Plan, budget_s: float) -> MeasuredLoader:
    """Return the loader, with smaller batches if a few of its own would take too long."""
    small = min(_SMALL_BATCH, loader.batch_size)
    images, cpu_s, _ = _time_plan(loader.replica(batch_size=small), plan, 1, budget_s)
    fitting = int(budget_s / (_LEAST_BATCHES + 1) / max(cpu_s / images, 1e-9)) // 2 * 2
    return loader.replica(batch_size=min(loader.batch_size, max(_LEAST_BATCH, fitting)))


def _time_plan(
    loader: MeasuredLoader, plan: Plan, batches: int | None, budget_s: float
) -> tuple[int, float, int]:
    return time_replica(loader.replica(plan=plan, threads=1), batches, budget_s)


def time_replica(
    replica: MeasuredLoader, batches: int | None, budget_s: float
) -> tuple[int, float, int]:
    """Run a loader for so many batches, or for about `budget_s`; images, CPU seconds, batches."""
    try:
        epochs = _endless(replica)
        next(epochs)  # threads and buffers are there now
        images = done = 0
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        while (
            done < batches
            if batches is not None
            else done < _LEAST_BATCHES or (time.perf_counter() - began_s < budget_s)
        ):
            images += count_images(next(epochs))
            done += 1
        return images, time.process_time() - began_cpu_s, done
    finally:
        replica.close()


def _endless(loader: MeasuredLoader) -> Iterator[object]:
    while True:
        yield from loader


def _read_s(loader: MeasuredLoader) -> float:
    """Return how long a file keeps its reader waiting, as the files are cached now."""
    source = loader.source
    if isinstance(source, PackedSource):  # is mapped, and paged in ahead
        return 0.0
    clock = StageClock()
    indices = np.linspace(0, len(source) - 1, min(_READS, len(source))).astype(int).tolist()
    try:
        for index in indices:
            with clock.stage("read"), source.open(index) as file:
                file.read()
    except (OSError, PenstockError):  # a bad file is the loader's to report
        return 0.0
    finally:
        clock.close()
    return clock.spent["read"].blocked_s / len(indices)


def worst_lock_share(loader: MeasuredLoader) -> float:
    """Return how far the user's functions keep the loader's threads from running, at worst."""
    pixels = np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    share = 0.0
    for node in op_nodes(loader.plan):
        if isinstance(node.op, PythonStep):
            call = partial(node.op.apply, image, np.random.default_rng(0), step=1)
            share = max(share, lock_share(call))
    return share
