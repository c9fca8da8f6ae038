"""What each op of a penstock loader costs: op after op is added, and the CPU time compared.

Ops that set the size of the images are there from the beginning, with the decoder and the final
pass: the decoder does only what the crop needs, so neither has a cost of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from PIL import Image

from penstock.costs.costs import Cost, Costs
from penstock.costs.interpreter import lock_share
from penstock.costs.plan_variants import changes_size, keep_only, op_name, op_nodes
from penstock.costs.thread_clock import StageClock
from penstock.data.packed import PackedSource
from penstock.errors import PenstockError
from penstock.loading.loader import Loader
from penstock.planner.plan import Plan
from penstock.transforms.python_step import PythonStep
from penstock.watching.batch_images import count_images

_ROUNDS = 3
_READS = 16
_LEAST_BATCHES = 6  # with fewer, one that was begun before the clock weighs too much
_LEAST_BATCH, _SMALL_BATCH = 2, 8  # images


def measure_costs(loader: Loader, seconds: float) -> Costs:
    """Measure on one thread, in about `seconds`."""
    nodes = op_nodes(loader.plan)
    base = {node.stream for node in nodes if changes_size(node.op)}
    added = [node for node in nodes if node.stream not in base]
    plans = [keep_only(loader.plan, base)]
    kept = set(base)
    for node in added:
        kept.add(node.stream)
        plans.append(keep_only(loader.plan, kept))
    try:
        spent = _cpu_per_image(loader, plans, seconds)
    except PenstockError:  # without an op, images of a batch may differ in size
        plans, added = [loader.plan], []
        spent = _cpu_per_image(loader, plans, seconds)
    sized = [op_name(node.op) for node in nodes if node.stream in base or not added]
    parts = [
        Cost("read", "waiting for files", _read_s(loader), "disk"),
        Cost("decode", " + ".join(["decode", *sized, "final pass"]), spent[0], "core"),
    ]
    for node, before, after in zip(added, spent[:-1], spent[1:], strict=True):
        runs_in = "Python" if isinstance(node.op, PythonStep) else "core"
        parts.append(Cost("augment", op_name(node.op), max(0.0, after - before), runs_in))
    return Costs(tuple(parts), _lock_share(loader))


def _cpu_per_image(loader: Loader, plans: list[Plan], seconds: float) -> list[float]:
    """Return CPU seconds an image of each plan: the least of some rounds on the same images."""
    budget_s = seconds / (_ROUNDS * len(plans))
    loader = _with_batches_for(loader, plans[-1], budget_s)
    batches: int | None = None
    least = [float("inf")] * len(plans)
    until_s = time.perf_counter() + seconds
    for number_of_round in range(_ROUNDS):
        if number_of_round and time.perf_counter() > until_s:
            break
        for number in reversed(range(len(plans))):  # the most costly plan settles how many batches
            images, cpu_s, batches = _time_plan(loader, plans[number], batches, budget_s)
            least[number] = min(least[number], cpu_s / images)
    return least


def _with_batches_for(loader: Loader, plan: Plan, budget_s: float) -> Loader:
    """Return the loader, with smaller batches if a few of its own would take too long."""
    small = min(_SMALL_BATCH, loader.batch_size)
    images, cpu_s, _ = _time_plan(loader.replica(batch_size=small), plan, 1, budget_s)
    fitting = int(budget_s / (_LEAST_BATCHES + 1) / max(cpu_s / images, 1e-9)) // 2 * 2
    return loader.replica(batch_size=min(loader.batch_size, max(_LEAST_BATCH, fitting)))


def _time_plan(
    loader: Loader, plan: Plan, batches: int | None, budget_s: float
) -> tuple[int, float, int]:
    replica = loader.replica(plan=plan, threads=1)
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


def _endless(loader: Loader) -> Iterator[object]:
    while True:
        yield from loader


def _read_s(loader: Loader) -> float:
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


def _lock_share(loader: Loader) -> float:
    """Return how far the user's functions take turns, at worst."""
    pixels = np.random.default_rng(0).integers(0, 256, (224, 224, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    share = 0.0
    for node in op_nodes(loader.plan):
        if isinstance(node.op, PythonStep):
            call = partial(node.op.apply, image, np.random.default_rng(0), step=1)
            share = max(share, lock_share(call))
    return share
