"""Microseconds an operation on a photo of 224 x 224: `python -m benchmarks.ops`.

Ours is what the effect adds to a sample with an effect that does nothing: from one 8-bit image to
the next, as Pillow and OpenCV go. What the first effect of a sample costs beside that, because the
image is written once more, stands in a row of its own. One thread each, taking turns.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
import PIL.Image

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.effects.operations import Operation, operations
from benchmarks.effects.ours import EMPTY, EngineTimer, Pixels
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread
from benchmarks.table import NOT_KNOWN, aligned

RESULTS = CHECKOUT / "benchmarks" / "results"
SIDE_PX = 224
HEADINGS = ("operation", "penstock us", "Pillow us", "OpenCV us", "x Pillow", "x OpenCV")

Image = TypeVar("Image")


@dataclass(slots=True)
class Timed:
    """What an operation took in each round, in microseconds an image."""

    name: str
    ours: list[float] = field(default_factory=list)
    pillow: list[float] = field(default_factory=list)
    opencv: list[float] = field(default_factory=list)

    @property
    def is_slower_than(self) -> list[str]:
        """The libraries that ours is not faster than."""
        ours = Spread.of(self.ours).median
        others = {"Pillow": self.pillow, "OpenCV": self.opencv}
        return [name for name, took in others.items() if took and Spread.of(took).median <= ours]


def load_photos(folder: Path, count: int) -> list[Pixels]:
    """Return photos of the size that a classifier takes."""
    photos = []
    for path in image_paths(folder, count):
        with PIL.Image.open(path) as image:
            photos.append(np.asarray(image.convert("RGB").resize((SIDE_PX, SIDE_PX))))
    return photos


def microseconds(change: Callable[[Image], object], photos: Sequence[Image]) -> float:
    """Return what a call takes for one photo."""
    started = time.perf_counter()
    for photo in photos:
        change(photo)
    return (time.perf_counter() - started) / len(photos) * 1e6


def measure(photos: Sequence[Pixels], chosen: Sequence[Operation], rounds: int) -> list[Timed]:
    """Let the libraries take turns on every operation; the first round warms up."""
    engine = EngineTimer(photos)
    images = [PIL.Image.fromarray(photo) for photo in photos]
    timed = [Timed(operation.name) for operation in chosen]
    first = Timed("the first effect, beside itself")
    for number in range(rounds + 1):
        fused = engine.microseconds([])
        left = engine.microseconds([EMPTY]) - fused
        first.ours += [left] if number else []
        for operation, figures in zip(chosen, timed, strict=True):
            # Just before, since the machine's speed changes from minute to minute.
            nothing = engine.microseconds([EMPTY])
            ours = engine.microseconds(operation.ours) - nothing
            pillow = operation.pillow and microseconds(operation.pillow, images)
            opencv = operation.opencv and microseconds(operation.opencv, photos)
            if number == 0:
                continue
            figures.ours.append(ours)
            if pillow:
                figures.pillow.append(pillow)
            if opencv:
                figures.opencv.append(opencv)
    return [first, *timed]


def table(timed: Sequence[Timed]) -> list[str]:
    """Return the rows, and a sentence for what ours is not faster at."""
    lines = aligned([HEADINGS, *(_row(one) for one in timed)])
    slower = [
        f"{one.name} (than {' and '.join(one.is_slower_than)})"
        for one in timed
        if one.is_slower_than
    ]
    remark = f"Not faster: {', '.join(slower)}." if slower else "Each is faster than both."
    return [*lines, "", remark]


def _row(one: Timed) -> tuple[str, ...]:
    return (
        one.name,
        _cell(one.ours),
        _cell(one.pillow),
        _cell(one.opencv),
        _ratio(one.pillow, one.ours),
        _ratio(one.opencv, one.ours),
    )


def _cell(took: Sequence[float]) -> str:
    if not took:
        return NOT_KNOWN
    spread = Spread.of(took)
    return f"{spread.median:,.1f} ({spread.least:,.1f}-{spread.largest:,.1f})"


def _ratio(theirs: Sequence[float], ours: Sequence[float]) -> str:
    """Return the ratio of medians: differences of two times may come out at nothing in a round."""
    if not theirs:
        return NOT_KNOWN
    mine = Spread.of(ours).median
    return f"{Spread.of(theirs).median / mine:.1f}" if mine > 0 else NOT_KNOWN


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, default=64, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=15, help="default: %(default)s")
    parser.add_argument("--only", help="names of operations that have this in them")
    parser.add_argument("--write", metavar="NAME", help="write the table to results/NAME.md")
    args = parser.parse_args(arguments)
    for name in ("images", "rounds"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be at least 1, got {getattr(args, name)}.")
    chosen = [one for one in operations(SIDE_PX) if (args.only or "") in one.name]
    if not chosen:
        parser.error(f"--only: no operation has {args.only!r} in its name.")

    try:
        folder = args.data or default_folder()
        photos = load_photos(folder, args.images)
    except FileNotFoundError as error:
        print(f"benchmarks.ops: {error}", file=sys.stderr)
        return 2
    cv2.setNumThreads(0)
    turns = f"{args.rounds} alternating rounds, {args.images} images from {folder.name}"
    lines = [
        f"Microseconds an operation takes on a photo of {SIDE_PX} x {SIDE_PX}, one thread.",
        "",
        f"- {cpu_name()}; {system_name()}; Python {platform.python_version()}",
        f"- OpenCV {cv2.__version__}, Pillow {PIL.__version__}, penstock {penstock.__version__}",
        f"- {turns}: median (least-largest)",
        "- from one 8-bit image to the next; the first row is what leaving the fused pass costs",
        "- penstock's are differences of two times, of which some microseconds are noise",
        "",
        *table(measure(photos, chosen, args.rounds)),
    ]
    print("\n".join(lines))
    if args.write:
        command = f"python -m benchmarks.ops {' '.join(arguments or sys.argv[1:])}"
        text = "\n".join([f"# {args.write}", "", *lines, "", f"Made by `{command}`.", ""])
        (RESULTS / f"{args.write}.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
