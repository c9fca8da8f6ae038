"""`penstock report`: shows a saved analysis again."""

from __future__ import annotations

import argparse
import json

from penstock.cli.shared import Verbs, say


def add_verb(verbs: Verbs, shared: argparse.ArgumentParser) -> None:
    """Add `report` to the verbs of the command line."""
    verb = verbs.add_parser(
        "report",
        parents=[shared],
        help="show a saved analysis again, in the terminal or as HTML",
        description="Shows an analysis again from the JSON that penstock analyze --json wrote: in "
        "the terminal, or as one HTML file; with --before, two analyses side by side.",
    )
    verb.add_argument("figures", help="the JSON file of an analysis")
    verb.add_argument("--html", metavar="FILE", help="write the report as one HTML file")
    verb.add_argument("--before", metavar="FIGURES", help="the JSON file of an earlier analysis")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, and draw as asked."""
    from penstock.report import print_terminal, write_html
    from penstock.results.from_json import read_analysis

    analysis = read_analysis(args.figures)
    before = read_analysis(args.before) if args.before else None
    if args.html:
        write_html(analysis, args.html, before=before)
    if args.json:
        print(json.dumps(analysis.to_dict()))
    elif args.html:
        say([f"wrote {args.html}"])
    else:
        print_terminal(analysis, before=before)
    return 0
