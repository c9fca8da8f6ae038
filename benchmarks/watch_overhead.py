"""What `penstock.watch` costs a step: `python -m benchmarks.watch_overhead`.

A loop over ready batches is run with and without it, in turns. The difference of the quickest
turns is its cost, given beside a step of one millisecond.

With --sampling, what looking inside a loader costs: a torch DataLoader of JPEGs, without workers
and with one per core, is gone through with and without it, in turns. The cost is the median of
the ratios of neighbouring turns, of their CPU time in all processes: other work on the machine
changes that little.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from penstock import watch
from penstock.demo.sample_set import cached_folder, make_sample_set
from penstock.demo.torchvision_import import import_torchvision
from penstock.usable_cores import usable_cores

STEP_S = 1e-3
BOUND = 0.01  # of such a step
SAMPLING_BOUND = 0.02  # of a loader's time
IMAGES = 128


class ReadyBatches:
    """Gives out the same batch again and again."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._batch = (np.zeros((64, 3, 8, 8), np.float32), np.zeros(64, np.int64))

    def __iter__(self) -> Iterator[tuple[object, object]]:
        for _ in range(self._steps):
            yield self._batch


def seconds_a_step(batches: Iterable[object], steps: int) -> float:
    """Go through the batches and do nothing with them."""
    started_s = perf_counter()
    for _ in batches:
        pass
    return (perf_counter() - started_s) / steps


def measure(steps: int, rounds: int) -> float:
    """Return the seconds that watching adds to a step."""
    ready = ReadyBatches(steps)
    plain_s, watched_s = [], []
    for _ in range(rounds):
        plain_s.append(seconds_a_step(ready, steps))
        watched_s.append(seconds_a_step(watch(ready), steps))
    return min(watched_s) - min(plain_s)


def cpu_s(loader: Any) -> float:
    """Return the CPU time so far of this process and of a DataLoader's workers."""
    workers = loader._iterator._workers if loader.num_workers else ()  # noqa: SLF001
    nanoseconds = 0
    for worker in workers:
        for thread in Path(f"/proc/{worker.pid}/task").iterdir():
            nanoseconds += int((thread / "schedstat").read_text("utf-8").split()[0])
    return process_time() + nanoseconds / 1e9


def measure_sampling(workers: int, rounds: int) -> tuple[float, float]:
    """Return the share that sampling adds to an epoch's CPU time, and its standard error."""
    torch, torchvision = import_torchvision()
    v2 = torchvision.transforms.v2
    data = torchvision.datasets.ImageFolder(
        make_sample_set(cached_folder(IMAGES), images=IMAGES, progress=False),
        v2.Compose([v2.RandomResizedCrop(96), v2.PILToTensor()]),
    )
    more = torch.utils.data.ConcatDataset([data] * (2 * max(1, workers)))
    loaders = [
        torch.utils.data.DataLoader(more, 16, num_workers=workers, persistent_workers=workers > 0)
        for _ in range(2)
    ]
    turns: list[Iterable[object]] = [loaders[0], watch(loaders[1])]
    for batches in turns:
        seconds_a_step(batches, 1)  # workers are started here
    ratios = []
    for number in range(rounds):
        seconds = [0.0, 0.0]
        for turn in (0, 1) if number % 2 else (1, 0):
            before_s = cpu_s(loaders[turn])
            seconds_a_step(turns[turn], 1)
            seconds[turn] = cpu_s(loaders[turn]) - before_s
        ratios.append(seconds[1] / seconds[0])
    error = 1.25 * float(np.std(ratios)) / rounds**0.5
    return float(np.median(ratios)) - 1, error


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print; 1 if the cost is beyond its bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watch_overhead")
    parser.add_argument("--steps", type=int, default=20_000, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="(default: %(default)s)")
    parser.add_argument("--sampling", action="store_true", help="measure looking inside instead")
    args = parser.parse_args(arguments)
    if args.sampling:
        return print_sampling(args.rounds)
    added_s = measure(args.steps, args.rounds)
    share = added_s / STEP_S
    print(
        f"watch adds {added_s * 1e6:.2f} us to a step: {share:.3%} of {STEP_S * 1e3:g} ms "
        f"(bound: {BOUND:.0%}; quickest of {args.rounds} rounds of {args.steps:,} steps)"
    )
    return 0 if share < BOUND else 1


def print_sampling(rounds: int) -> int:
    """Measure, print; 1 if the cost is beyond its bound."""
    shares = []
    for workers in (0, usable_cores()):
        share, error = measure_sampling(workers, rounds)
        shares.append(share)
        print(
            f"looking inside a DataLoader with num_workers={workers} adds {share:.2%} CPU time "
            f"(+-{error:.2%}; bound: {SAMPLING_BOUND:.0%}; {rounds} pairs of turns)"
        )
    return 0 if max(shares) < SAMPLING_BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
