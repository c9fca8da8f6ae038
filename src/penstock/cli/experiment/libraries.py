"""`penstock experiment libraries`: the second study."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.experiment.study import Study
from penstock.cli.shared import count
from penstock.errors import SourceError

if TYPE_CHECKING:
    from penstock.experiments.experiment import Experiment
    from penstock.experiments.findings import Findings
    from penstock.experiments.journal import Journal


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add what this experiment can be told."""
    verb.add_argument(
        "--photos", type=Path, metavar="FOLDER", help="photos to measure with (default: made here)"
    )
    verb.add_argument(
        "--pillow-simd", metavar="PYTHON", help="an interpreter that has pillow-simd, to measure it"
    )
    verb.add_argument(
        "--voc",
        type=Path,
        metavar="FOLDER",
        help="a folder that holds VOCdevkit, for the detector (default: made here)",
    )
    verb.add_argument(
        "--iterations", type=count, metavar="N", help="of each operation (default: 10; quick: 2)"
    )
    verb.add_argument(
        "--accelerator",
        type=_rate,
        metavar="RATE",
        help="images per second of the emulated accelerator (default: derived from the study)",
    )


def make(args: argparse.Namespace) -> Experiment:
    """Return the experiment as the options describe it."""
    from dataclasses import replace

    from penstock.experiments.libraries.study import make_experiment
    from penstock.experiments.libraries.work import QUICK, Settings

    for option in ("photos", "voc"):
        folder = getattr(args, option)
        if folder is not None and not folder.is_dir():
            raise SourceError(f"--{option} {folder}: there is no such folder. Name another one.")
    settings = QUICK if args.quick else Settings()
    return make_experiment(
        replace(
            settings,
            photos=None if args.photos is None else str(args.photos),
            pillow_simd=args.pillow_simd,
            voc=None if args.voc is None else str(args.voc),
            iterations=args.iterations or settings.iterations,
            accelerator=args.accelerator,
        )
    )


def draw(journal: Journal) -> Findings:
    """Return what was found, from measurements alone."""
    from penstock.experiments.libraries.study import draw

    return draw(journal)


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise argparse.ArgumentTypeError(f"must be images per second, above 0, got {text!r}")
    return rate


LIBRARIES = Study(
    "libraries",
    "what image operations cost in each library, and what their order matters",
    "Times resize, crop, rotate, jitter and flip in Pillow, OpenCV, NumPy, torchvision, "
    "Albumentations and penstock, alone and as a chain in two orders; and an SSD-300 detector in "
    "training. Libraries that are not installed are named.",
    add_options,
    make,
    draw,
)
