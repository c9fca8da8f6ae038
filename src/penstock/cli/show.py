"""`penstock show`: what does a pipeline do to the data?"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from penstock.cli.shared import (
    Verb,
    add_labels,
    add_layout,
    add_limits,
    count,
    open_given,
    tell,
    whole,
    wholes,
)
from penstock.cli.show_batch import add_batch_options, is_asked_for, show_batch
from penstock.cli.user_object import add_pipeline, load_pipeline
from penstock.errors import SourceError

_IMAGES, _REPEATS, _OUT = 6, 5, "sheet.png"
_EXAMPLE_SCHEDULE = ""  # what --schedule without a file means


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `show`."""
    verb.add_argument(
        "data",
        nargs="?",
        help="a .pen file, or a data set in any layout that pack reads; with --epoch and --step "
        "also FILE.py:LOADER",
    )
    add_labels(verb)
    add_layout(verb)
    pipeline = add_pipeline(verb)
    pipeline.add_argument(
        "--schedule",
        nargs="?",
        const=_EXAMPLE_SCHEDULE,
        metavar="FILE",
        help="describe a schedule in words instead (default: the one that comes with penstock)",
    )
    for name, kind, meaning in (
        ("--images", count, f"images to show (default: {_IMAGES}, or all of a batch)"),
        ("--repeats", count, f"results per image (default: {_REPEATS})"),
        ("--seed", whole, "the seed of the draws (default: 0)"),
    ):
        verb.add_argument(name, type=kind, metavar="N", help=meaning)
    verb.add_argument(
        "--out",
        metavar="PNG",
        help=f"picture to write (default: {_OUT}, or batch.png for one batch)",
    )
    verb.add_argument(
        "--epochs",
        type=wholes,
        metavar="N,N",
        help="epochs to show with --schedule (default: those in which it changes)",
    )
    add_batch_options(verb)
    add_limits(verb)


def run(args: argparse.Namespace) -> int:
    """Draw the sheet, or print the schedule."""
    if args.schedule is not None:
        return _tell_schedule(args)
    if args.data is None:
        raise SourceError("show: no data set given. Name a .pen file or another data set.")
    if is_asked_for(args):
        return show_batch(args)
    from penstock.showing.sheet import make_sheet

    repeats = args.repeats or _REPEATS
    sheet = make_sheet(
        open_given(args, args.data),
        load_pipeline(args),
        args.out or _OUT,
        images=args.images or _IMAGES,
        repeats=repeats,
        seed=args.seed or 0,
    )
    results = f"{repeats} result{'' if repeats == 1 else 's'}"
    images = f"{len(sheet.rows)} image{'' if len(sheet.rows) == 1 else 's'}"
    written = f"wrote {sheet.file}: {images}, each with {results} ({sheet.pixels})"
    tell(args, sheet.to_dict(), [written])
    return 0


def _tell_schedule(args: argparse.Namespace) -> int:
    from penstock.transforms import PopulationBasedAugment

    if args.data is not None:
        raise SourceError(
            f"show: --schedule describes a schedule and takes no data, got {args.data}. "
            "Leave out one of the two."
        )
    augment = PopulationBasedAugment(args.schedule or None)
    epochs = augment.stage_starts if args.epochs is None else args.epochs
    stages = [{"epoch": epoch, **asdict(augment.stage_at(epoch))} for epoch in epochs]
    lines = "\n\n".join(augment.describe(epoch) for epoch in epochs).splitlines()
    tell(args, {"schedule": args.schedule or None, "epochs": stages}, lines)
    return 0


VERBS = (
    Verb(
        "show",
        "draw what a pipeline does to some images",
        "Writes a picture with one row per image: the original, then what the pipeline "
        "makes of it with different draws, as uint8 before ToDtype and Normalize, with boxes. "
        "With --epoch and --step, shows that batch of a training, and what was drawn for it. "
        "With --schedule, describes a schedule of PopulationBasedAugment in words instead.",
        add_options,
        run,
    ),
)
