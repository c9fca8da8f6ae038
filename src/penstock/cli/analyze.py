"""`penstock analyze`: what an input pipeline costs a training, and what would change it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from penstock.cli.arguments import count
from penstock.cli.output import say
from penstock.errors import AnalysisError

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 (has no public name)

CROP_PX = 224


def add_verb(verbs: Verbs, shared: argparse.ArgumentParser) -> None:
    """Add `analyze` to the verbs of the command line."""
    verb = verbs.add_parser(
        "analyze",
        parents=[shared],
        help="measure what an input pipeline costs a training, and why",
        description="Measures the training step alone, the input pipeline alone and both together, "
        "says what holds the training up, and what would change it.",
    )
    verb.add_argument("data", help="a folder of images in class folders, or a .pen file")
    verb.add_argument(
        "--device",
        default="emulated:1000",
        help="cuda, mps, cpu, or emulated:IMAGES_PER_SECOND (default: %(default)s)",
    )
    verb.add_argument(
        "--model", default="resnet18", help="torchvision's or timm's name, or MODULE:CALLABLE"
    )
    verb.add_argument("--batch-size", type=count, default=64, metavar="N")
    verb.add_argument("--threads", type=count, metavar="N", help="default: all cores")
    verb.add_argument(
        "--transform",
        metavar="MODULE:OBJECT",
        help="a pipeline of penstock.transforms, or a function that makes one (default: random "
        "resized crop to 224, flip, RandAugment, normalise)",
    )
    verb.add_argument("--html", metavar="FILE", help="write a report to FILE")
    verb.add_argument(
        "--before", metavar="FILE", help="the JSON of an earlier analysis, to show beside this one"
    )
    verb.add_argument("--quick", action="store_true", help="seconds instead of a minute, rougher")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Analyze, and print or write what was found."""
    from penstock.analysis.analyze import analyze
    from penstock.analysis.devices import EMULATED
    from penstock.analysis.read import read_analysis
    from penstock.analysis.report import check_target, print_terminal, write_html
    from penstock.analysis.report.vega import chart_script
    from penstock.cli.torchvision_import import import_torchvision
    from penstock.loading.loader import Loader

    if not args.device.startswith(EMULATED) and ":" not in args.model:
        try:
            import_torchvision()  # in the one way that works for all builds of it
        except ImportError as error:
            raise AnalysisError(f"--device {args.device}: {error}. Install torchvision.") from error
    if args.html:  # what is missing for it is better said before measuring for a minute
        check_target(args.html)
        chart_script()
    before = read_analysis(args.before) if args.before else None
    loader = Loader(
        args.data,
        batch_size=args.batch_size,
        transform=_transform(args.transform),
        shuffle=True,
        threads=args.threads,
    )
    progress = _Teller(show=sys.stderr.isatty() and not args.json)
    analysis = analyze(
        loader,
        device=args.device,
        model=args.model,
        title=args.data,
        quick=args.quick,
        progress=progress.tell,
    )
    progress.clear()
    if args.html:
        write_html(analysis, args.html, before=before)
    if args.json:
        print(json.dumps(analysis.to_dict()))
        return 0
    print_terminal(analysis, before=before)
    if args.html:
        say([f"wrote {args.html}"])
    return 0


class _Teller:
    """Shows on one line of the terminal what is being measured."""

    def __init__(self, *, show: bool) -> None:
        self._show = show

    def tell(self, what: str) -> None:
        if self._show:
            sys.stderr.write(f"\r\033[Kmeasuring {what} ...")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._show:
            sys.stderr.write("\r\033[K")


def _transform(path: str | None) -> Any:
    from penstock import transforms as T

    if path is None:
        return T.Compose(
            [
                T.RandomResizedCrop(CROP_PX),
                T.RandomHorizontalFlip(),
                T.RandAugment(),
                T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            ]
        )
    from importlib import import_module

    from penstock.transforms.op import Transform

    module, _, name = path.partition(":")
    sys.path.insert(0, "")  # modules beside which the user stands
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise AnalysisError(
            f"--transform {path}: {error}. Give MODULE:OBJECT, as in recipes:train_transform."
        ) from error
    return found if isinstance(found, Transform) or not callable(found) else found()
