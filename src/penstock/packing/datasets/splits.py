"""Training, validation and test parts of one data set."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import SourceError
from penstock.printable import printable

ALL = "all"  # every image of the data set, whatever split it belongs to


def choose_split(title: str, available: Sequence[str], asked: str | None) -> str:
    """Return the split to read: the one asked for, or the only one."""
    title = printable(title)
    names = ", ".join(name or "(unnamed)" for name in available)
    if asked is None:
        if len(available) == 1:
            return available[0]
        raise SourceError(
            f"{title}: it has several splits: {names}. "
            "Choose one, so that training and test images do not mix: --split, "
            "pack(..., split=...) or Loader(open_data(..., split=...))."
        )
    if asked in available:
        return asked
    raise SourceError(f"{title}: no split {asked!r} in it; there are {names or 'none'}.")
