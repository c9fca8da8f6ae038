"""`penstock experiment learning`: does a model learn the same from penstock's batches?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from penstock.cli.experiment.study import Study

if TYPE_CHECKING:
    from penstock.experiments.experiment import Experiment
    from penstock.experiments.findings import Findings
    from penstock.experiments.journal import Journal


def add_options(options: argparse.ArgumentParser) -> None:
    """Add what may be asked for; None is what --quick or the full run says."""
    options.add_argument(
        "--seeds", type=int, metavar="N", help="trainings of every kind (default: 5; quick: 2)"
    )
    options.add_argument(
        "--epochs", type=int, metavar="N", help="of each of these (default: 40; quick: 15)"
    )


def make(args: argparse.Namespace) -> Experiment:
    """Return the experiment that was asked for."""
    from dataclasses import replace

    from penstock.errors import AnalysisError
    from penstock.experiments.learning.study import QUICK, Settings, make_experiment

    settings = QUICK if args.quick else Settings()
    for name in ("seeds", "epochs"):
        given = getattr(args, name)
        if given is not None:
            if given < 1:
                raise AnalysisError(f"--{name}: must be 1 or more, got {given}.")
            settings = replace(settings, **{name: given})
    return make_experiment(settings)


def draw(journal: Journal) -> Findings:
    """Draw tables and figures from results."""
    from penstock.experiments.learning.findings import draw

    return draw(journal)


LEARNING = Study(
    "learning",
    "train with torchvision's batches and with penstock's: same losses, same accuracy?",
    "Trains a small model on drawn shapes: with torchvision and penstock on the same draws, whose "
    "losses must be equal to the bit, and with several seeds, whose accuracies are compared. Takes "
    "about ten minutes of one core; --quick takes two.",
    add_options,
    make,
    draw,
)
