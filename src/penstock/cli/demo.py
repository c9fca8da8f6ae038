"""`penstock demo`: before and after on this machine, on photos made for it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.shared import Verb, count

if TYPE_CHECKING:
    from penstock.demo.result import Result


CLASSES = 8


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `demo`."""
    verb.add_argument(
        "--images",
        type=count,
        default=512,
        metavar="N",
        help="number of sample photos (default: %(default)s)",
    )
    verb.add_argument(
        "--batch-size",
        type=count,
        default=32,
        metavar="N",
        help="images per batch (default: %(default)s)",
    )
    verb.add_argument(
        "--folder",
        type=Path,
        help="where the photos go (default: the user's cache folder)",
    )
    verb.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="where the report goes (default: the user's cache folder)",
    )
    verb.add_argument(
        "--quick", action="store_true", help="take half the time; figures are less precise"
    )


def run(args: argparse.Namespace) -> int:
    """Make the photos, tell the story, write the report; 1 if images were not identical."""
    from penstock.demo.sample_set import cached_folder, make_sample_set
    from penstock.demo.story import QUICK, USUAL, tell_story
    from penstock.report import check_target

    if args.html:
        check_target(args.html)
    folder = make_sample_set(
        args.folder or cached_folder(args.images),
        images=args.images,
        classes=min(CLASSES, args.images),
    )
    result = tell_story(str(folder), args.batch_size, QUICK if args.quick else USUAL)
    _write_report(result, args.html)
    if args.json:
        sys.stdout.write(result.to_json() + "\n")
    else:
        from penstock.demo.result import print_story

        print_story(result)
    return 0 if result.all_identical else 1


def _write_report(result: Result, wanted: Path | None) -> None:
    from penstock.errors import AnalysisError, OutputError
    from penstock.report import write_html
    from penstock.report.vega import chart_script
    from penstock.user_cache import needed_cache_folder

    try:
        chart_script()
        path = wanted or needed_cache_folder() / "demo-report.html"
    except (AnalysisError, OutputError) as error:  # the rest of the demo works without
        result.notes.append(str(error))
        return
    write_html(result.after, path, before=result.before, note=result.construction)
    result.report = str(path.resolve())


VERBS = (
    Verb(
        "demo",
        "compare a plain pipeline with penstock on this machine, on generated photos",
        "Makes sample photos, analyzes torchvision's DataLoader on them, packs them, "
        "analyzes penstock on the packed file, and writes a report of before and after. Also "
        "times the loaders in turn, and checks that their images are the same, bit for bit.",
        add_options,
        run,
    ),
)
