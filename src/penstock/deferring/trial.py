"""Some samples of a Dataset, asked for as usual and deferred: are they the same, what do they cost?

Asking may change a Dataset: files and data bases stay open, counters count. So it is done in a
child process, of which nothing but the answer comes back.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from penstock.deferring.dataset import DeferredDataset, deferral_of
from penstock.deferring.random_state import RandomState, generators_in
from penstock.deferring.same import first_difference
from penstock.deferring.samples import plain_samples

_MOST_SAMPLES = 8
_OUT_OF_STEP = 11  # samples between two equal runs: a prime, or a counter may stand where it stood
_MOST_S = 120.0
_LIST = "the list of samples"


@dataclass(frozen=True, slots=True)
class Trial:
    """What was found; times are microseconds a sample."""

    samples: int
    usual_us: float
    python_us: float  # of the user's own code, with images that are not decoded
    whole_us: float  # of that, and of what the core does then
    deferred: int  # images that were not decoded until the batch was whole
    ordinary: Counter[str]
    early: Counter[str]
    steps: Counter[str]
    refusal: str = ""


def try_dataset(dataset: Any) -> Trial:
    """Ask for a few samples, spread over the Dataset; what it raises is the reason of a refusal."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return _try_here(dataset)
    context = multiprocessing.get_context("fork")
    ours, childs = context.Pipe(duplex=False)
    child = context.Process(target=_tell, args=(dataset, childs), daemon=True)
    child.start()
    childs.close()
    try:
        if not ours.poll(_MOST_S):
            return _refused(f"it has not given {_MOST_SAMPLES} samples within {_MOST_S:.0f} s")
        told: Trial = ours.recv()
    except EOFError:
        child.join()
        return _refused(f"asked for a few samples, its process ended (code {child.exitcode})")
    finally:
        child.kill()
        child.join()
        ours.close()
    return told


def _tell(dataset: Any, pipe: Any) -> None:
    # OpenMP's threads stay behind in a fork, and whoever asks for several waits for them forever.
    # torch's own workers set one thread for the same reason.
    torch.set_num_threads(1)
    gc.freeze()  # or iterators that the parent has done with would close workers of the parent
    pipe.send(_try_here(dataset))


def _try_here(dataset: Any) -> Trial:
    count = min(_MOST_SAMPLES, len(dataset))
    indices = np.linspace(0, len(dataset) - 1, count).round().astype(int).tolist()
    deferred = DeferredDataset(dataset, threads=1)
    before = RandomState.now(generators_in(dataset))
    try:
        return _try(dataset, deferred, indices, before)
    except Exception as error:  # noqa: BLE001 (whatever the user's code raises)
        return _refused(f"asked for a few samples, it raises {type(error).__name__}: {error}")
    finally:
        before.restore()


def _try(dataset: Any, deferred: DeferredDataset, indices: list[int], before: RandomState) -> Trial:
    usual, _ = _asked(dataset, indices, before)
    for index in indices[: _OUT_OF_STEP - len(indices)]:
        dataset[index]
    again, usual_us = _asked(dataset, indices, before)
    difference = first_difference(usual, again, _LIST)
    if difference:
        return _depends(indices, difference)
    _asked_deferred(deferred, indices, before)  # warms up
    samples, whole_us = _asked_deferred(deferred, indices, before)
    python_us = deferral_of(deferred).python_s / len(indices) * 1e6
    difference = first_difference(usual, samples, _LIST)
    if difference:
        again, _ = _asked(dataset, indices, before)
        by_itself = first_difference(usual, again, _LIST)
        if by_itself:
            return _depends(indices, by_itself)
        return _refused(f"with images that are not decoded yet, {difference}")
    counts = deferral_of(deferred).counts
    ordinary, early, steps = map(_half, (counts.ordinary, counts.early, counts.steps))
    images = counts.deferred // 2
    return Trial(len(indices), usual_us, python_us, whole_us, images, ordinary, early, steps)


def _depends(indices: list[int], difference: str) -> Trial:
    return _refused(
        f"when its samples {indices} are asked for twice, from the same state of all generators, "
        f"{difference}. So it depends on something else: a counter, a clock, a generator that is "
        "not among its attributes. Then nobody can say what the same batches would be"
    )


def _half(counter: Counter[str]) -> Counter[str]:
    """What was counted in one of two equal runs."""
    return Counter({name: -(-times // 2) for name, times in counter.items()})


def _asked(dataset: Any, indices: list[int], before: RandomState) -> tuple[list[Any], float]:
    before.restore()
    started = time.perf_counter()
    samples = [dataset[index] for index in indices]
    return samples, (time.perf_counter() - started) / len(indices) * 1e6


def _asked_deferred(
    deferred: DeferredDataset, indices: list[int], before: RandomState
) -> tuple[list[Any], float]:
    before.restore()
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damaged files: it is told when they come
        samples = deferred.__getitems__(indices)
    return plain_samples(samples), (time.perf_counter() - started) / len(indices) * 1e6


def _refused(why: str) -> Trial:
    return Trial(0, 0.0, 0.0, 0.0, 0, Counter(), Counter(), Counter(), why)
