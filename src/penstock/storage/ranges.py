"""Which ranges are read by one request: near ones are joined, large ones are cut."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

Range = tuple[int, int]  # first byte, and the one after the last


@dataclass(frozen=True, slots=True)
class Joined:
    """One range to read, and which of the wanted ranges lie in it."""

    start: int
    end: int
    members: tuple[int, ...]


def join_ranges(ranges: Sequence[Range], gap_bytes: int, most_bytes: int) -> list[Joined]:
    """Join ranges that are at most `gap_bytes` apart, up to `most_bytes`; each stays whole."""
    joined: list[Joined] = []
    for member in sorted(range(len(ranges)), key=lambda number: ranges[number]):
        start, end = ranges[member]
        last = joined[-1] if joined else None
        if last is not None and (
            end <= last.end or (start - last.end <= gap_bytes and end - last.start <= most_bytes)
        ):
            joined[-1] = Joined(last.start, max(last.end, end), (*last.members, member))
        else:
            joined.append(Joined(start, end, (member,)))
    return joined


def cut_range(start: int, end: int, most_bytes: int) -> list[Range]:
    """Cut a range into about equal pieces of at most `most_bytes`."""
    pieces = max(1, -(-(end - start) // most_bytes))
    edges = [start + (end - start) * number // pieces for number in range(pieces + 1)]
    return list(itertools.pairwise(edges))
