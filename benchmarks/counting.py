"""What `count_while_writing` brings: `python -m benchmarks.counting`.

Autocontrast behind a pass that writes the image, with its extremes found in that pass and found in
one of their own. The core alone is timed, on images of pixels, so that nothing else hides the
difference. Both take turns on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

import penstock
from benchmarks.dataset import CHECKOUT
from benchmarks.table import aligned
from benchmarks.turns import (
    Pass,
    environment_of,
    in_milliseconds,
    stay_on_one_core,
    take_turns,
    times_faster,
)
from penstock._core import BatchBuffer, BatchRing, Effect, Element, Engine, Format
from penstock.costs.trial_pictures import Pictures, make_photo, open_pixels
from penstock.errors import CoreError
from penstock.geometry import Size, Sizes
from penstock.planner.lower import lower
from penstock.planner.rules.counting import LEAST_BYTES
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.effects import same_effect
from penstock.transforms.moves import FlipMove, Move, ResizeMove

RESULT = CHECKOUT / "benchmarks" / "results" / "counting.md"
HEADINGS = ("written by", "height x width", "MB", "apart ms", "while writing ms", "times")
SIZES = (Size(224, 224), Size(700, 1000), Size(2000, 2800), Size(3000, 5000), Size(4500, 6500))


def flip(sizes: Sizes) -> Move:
    """Mirror: the step copies rows."""
    everywhere = np.ones(len(sizes), dtype=np.bool_)
    return FlipMove(everywhere, ~everywhere)


def resize(sizes: Sizes) -> Move:
    """Make images a pixel wider."""
    return ResizeMove(sizes.height, sizes.width + 1, InterpolationMode.BILINEAR.pillow_filter)


def table(sizes: Sizes) -> Move:
    """Change every level."""
    return same_effect(Effect.BRIGHTNESS, sizes, factor=1.2)


PASSES: dict[str, Callable[[Sizes], Move]] = {"mirror": flip, "resize": resize, "table": table}


def contestant(
    pictures: Pictures, first: Callable[[Sizes], Move], buffer: BatchBuffer, *, early: bool
) -> Pass:
    """Return what runs the pass and autocontrast once."""
    sizes = pictures.sources.sizes
    move = first(sizes)
    stretch = same_effect(Effect.AUTOCONTRAST, move.out_sizes(sizes))
    steps = lower((move, replace(stretch, counts_early=early)), sizes)
    programs = steps.programs()
    room = 3 * steps.out_sizes.height * steps.out_sizes.width
    offsets = np.cumsum(room) - room
    form = Format(Element.UINT8, "chw", 1.0, [0.0] * 3, [1.0] * 3)

    def run() -> int:
        pictures.part.run(pictures.positions, programs, buffer, offsets, form)
        if not pictures.part.wait(60.0) or pictures.part.status.any():
            raise CoreError("benchmarks.counting: an image could not be made.")
        return len(offsets)

    return run


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counting", description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    args = parser.parse_args(arguments)
    stay_on_one_core()
    engine = Engine(1, 1)
    most = max(size.height * (size.width + 1) for size in SIZES) * 3
    buffer = BatchRing(1).take(most)
    buffer.array([most], "uint8").fill(0)  # so that nobody pays for fresh pages
    rows: list[tuple[str, ...]] = [HEADINGS]
    for size in SIZES:
        pictures = open_pixels(engine, [make_photo(size, 0)], 1)
        for name, first in PASSES.items():
            pair = {
                early: contestant(pictures, first, buffer, early=early) for early in (False, True)
            }
            took = take_turns({str(key): run for key, run in pair.items()}, args.rounds, 0.05)["ms"]
            apart, early = took["False"], took["True"]
            megabytes = f"{3 * size.height * size.width / 1e6:.1f}"
            shape = f"{size.height}x{size.width}"
            figures = in_milliseconds(apart), in_milliseconds(early), times_faster(apart, early)
            rows.append((name, shape, megabytes, *figures))
    environment = environment_of(penstock)
    setting = (
        *(f"- {name} {value}" for name, value in environment.items()),
        f"- {args.rounds} alternating rounds on one core: CPU time of an image, median and range",
        f"- the rule applies to images of at least {LEAST_BYTES / 1e6:.1f} MB",
    )
    text = "\n".join([*setting, "", *aligned(rows), ""])
    print(text)
    if args.write:
        made_by = "Made by `python -m benchmarks.counting --write`."
        RESULT.write_text(f"# Extremes found while writing\n\n{text}\n{made_by}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
