"""`penstock explain`: what would a better order of a DataLoader's transforms bring?"""

from __future__ import annotations

import argparse

from penstock.cli.shared import Verb, count, seconds, tell


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `explain`."""
    verb.add_argument(
        "object",
        metavar="MODULE:OBJECT",
        help="a DataLoader, a Dataset or a Compose of torchvision, such as train.py:loader; or a "
        "penstock Loader",
    )
    verb.add_argument(
        "--fidelity",
        choices=("exact", "fast"),
        default="exact",
        help="which rules the order may use (default: %(default)s)",
    )
    verb.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="a further rule that the order may use; may be given several times",
    )
    verb.add_argument("--images", metavar="FOLDER", help="photos for a Compose")
    verb.add_argument(
        "--samples",
        type=count,
        default=16,
        metavar="N",
        help="on how many images to measure, at most (default: %(default)s)",
    )
    verb.add_argument(
        "--seconds",
        type=seconds,
        default=6.0,
        metavar="N",
        help="about how long to take (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Explain, and print what was found."""
    from penstock.cli.user_object import load_object
    from penstock.reordering.explain import explain

    found = explain(
        load_object(args.object),
        images=args.images,
        fidelity=args.fidelity,
        allow=args.allow,
        samples=args.samples,
        seconds=args.seconds,
    )
    tell(args, found.to_dict(), found.lines())
    return 0


VERBS = (
    Verb(
        "explain",
        "find a better order of torchvision's transforms, and measure it",
        "Finds a better order of the torchvision transforms of a DataLoader, measures both orders "
        "in torchvision, and prints the new list, ready to paste.",
        add_options,
        run,
    ),
)
