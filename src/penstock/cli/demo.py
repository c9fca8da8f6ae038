"""`penstock demo`: penstock beside torchvision on this machine, on photos made for it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.arguments import count

if TYPE_CHECKING:
    from penstock.cli.demo_report import Report

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 (has no public name)

CLASSES = 8
IMAGES_COMPARED = 16


def add_verb(verbs: Verbs, shared: argparse.ArgumentParser) -> None:
    """Add `demo` to the verbs of the command line."""
    verb = verbs.add_parser(
        "demo",
        parents=[shared],
        help="measure penstock beside torchvision on sample photos",
        description="Makes sample photos, loads them with penstock and with torchvision's "
        "DataLoader in turn, and checks that both give the same images, bit for bit.",
    )
    verb.add_argument(
        "--images",
        type=count,
        default=256,
        metavar="N",
        help="number of sample photos (default: %(default)s)",
    )
    verb.add_argument(
        "--passes",
        type=count,
        default=5,
        metavar="N",
        help="timed passes of each loader (default: %(default)s)",
    )
    verb.add_argument(
        "--batch-size",
        type=count,
        default=64,
        metavar="N",
        help="images in a batch (default: %(default)s)",
    )
    verb.add_argument(
        "--folder",
        type=Path,
        help="where the photos go (default: the user's cache folder)",
    )
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Make the photos, measure, compare, report; 1 if the images were not identical."""
    from penstock.cli.demo_loaders import Work
    from penstock.cli.demo_measure import measure
    from penstock.sample_set import make_sample_set

    folder = make_sample_set(
        args.folder or _default_folder(args.images),
        images=args.images,
        classes=min(CLASSES, args.images),
    )
    work = Work(str(folder), args.batch_size)
    report = measure(work, passes=args.passes, compare=IMAGES_COMPARED)
    _print(report, as_json=args.json)
    return 0 if report.all_identical else 1


def _print(report: Report, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(report.to_json() + "\n")
    else:
        report.print()


def _default_folder(images: int) -> Path:
    from penstock.sample_set import RECIPE
    from penstock.user_cache import user_cache_folder

    return user_cache_folder() / "sample-sets" / f"{images}-images-recipe-{RECIPE}"
