"""What several verbs share: types of arguments, options, and printing for people.

Imports nothing heavy, so that `penstock --help` is instant.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from penstock.errors import SourceError
from penstock.printable import MOST_PER_LINE, in_encoding, printable, printable_lines


@dataclass(frozen=True, slots=True)
class Verb:
    """One command of the command line; `run` returns its exit code."""

    name: str
    help: str  # one line in the list of all verbs
    description: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    json: bool = True  # whether --json prints its result


LABEL_OPTIONS = ("file_column", "label_column", "label_kind")


def whole(text: str) -> int:
    """Return a whole number of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number of 0 or more, got {text!r}")
    return int(text)


def wholes(text: str) -> list[int]:
    """Return whole numbers of 0 or more, separated by commas."""
    return [whole(part.strip()) for part in text.split(",")]


def count(text: str) -> int:
    """Return a whole number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 or more, got {text!r}")
    return int(text)


def counts(text: str) -> list[int]:
    """Return whole numbers of 1 or more, separated by commas."""
    return [count(part.strip()) for part in text.split(",")]


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers of 0 or more, separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(
            f"must be whole numbers of 0 or more, as in 0,1,2, got {text!r}"
        )
    return [int(part) for part in parts]


def seconds(text: str) -> float:
    """Return a time above 0."""
    try:
        given = float(text)
    except ValueError:
        given = 0.0
    if not 0 < given < float("inf"):
        raise argparse.ArgumentTypeError(f"must be seconds, above 0, got {text!r}")
    return given


def add_labels(verb: argparse.ArgumentParser) -> None:
    """Add --labels, and what there is to say about such a file."""
    verb.add_argument("--labels", metavar="FILE", help="CSV or TSV of files and labels")
    for role, known in (("file", "file, path, image ..."), ("label", "label, class, target ...")):
        verb.add_argument(
            f"--{role}-column",
            metavar="NAME",
            help=f"header of the column with the {role}s in --labels (default: {known})",
        )
    verb.add_argument(
        "--label-kind",
        choices=("integer", "float", "class"),
        help="what the labels in --labels are (default: guessed from the first one)",
    )


def add_layout(verb: argparse.ArgumentParser) -> None:
    """Add --kind and --split, for data whose layout or part must be said."""
    verb.add_argument("--kind", help="the layout, if it is not recognised: coco, folder, ...")
    verb.add_argument("--split", help="which split of the data set to take: train, val, ...")


def add_limits(verb: argparse.ArgumentParser) -> None:
    """Add --limit; `main` lets it hold while the verb runs."""
    verb.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=N",
        help="allow larger inputs than usual, such as pixels=400M; may be repeated. Error messages "
        "name the limit; docs/limits.md lists all",
    )


def open_labelled(args: argparse.Namespace, data: Any) -> tuple[Any, Any]:
    """Return data and labels, as `pack` takes them, from what `add_labels` has read."""
    chosen = {name: getattr(args, name) for name in LABEL_OPTIONS if getattr(args, name)}
    if not chosen:
        return data, args.labels
    if args.labels is None:
        option = next(iter(chosen)).replace("_", "-")
        raise SourceError(f"--{option}: describes a labels file, but none is given. Add --labels.")
    from penstock.sources import open_labels_file
    from penstock.storage import is_address

    if is_address(data):
        option = next(iter(chosen)).replace("_", "-")
        raise SourceError(
            f"--{option}: does not go with a data set in a store. Call the columns of the labels "
            "file 'file' and 'label', or copy the data here first."
        )
    return open_labels_file(data, args.labels, **chosen), None


def open_given(args: argparse.Namespace, data: str) -> Any:
    """Open data of which `add_layout`, and `add_labels` if it was asked, say more."""
    from penstock.data.open_data import open_data

    labelled = open_labelled(args, data) if hasattr(args, "labels") else (data, None)
    return open_data(
        labelled[0],
        labels=labelled[1],
        kind=args.kind,
        split=args.split,
        cache=getattr(args, "cache", None),
        cache_limit=getattr(args, "cache_limit", None),
    )


def add_threads(verb: argparse.ArgumentParser) -> None:
    """Add --threads."""
    verb.add_argument(
        "--threads", type=count, metavar="N", help="threads to work with (default: all cores)"
    )


def tell(args: argparse.Namespace, figures: dict[str, Any], lines: Iterable[str]) -> None:
    """Print a result: its figures as JSON with --json, else lines for people."""
    if args.json:
        print(json.dumps(figures))
    else:
        say(lines)


def say(lines: Iterable[str]) -> None:
    """Print lines to stdout; what a terminal cannot or must not be given is spelled out."""
    for line in lines:
        print(in_encoding(printable(line, MOST_PER_LINE), sys.stdout.encoding))


def complain(text: str) -> None:
    """Print a message to stderr, in the same way."""
    told = in_encoding(printable_lines(f"penstock: {text}"), sys.stderr.encoding)
    print(told, file=sys.stderr, flush=True)
