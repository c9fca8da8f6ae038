"""`penstock analyze` and `report`: how much a training waits for its data, and what would help."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from penstock.cli.shared import Verb, add_layout, count, counts, say, seconds, whole_numbers
from penstock.cli.user_object import BATCH_SIZE, is_object, open_loader, open_step
from penstock.errors import AnalysisError
from penstock.progress import shown_measurements

if TYPE_CHECKING:
    from penstock.results.records import Analysis


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `analyze`."""
    verb.add_argument(
        "data",
        metavar="DATA",
        help="a .pen file, also in a store (s3://BUCKET/train.pen), a data set in any layout that "
        "pack reads, or MODULE:OBJECT (or FILE.py:OBJECT) for a torch DataLoader, a penstock "
        "Loader, or a function that makes one",
    )
    add_layout(verb)
    verb.add_argument(
        "--step",
        metavar="MODULE:CALLABLE",
        help="your own training step, called with each batch, instead of --device",
    )
    verb.add_argument(
        "--device",
        help="cuda, mps, cpu, emulated:IMAGES_PER_SECOND, or a known accelerator such as "
        "emulated:a100/resnet50 (default: the GPU that torch finds; without one, an accelerator "
        "of 1,000 images/s is assumed)",
    )
    verb.add_argument(
        "--model",
        default="resnet18",
        help="model for --device: a name that torchvision or timm knows, or MODULE:CALLABLE "
        "(default: %(default)s)",
    )
    verb.add_argument(
        "--batch-size",
        type=count,
        metavar="N",
        help=f"images per batch, for a folder or a .pen file (default: {BATCH_SIZE})",
    )
    verb.add_argument(
        "--threads",
        type=count,
        metavar="N",
        help="threads of the loader, for a folder or a .pen file (default: all cores)",
    )
    verb.add_argument(
        "--transform",
        metavar="MODULE:OBJECT",
        help="a pipeline of penstock.transforms, or a function that makes one (default: random "
        "resized crop to 224, flip, RandAugment, normalise)",
    )
    verb.add_argument(
        "--cache",
        metavar="FOLDER",
        help="for data in a store, a folder of this machine that keeps what was read",
    )
    verb.add_argument(
        "--cache-limit", metavar="SIZE", help='the most that it may take, such as "50 GB"'
    )
    verb.add_argument(
        "--on-error",
        choices=("raise", "skip", "substitute"),
        help="what to do with a file in a folder that is not an image: stop, leave it out, or take "
        "the next one (default: raise)",
    )
    verb.add_argument(
        "--cores",
        type=counts,
        metavar="N,N,...",
        help="measure on these numbers of cores, whatever time it takes; those that the machine "
        "lacks are predicted (default: 1, 2, 4, ... up to all)",
    )
    verb.add_argument(
        "--layers",
        type=whole_numbers,
        metavar="N,N,...",
        help="measure with these numbers of RandAugment layers, whatever time it takes (default: "
        "0,1,2,3, if there is time)",
    )
    verb.add_argument("--html", metavar="FILE", help="write a report to FILE")
    verb.add_argument(
        "--trace",
        metavar="FILE",
        help="write every wait and step to FILE, for chrome://tracing or Perfetto",
    )
    verb.add_argument(
        "--before", metavar="FILE", help="the JSON of an earlier analysis, to show beside this one"
    )
    verb.add_argument(
        "--seconds",
        type=seconds,
        metavar="N",
        help="time limit for the whole analysis (default: 60); what does not fit is left out",
    )
    verb.add_argument("--quick", action="store_true", help="the same as --seconds 10; less precise")


def run(args: argparse.Namespace) -> int:
    """Analyze, and print or write what was found."""
    from penstock.analysis.analyze import analyze
    from penstock.analysis.device.accelerators import EMULATED
    from penstock.analysis.device.devices import find_device
    from penstock.demo.torchvision_import import import_torchvision
    from penstock.report import check_target
    from penstock.report.vega import chart_script
    from penstock.results.from_json import read_analysis

    if args.step is not None and args.device is not None:
        raise AnalysisError("--step: your own step chooses its device itself. Leave out --device.")
    device = args.device
    wanted = device or (find_device() if args.step is None else None)
    if wanted is not None and not wanted.startswith(EMULATED) and ":" not in args.model:
        try:
            import_torchvision()  # in the one way that works for all builds of it
        except ImportError as error:
            if device is not None:
                raise AnalysisError(f"--device {device}: {error}. Install torchvision.") from error
    if args.html:  # what is missing for it is better said before measuring for a minute
        check_target(args.html)
        chart_script()
    before = read_analysis(args.before) if args.before else None
    loader, code = open_loader(args)
    with shown_measurements() as tell:
        analysis = analyze(
            loader,
            open_step(args.step),
            device=device,
            model=args.model,
            title=None if is_object(args.data) else args.data,
            seconds=args.seconds,
            quick=args.quick,
            cores=args.cores,
            layers=args.layers,
            trace=args.trace,
            progress=tell,
            code=code,
        )
    _show(args, analysis, before)
    return 0


def run_report(args: argparse.Namespace) -> int:
    """Read a saved analysis, and show it as asked."""
    from penstock.results.from_json import read_analysis

    analysis = read_analysis(args.figures)
    before = read_analysis(args.before) if args.before else None
    _show(args, analysis, before, in_terminal=not args.html)
    return 0


def _show(
    args: argparse.Namespace,
    analysis: Analysis,
    before: Analysis | None,
    *,
    in_terminal: bool = True,
) -> None:
    from penstock.report import print_terminal, write_html

    if args.html:
        write_html(analysis, args.html, before=before)
    if args.json:
        print(json.dumps(analysis.to_dict()))
        return
    if in_terminal:
        print_terminal(analysis, before=before)
    if args.html:
        say([f"wrote {args.html}"])


def add_report_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `report`."""
    verb.add_argument("figures", help="the JSON file of an analysis")
    verb.add_argument("--html", metavar="FILE", help="write the report as one HTML file")
    verb.add_argument("--before", metavar="FIGURES", help="the JSON file of an earlier analysis")


VERBS = (
    Verb(
        "analyze",
        "measure how much a training waits for its data, and why",
        "Measures the training step alone, the input pipeline alone and both together, "
        "names the bottleneck, and what would remove it.",
        add_options,
        run,
    ),
    Verb(
        "report",
        "show a saved analysis again, in the terminal or as HTML",
        "Shows an analysis again from the JSON that penstock analyze --json wrote: in "
        "the terminal, or as one HTML file; with --before, two analyses side by side.",
        add_report_options,
        run_report,
    ),
)
