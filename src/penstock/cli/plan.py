"""`penstock plan`: in which order would the work be done, and what does that save?"""

from __future__ import annotations

import argparse

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

# Large enough that the loader's own work per batch does not count, small for large photos.
_BATCH = 8


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
    if args.calibrate:
        _calibrate(args)
        if args.data is None:
            return 0
    if args.data is None:
        raise SourceError("plan: no data set given. Name a .pen file or another data set.")
    from penstock.loading.loader import Loader

    loader = Loader(
        open_given(args, args.data),
        transform=load_pipeline(args),
        batch_size=_BATCH,
        targets="none",
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
    tell(args, explained.to_dict(), explained.lines())
    return 0


def _calibrate(args: argparse.Namespace) -> None:
    from penstock.costs.calibrate import calibrate
    from penstock.planner.prices import remember
    from penstock.progress import ProgressBar

    with ProgressBar("measuring prices", unit="rounds", rate=False) as bar:
        file = remember(calibrate(lambda done, total: bar.advance(done - bar.done, total=total)))
    if args.data is None:
        tell(args, {"prices": str(file)}, [f"measured this machine's prices: {file}"])


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
