"""Several tar archives at once, as WebDataset's users name them: by a pattern, or in a list.

`train-{000..009}.tar` stands for ten archives, `{a,b}.tar` for two; `::` stands between patterns.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from penstock.errors import SourceError
from penstock.packing.datasets.tar import TAR
from penstock.printable import printable

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?")
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MOST_SHARDS = 1_000_000


def tar_list(data: Any) -> list[str] | None:
    """Return the archives that a pattern or a list names; None for anything else.

    Raises SourceError if one of them is not there, or not on this machine.
    """
    if isinstance(data, (str, os.PathLike)):
        text = os.fspath(data)
        if not isinstance(text, str) or not _is_pattern(text):
            return None
        pieces = text.split("::")
    elif isinstance(data, (list, tuple)) and data and all(map(_is_tar, data)):
        pieces = [os.fspath(one) for one in data]
    else:
        return None
    found = [os.path.expanduser(path) for piece in pieces for path in _expand_piece(piece)]
    if not all(map(_is_tar, found)):
        return None
    missing = [path for path in found if not os.path.isfile(path)]
    if missing:
        raise SourceError(
            f"{printable(missing[0])}: no such file; it is one of {len(missing):,} of "
            f"{len(found):,} archives that are missing. Check the pattern or the list."
        )
    return found


def _is_tar(path: object) -> bool:
    if not isinstance(path, (str, os.PathLike)):
        return False
    text = os.fsdecode(path).lower()
    return text.endswith(TAR) or text.startswith("pipe:")


def _is_pattern(text: str) -> bool:
    if os.path.exists(os.path.expanduser(text)):
        return False  # whatever its name looks like
    is_special = text.startswith(("pipe:", "file:")) or _REMOTE.match(text) is not None
    return _is_tar(text) and (is_special or "{" in text or "::" in text)


def _expand_piece(piece: str) -> list[str]:
    if piece.startswith("pipe:") or _REMOTE.match(piece):
        raise SourceError(
            f"{printable(piece)}: only files on this machine are read, since samples are read in "
            "any order. Copy the archives first."
        )
    piece = piece.removeprefix("file:")
    return [piece] if os.path.exists(os.path.expanduser(piece)) else list(_bounded(piece))


def _bounded(pattern: str) -> Iterator[str]:
    for count, path in enumerate(expand_braces(pattern)):
        if count == _MOST_SHARDS:
            raise SourceError(
                f"{printable(pattern)}: it stands for more than {_MOST_SHARDS:,} archives. "
                "Check its ranges."
            )
        yield path


def expand_braces(pattern: str) -> Iterator[str]:
    """Yield what a pattern stands for, as a shell would: `{00..12}`, `{0..9..3}` and `{a,b}`."""
    opening = pattern.find("{")
    closing = _closing(pattern, opening)
    if closing is None:
        yield pattern
        return
    for choice in _choices(pattern[opening + 1 : closing]):
        for rest in expand_braces(pattern[closing + 1 :]):
            yield f"{pattern[:opening]}{choice}{rest}"


def _closing(pattern: str, opening: int) -> int | None:
    """Where the brace that was opened is closed."""
    depth = 0
    for place in range(opening, len(pattern)) if opening >= 0 else ():
        depth += {"{": 1, "}": -1}.get(pattern[place], 0)
        if depth == 0:
            return place
    return None


def _choices(inside: str) -> Iterator[str]:
    span = _RANGE.fullmatch(inside)
    if span is not None:
        yield from _numbers(*span.groups())
        return
    depth, parts = 0, [""]
    for letter in inside:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    for part in parts:
        for one in expand_braces(part):
            yield one if len(parts) > 1 else f"{{{one}}}"


def _numbers(first: str, last: str, step: str | None) -> Iterator[str]:
    """The numbers of a range, with as many digits as its ends have if one begins with a zero."""
    start, end = int(first), int(last)
    stride = abs(int(step or 1)) or 1
    is_padded = any(re.match(r"-?0\d", text) for text in (first, last))
    width = max(len(first), len(last)) if is_padded else 0
    numbers = range(start, end + 1, stride) if start <= end else range(start, end - 1, -stride)
    return (f"{number:0{width}d}" if width else str(number) for number in numbers)
