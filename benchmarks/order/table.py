"""What was measured of the chain, as Markdown: milliseconds, the ratios wanted, what is slower."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from benchmarks.summary import ratio_in_each_round
from benchmarks.table import aligned
from benchmarks.turns import Figures, in_milliseconds, times_faster

INTRODUCTION = (
    "Milliseconds per image from the file to the array, on one core: flip, rotate by 30 degrees "
    "(bilinear), jitter of brightness and contrast, crop of the middle half, resize to a square; "
    "in this order, and with crop and resize first. What is wanted is wanted of the two large "
    "sizes."
)
FIRST = "flip first"
KINDS = ("file", ".pen")
PLANNED = ("exact", "fast", "relaxed")
NOISE = 0.97  # of two that do the same, one is slower; below this ratio it is said


@dataclass(frozen=True, slots=True)
class Wanted:
    """A ratio of the flip-first chain, and how large it should be for the two large sizes."""

    what: str
    slow: str
    fast: str
    least: float


WANTED = (
    Wanted("fast from a .pen over Pillow", "Pillow", "penstock fast, .pen", 40),
    Wanted("fast from the file over Pillow", "Pillow", "penstock fast, file", 8),
    Wanted("fast over as written, .pen", "penstock as written, .pen", "penstock fast, .pen", 4),
    Wanted("exact over as written, .pen", "penstock as written, .pen", "penstock exact, .pen", 2),
)


def report(figures: Figures) -> str:
    """Return everything that results/order.md says."""
    entries = figures.entries
    notes = [
        "sizes are width x height",
        (
            "Pillow, OpenCV and torchvision loop over the photos; penstock's figures are those of "
            "whole epochs of a `Loader` with one thread, with all that it does besides"
        ),
        (
            '*as written* is `plan=False`; *fast* is `fidelity="fast"`; *relaxed* also allows all '
            "relaxed rules"
        ),
    ]
    parts = [
        "# order",
        INTRODUCTION,
        "\n".join([*figures.heading(), *(f"- {note}" for note in notes)]),
    ]
    for order in dict.fromkeys(one["order"] for one in entries):
        some = [one for one in entries if one["order"] == order]
        parts += [f"## {order.capitalize()}", "\n".join(milliseconds(some))]
    first = [one for one in entries if one["order"] == FIRST]
    if first:
        parts += [f"## Ratios, {FIRST}", "\n".join(ratios(first))]
    parts += [slower(entries), "Made by `python -m benchmarks.order --write`."]
    return "\n\n".join(parts) + "\n"


def milliseconds(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Return a row for each contestant, and a column for each task."""
    rows = [
        (name, *(in_milliseconds(one["ms"][name]) for one in entries)) for name in entries[0]["ms"]
    ]
    return aligned([("ms per image", *(one["what"] for one in entries)), *rows])


def ratios(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Return a row for each ratio that is wanted, with what is wanted of the large photos."""
    rows = []
    for wanted in WANTED:
        cells = [times_faster(one["ms"][wanted.slow], one["ms"][wanted.fast]) for one in entries]
        rows.append((wanted.what, f"{wanted.least:g}", *cells))
    return aligned([("times", "wanted", *(one["what"] for one in entries)), *rows])


def slower(entries: Sequence[dict[str, Any]]) -> str:
    """Name the plans that are slower than what was written."""
    found = list(_slower(entries))
    if not found:
        return "No plan is slower than what was written."
    return f"Slower than what was written: {'; '.join(found)}."


def _slower(entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    for one, kind, name in product(entries, KINDS, PLANNED):
        written = one["ms"][f"penstock as written, {kind}"]
        planned = one["ms"][f"penstock {name}, {kind}"]
        if ratio_in_each_round(written, planned).median < NOISE:
            yield f"{one['name']}, {name}, {kind}: {times_faster(written, planned)}"
