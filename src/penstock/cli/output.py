"""Printing for people: whatever a file is called, and whatever the terminal can show."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from penstock.printable import MOST_PER_LINE, in_encoding, printable, printable_lines


def say(lines: Iterable[str]) -> None:
    """Print lines to stdout; what a terminal cannot or must not be given is spelled out."""
    for line in lines:
        print(in_encoding(printable(line, MOST_PER_LINE), sys.stdout.encoding))


def complain(text: str) -> None:
    """Print a message to stderr, as safely."""
    told = in_encoding(printable_lines(f"penstock: {text}"), sys.stderr.encoding)
    print(told, file=sys.stderr, flush=True)
