"""Microseconds a call, ours beside torchvision's: `python -m benchmarks.calls`.

Every function of torchvision.transforms.v2.functional that works on images, and the transforms that
draw, called on a Pillow image, a tensor of bytes and a tensor of floats; and on an image of one
pixel, which shows what a call costs beside its work (`small_calls`). Both take turns on one core,
and what they give is compared bit for bit.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import PIL.Image

import penstock
from benchmarks import small_calls
from benchmarks.call_cases import (
    FUNCTIONS,
    MISSING,
    ON_BYTES,
    ON_FLOATS,
    TRANSFORMS,
    make_images,
    torch_module,
)
from benchmarks.dataset import CHECKOUT
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock import transforms as T

RESULT = CHECKOUT / "benchmarks" / "results" / "calls.md"
HEADINGS = ("called", "on", "ours us", "torchvision us", "x tv", "bits")
SIZE_PX = (375, 500)  # of a photo of ImageNet
TRIAL_S = 0.02  # how long the calls of one round take, about


@dataclass(frozen=True, slots=True)
class Contest:
    """One call on one kind of image, by both."""

    name: str
    on: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]

    def agree(self) -> str:
        """Say whether both give the same bits from the same seed."""
        results = []
        for call in (self.ours, self.theirs):
            torch_module().manual_seed(1)
            results.append(_bits(call()))
        return "equal" if results[0] == results[1] else "differ"

    def measure(self, rounds: int) -> tuple[str, ...]:
        """Return the row of the table."""
        agrees = self.agree()
        took: list[list[float]] = [[], []]
        repeats = [_repeats(self.ours), _repeats(self.theirs)]
        for _ in range(rounds + 1):  # the first one warms up
            for contestant, call in enumerate((self.ours, self.theirs)):
                torch_module().manual_seed(1)
                started = time.perf_counter()
                for _ in range(repeats[contestant]):
                    call()
                each = (time.perf_counter() - started) / repeats[contestant]
                took[contestant].append(1e6 * each)
        ours, theirs = took[0][1:], took[1][1:]
        return (
            self.name,
            self.on,
            _spread(Spread.of(ours), 1),
            _spread(Spread.of(theirs), 1),
            _spread(ratio_in_each_round(theirs, ours), 2),
            agrees,
        )


def contests(only: Sequence[str] = ()) -> list[Contest]:
    """Return all calls, or those of these names."""
    from torchvision.transforms import v2

    from penstock.transforms import functional as ours

    found: list[Contest] = []

    def add(name: str, on: str, mine: Callable[[], Any], theirs: Callable[[], Any]) -> None:
        if (name, on) not in MISSING and (not only or name in only):
            found.append(Contest(name, on, mine, theirs))

    for on, image in make_images(SIZE_PX).items():
        extra = ON_BYTES if on == "uint8" else ON_FLOATS if on == "float32" else {}
        for name, call in {**FUNCTIONS, **extra}.items():
            add(name, on, partial(call, ours, image), partial(call, v2.functional, image))
        for name, make in TRANSFORMS.items():
            add(name, on, partial(make(T), image), partial(make(v2), image))
    return found


def _bits(result: Any) -> bytes:
    if isinstance(result, tuple):
        return b"".join(map(_bits, result))
    if isinstance(result, PIL.Image.Image):
        return result.tobytes()
    return bytes(result.contiguous().numpy().tobytes())


def _repeats(call: Callable[[], Any]) -> int:
    call()
    started = time.perf_counter()
    for _ in range(3):
        call()
    return max(3, round(TRIAL_S / max((time.perf_counter() - started) / 3, 1e-6)))


def _spread(one: Spread, digits: int) -> str:
    return f"{one.median:.{digits}f} ({one.least:.{digits}f}-{one.largest:.{digits}f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calls", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds after the one that warms up")
    parser.add_argument("--only", action="append", default=[], help="a call of this name; repeat")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    args = parser.parse_args(arguments)
    try:
        import torchvision
    except ImportError as missing:
        print(f"benchmarks: torchvision is needed to compare with ({missing}).", file=sys.stderr)
        return 2
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch_module().set_num_threads(1)
    rows = [HEADINGS, *(contest.measure(args.rounds) for contest in contests(args.only))]
    small = [small_calls.HEADINGS, *small_calls.small_rows(args.rounds, args.only)]
    draw = small_calls.draw_us(args.rounds)
    versions = (
        f"penstock {penstock.__version__}, torchvision {torchvision.__version__}, "
        f"torch {torch_module().__version__}, Pillow {PIL.__version__}"
    )
    setting = (
        f"- {cpu_name()}, one core; {system_name()}; Python {platform.python_version()}",
        f"- {versions}",
        f"- {args.rounds} alternating rounds; images of {SIZE_PX[0]}x{SIZE_PX[1]} pixels",
        "- us: microseconds a call, median (least-largest); x tv: torchvision's over ours",
        "- bits: whether both give the same from the same seed",
    )
    beside = (
        "## On one pixel",
        "",
        "What a call costs beside its work: microseconds a call, in the round that was disturbed",
        "least; tv: torchvision's. Resizes and `pad reflect` are on four pixels.",
        f"One draw of torch's, `torch.rand(1).item()`, takes {draw:.1f} us of those that draw.",
        "",
    )
    text = "\n".join([*setting, "", *aligned(rows), "", *beside, *aligned(small), ""])
    print(text)
    if args.write:
        made_by = "Made by `python -m benchmarks.calls --write`."
        RESULT.write_text(f"# Microseconds a call\n\n{text}\n{made_by}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
