"""DataLoaders as strangers write them, before and after: `python -m benchmarks.strangers`.

Each function of tests/strangers gives a DataLoader, here over photos and what is made of them, with
two worker processes that are kept from epoch to epoch. It takes turns with what `accelerate` makes
of it by running its own `__getitem__`; ratios are taken in the same round. Whether both give the
same batches from a seed is looked at over the first photos, with new workers in every epoch.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import PIL
import torch
from torch.utils.data import IterableDataset

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import NOT_KNOWN, aligned
from tests.strangers.compare import accelerated, batches, difference
from tests.strangers.data import make_data
from tests.strangers.decoders import decoders
from tests.strangers.forty import STRANGERS
from tests.strangers.stranger import Args, Stranger

HEADINGS = (
    *("stranger", "pixels by", "way", "DataLoader, samples/s", "accelerated, samples/s"),
    *("times", "same batches"),
)
RESULT = CHECKOUT / "benchmarks" / "results" / "strangers.md"
CORES = 2
IMG_SIZE = 224
BATCH_SIZE = 16
COMPARED = 24  # photos, of which all batches of two loaders are kept
EPOCHS = 2
REFUSED = "refused"
LEAST_S = 1.0  # that a loader is measured for in a round


def samples_in_epoch(loader: Any) -> int | None:
    """Return how many samples an epoch has; None for a stream, which does not say."""
    if isinstance(loader.dataset, IterableDataset):
        return None
    return sum(len(indices) for indices in loader.batch_sampler)


def rate_of(loader: Iterable[Any], samples: int) -> float:
    """Return how many samples come in a second, over whole epochs."""
    started, epochs = time.perf_counter(), 0
    while not epochs or time.perf_counter() - started < LEAST_S:
        for _ in loader:
            pass
        epochs += 1
    return epochs * samples / (time.perf_counter() - started)


def in_turns(loaders: Sequence[Iterable[Any]], samples: int, rounds: int) -> list[list[float]]:
    """Return the rates of each, one for every round after the one that warms up."""
    turns = [[rate_of(loader, samples) for loader in loaders] for _ in range(rounds + 1)]
    return [list(rates) for rates in zip(*turns[1:], strict=True)]


def close(loader: Any) -> None:
    """End the threads of a loader that has some; one that defers has the DataLoader's workers."""
    if hasattr(loader, "close"):
        loader.close()


def compare(stranger: Stranger, data: Path) -> str:
    """Say whether both give the same batches; if not, where the first difference is."""
    if not stranger.reproducible:
        return "differ from run to run"
    args = Args(str(data), IMG_SIZE, batch_size=8, workers=CORES)
    ours = accelerated(stranger.make(args))
    given = batches(ours, 0, EPOCHS)
    close(ours)
    found = difference(batches(stranger.make(args), 0, EPOCHS), given)
    return "yes" if found is None else f"no: {found}"


def measure(
    stranger: Stranger, measured: Path, compared: Path, rounds: int
) -> tuple[tuple[str, ...], float | None]:
    """Return a row of the table, and how many times faster it is in the median."""
    args = Args(str(measured), IMG_SIZE, BATCH_SIZE, CORES, persistent=True)
    theirs = stranger.make(args)
    pixels = " ".join(stranger.pixels)
    samples = samples_in_epoch(theirs)
    try:
        ours = accelerated(stranger.make(args))
    except penstock.TranslationError as refused:
        reason = (refused.reasons or (str(refused),))[0].replace("\n", " ")
        rates = [] if samples is None else in_turns([theirs], samples, rounds)
        cells = [_spread(Spread.of(each), 0) for each in rates] or [NOT_KNOWN]
        row = (stranger.name, pixels, REFUSED, *cells, *[NOT_KNOWN] * 2, reason)
        return row, None
    if samples is None:
        raise ValueError(f"{stranger.name}: a stream was taken; its samples are not counted.")
    before, after = in_turns([theirs, ours], samples, rounds)
    close(ours)
    times = ratio_in_each_round(after, before)
    cells = [_spread(Spread.of(before), 0), _spread(Spread.of(after), 0), _spread(times, 2)]
    row = (stranger.name, pixels, ours.translation.way, *cells, compare(stranger, compared))
    return row, times.median


def summary(strangers: int, times: Sequence[float], rows: Sequence[tuple[str, ...]]) -> str:
    """Say how many were taken, how many gave the same batches, and how much faster they are."""
    same = sum(row[-1] == "yes" for row in rows)
    text = f"{len(times)} of {strangers} were taken, {same} of them with the same batches"
    return f"{text}; {median(times):.2f} times as fast in the median." if times else f"{text}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for a folder of photos."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strangers", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, default=128, help="photos; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="after the one that warms up")
    parser.add_argument("--only", help="some of the strangers, by comma")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    args = parser.parse_args(arguments)
    for name in ("images", "rounds"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be at least 1, got {getattr(args, name)}.")
    names = [stranger.name for stranger in STRANGERS]
    chosen = args.only.split(",") if args.only else names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"no stranger {', '.join(unknown)}; there are {', '.join(names)}.")
    try:
        photos = args.data or default_folder()
        paths = image_paths(photos, args.images)
    except FileNotFoundError as missing:
        print(f"benchmarks: {missing}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # or importing it asks the network for a newer one
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    rows, times, left_out = [], [], []
    with tempfile.TemporaryDirectory() as scratch, decoders():
        measured = make_data(Path(scratch) / "measured", photos=paths)
        compared = make_data(Path(scratch) / "compared", photos=paths[:COMPARED])
        for stranger in (one for one in STRANGERS if one.name in chosen):
            if stranger.missing:
                left_out.append(f"{stranger.name}: not installed: {', '.join(stranger.missing)}")
                continue
            row, faster = measure(stranger, measured, compared, args.rounds)
            rows.append(row)
            times += [] if faster is None else [faster]
            print("  ".join(row), file=sys.stderr, flush=True)
    setting = (
        f"- {cpu_name()}, {CORES} cores; {system_name()}; Python {platform.python_version()}",
        f"- penstock {penstock.__version__}, torch {torch.__version__}, Pillow {PIL.__version__}",
        f"- {args.rounds} alternating rounds, {args.images} images from {photos.name}",
        f"- DataLoaders with {CORES} workers, batches of {BATCH_SIZE}, images of {IMG_SIZE} pixels",
        f"- batches compared: {EPOCHS} epochs of the first {len(paths[:COMPARED])} images",
        "- samples/s: median (least-largest) over the rounds; a sample may have several images",
        *(f"- left out: {reason}" for reason in left_out),
    )
    table = aligned([HEADINGS, *map(_without_reason, rows)])
    refused = [f"- {row[0]}: {row[-1]}" for row in rows if row[2] == REFUSED]
    refusals = ["", "Refused:", "", *refused] if refused else []
    text = "\n".join([*setting, "", *table, "", summary(len(rows), times, rows), *refusals, ""])
    print(text)
    if args.write:
        made_by = "Made by `python -m benchmarks.strangers --write`."
        RESULT.write_text(f"# DataLoaders of strangers\n\n{text}\n{made_by}\n", "utf-8")
    return 0


def _without_reason(row: tuple[str, ...]) -> tuple[str, ...]:
    return (*row[:-1], NOT_KNOWN) if row[2] == REFUSED else row


def _spread(one: Spread, digits: int) -> str:
    return f"{one.median:,.{digits}f} ({one.least:,.{digits}f}-{one.largest:,.{digits}f})"


if __name__ == "__main__":
    sys.exit(main())
