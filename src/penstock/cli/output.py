"""Printing for people: whatever a file is called, and whatever the terminal can show."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def say(lines: Iterable[str]) -> None:
    """Print lines to stdout; characters it cannot show are spelled out."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(line.encode(encoding, "backslashreplace").decode(encoding))
