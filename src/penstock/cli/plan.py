"""`penstock plan`: in which order would the work be done, and what does that save?"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

from penstock.cli.shared import (
    Verb,
    add_labels,
    add_layout,
    add_limits,
    open_given,
    tell,
    whole,
)
from penstock.cli.user_object import add_pipeline, load_pipeline
from penstock.errors import SourceError


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `plan`."""
    verb.add_argument(
        "data", nargs="?", help="a .pen file, or a data set in any layout that pack reads"
    )
    add_labels(verb)
    add_layout(verb)
    add_pipeline(verb)
    verb.add_argument(
        "--fidelity",
        choices=("exact", "fast"),
        default="exact",
        help="which rules the plan may use (default: %(default)s)",
    )
    verb.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="a further rule that the plan may use; may be given several times",
    )
    verb.add_argument("--seed", type=whole, default=0, metavar="N", help="the seed of the draws")
    verb.add_argument(
        "--measure", action="store_true", help="measure what each rule saves, in some seconds"
    )
    verb.add_argument(
        "--calibrate",
        action="store_true",
        help="first measure this machine's prices, and remember them for every plan",
    )
    add_limits(verb)


def run(args: argparse.Namespace) -> int:
    """Print the plan."""
    calibrated = _calibrate() if args.calibrate else None
    if args.data is None and calibrated is not None:
        tell(args, calibrated.figures, calibrated.lines)
        return 0
    if args.data is None:
        raise SourceError("plan: no data set given. Name a .pen file or another data set.")
    from penstock.loading.loader import Loader
    from penstock.transforms import MultiView

    transform = load_pipeline(args)
    loader = Loader(
        open_given(args, args.data),
        transform=transform,
        targets="none" if isinstance(transform, MultiView) else None,
        seed=args.seed,
        fidelity=args.fidelity,
        allow=args.allow,
        output="numpy",
    )
    if args.measure:
        from penstock.costs.plan_costs import explain_measured

        explained = explain_measured(loader, show_progress=None)
    else:
        explained = loader.explain()
    before = [] if calibrated is None else [*calibrated.lines, ""]
    tell(args, explained.to_dict(), [*before, *explained.lines()])
    return 0


class _Calibrated(NamedTuple):
    """What a calibration did, for JSON and for people."""

    figures: dict[str, Any]
    lines: list[str]


def _calibrate() -> _Calibrated:
    from penstock.costs.calibrate import calibrate
    from penstock.planner.amounts import Unit
    from penstock.planner.prices import Machine, remember
    from penstock.progress import ProgressBar

    began_s = time.perf_counter()
    with ProgressBar("measuring prices", unit="rounds", rate=False) as bar:
        file = remember(calibrate(lambda done, total: bar.advance(done - bar.done, total=total)))
    took_s, machine = time.perf_counter() - began_s, Machine.this()
    figures = {"prices": str(file), "kinds_of_work": len(Unit), "seconds": took_s}
    where = f"one core of this machine ({machine.cpu}, {machine.instructions})"
    lines = [
        f"measured what {len(Unit)} kinds of work cost on {where}, in {took_s:.1f} s",
        f"remembered in {file}: from now on, plans are made with these prices",
    ]
    return _Calibrated(figures, lines)


VERBS = (
    Verb(
        "plan",
        "show in which order the work is done, and what that saves",
        "Plans a pipeline for a data set, and prints it as written and as planned with what each "
        "piece of work costs, what each rule saves, and what other rules would save. Costs are "
        "predicted from the sizes of some images; --measure measures the savings.",
        add_options,
        run,
    ),
)
