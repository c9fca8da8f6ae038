"""What `penstock.watch` costs a step: `python -m benchmarks.watch_overhead`.

A loop over ready batches is run with and without it, in turns. The difference of the quickest
turns is its cost, given beside a step of one millisecond.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

import numpy as np

from penstock import watch

STEP_S = 1e-3
BOUND = 0.01  # of such a step


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print; 1 if the cost is beyond its bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watch_overhead")
    parser.add_argument("--steps", type=int, default=20_000, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="(default: %(default)s)")
    args = parser.parse_args(arguments)
    added_s = measure(args.steps, args.rounds)
    share = added_s / STEP_S
    print(
        f"watch adds {added_s * 1e6:.2f} us to a step: {share:.3%} of {STEP_S * 1e3:g} ms "
        f"(bound: {BOUND:.0%}; quickest of {args.rounds} rounds of {args.steps:,} steps)"
    )
    return 0 if share < BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
