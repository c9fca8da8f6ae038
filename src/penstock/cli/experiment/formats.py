"""The options of `penstock experiment formats`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.experiment.study import Study
from penstock.cli.shared import count, seconds

if TYPE_CHECKING:
    from penstock.experiments.experiment import Experiment
    from penstock.experiments.findings import Findings
    from penstock.experiments.journal import Journal

_NAME = "formats"


def _add_options(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="JPEGs to write in every format (default: photos that penstock makes)",
    )
    options.add_argument("--images", type=count, metavar="N", help="photos to take (default: 256)")
    options.add_argument(
        "--samples",
        type=count,
        metavar="N",
        help="samples to write; photos are repeated if there are fewer (default: 1024)",
    )
    options.add_argument("--batch-size", type=count, metavar="N", help="default: 64")
    options.add_argument(
        "--cores", type=count, metavar="N", help="for every contestant (default: all usable)"
    )
    options.add_argument("--rounds", type=count, metavar="N", help="default: 2")
    options.add_argument(
        "--seconds", type=seconds, metavar="S", help="of each run, at least (default: 1)"
    )
    options.add_argument(
        "--devices",
        metavar="A,B",
        help="accelerators to train with (default: emulated:400,emulated:2500,cpu)",
    )
    options.add_argument("--model", metavar="NAME", help="that cpu, cuda or mps trains")


def _make(args: argparse.Namespace) -> Experiment:
    from penstock.experiments.formats.study import QUICK, Settings, make_experiment
    from penstock.usable_cores import usable_cores

    names = ("data", "images", "samples", "batch_size", "rounds", "seconds", "model", "cores")
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if args.devices is not None:
        given["devices"] = tuple(args.devices.split(","))
    chosen = {"cores": usable_cores()} | (QUICK if args.quick else {}) | given
    return make_experiment(Settings(**chosen), args.out or Path(f"penstock-{_NAME}"))


def _draw(journal: Journal) -> Findings:
    from penstock.experiments.formats.findings import draw

    return draw(journal)


FORMATS = Study(
    _NAME,
    "record formats and augmentation libraries: what each saves of training time (third study)",
    "Writes the same images as folder, TFRecord, RecordIO, HDF5, LMDB, WebDataset, Parquet and "
    ".pen, reads each as its users do, with one decoder, with DALI and with penstock, from memory, "
    "from the disk and behind simulated storage, and trains on it with the study's augmentations. "
    "The written data sets stay in FOLDER/written and can be removed.",
    _add_options,
    _make,
    _draw,
)
