"""`penstock verify`: is a packed data set intact?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from penstock.cli.arguments import add_limits, count
from penstock.printable import say

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 (has no public name)

EXIT_DAMAGED = 1


def add_verb(verbs: Verbs, shared: argparse.ArgumentParser) -> None:
    """Add `verify` to the verbs of the command line."""
    verb = verbs.add_parser(
        "verify",
        parents=[shared],
        help="check every byte of a packed data set",
        description="Checks every byte of a packed data set against its checksums. "
        f"Exits with {EXIT_DAMAGED} if anything is wrong.",
    )
    verb.add_argument("packed", help="a .pen file, or a folder of shards")
    verb.add_argument("--deep", action="store_true", help="also decode every image")
    verb.add_argument(
        "--threads", type=count, metavar="N", help="threads to work with (default: all cores)"
    )
    add_limits(verb)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Verify, and print what is wrong."""
    from penstock.packing.verify import verify

    report = verify(
        args.packed,
        deep=args.deep,
        threads=args.threads,
        progress=False if args.json else None,
    )
    if args.json:
        print(json.dumps(report.to_dict()))
    elif report.intact:
        decoded = " and every image decodes" if args.deep else ""
        say([f"{args.packed}: {report.samples:,} samples, every checksum matches{decoded}"])
    else:
        say(report.problems)
    return 0 if report.intact else EXIT_DAMAGED
