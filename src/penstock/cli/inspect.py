"""`penstock inspect`: what is inside a packed data set?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from penstock.cli.arguments import add_limits
from penstock.cli.output import say

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 (has no public name)


def add_verb(verbs: Verbs, shared: argparse.ArgumentParser) -> None:
    """Add `inspect` to the verbs of the command line."""
    verb = verbs.add_parser(
        "inspect",
        parents=[shared],
        help="say what is inside a packed data set",
        description="Says what is inside a packed data set: samples, how they are stored, sizes, "
        "columns, what can be restored, odd files.",
    )
    verb.add_argument("packed", help="a .pen file, or a folder of shards")
    verb.add_argument("--sheet", metavar="PNG", help="write a contact sheet, with boxes")
    add_limits(verb)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Inspect, and write the contact sheet if asked for."""
    from penstock.packing.inspect import inspect

    inspection = inspect(args.packed)
    if args.sheet:
        from penstock.packing.inspect import make_contact_sheet

        make_contact_sheet(args.packed, args.sheet)
    if args.json:
        print(json.dumps(inspection.to_dict()))
    else:
        say([*inspection.lines(), *([f"wrote {args.sheet}"] if args.sheet else [])])
    return 0
