"""What was measured of the chain, as Markdown: milliseconds, the ratios wanted, what is slower."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import NOT_KNOWN, aligned

LARGE = ("2000x1500", "3000x5000")
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


def report(figures: dict[str, Any]) -> str:
    """Return everything that results/order.md says."""
    about, tasks = figures["environment"], figures["tasks"]
    rounds = {one["rounds"] for one in tasks}
    named = ", ".join(f"{name} {about[name]}" for name in about if name not in {"cpu", "system"})
    parts = [
        "# order",
        (
            "Milliseconds per image from the file to the array, on one core: flip, rotate by 30 "
            "degrees (bilinear), jitter of brightness and contrast, crop of the middle half, "
            "resize to a square; in this order, and with crop and resize first."
        ),
        "\n".join(
            [
                f"- {about['cpu']}; {about['system']}",
                f"- {named}",
                (
                    f"- {' or '.join(map(str, sorted(rounds)))} alternating rounds: median "
                    "(least-largest); sizes are width x height"
                ),
                (
                    "- Pillow, OpenCV and torchvision loop over the photos; penstock's figures are "
                    "whole epochs of a `Loader` with one thread, with all that it does besides"
                ),
                (
                    '- *as written* is `plan=False`; *fast* is `fidelity="fast"`; *relaxed* also '
                    "allows all relaxed rules"
                ),
            ]
        ),
    ]
    for order in dict.fromkeys(one["order"] for one in tasks):
        some = [one for one in tasks if one["order"] == order]
        parts += [f"## {order.capitalize()}", "\n".join(milliseconds(some))]
    first = [one for one in tasks if one["order"] == "flip first"]
    if first:
        parts += ["## Ratios, flip first", "\n".join(ratios(first))]
    parts += [slower(tasks), "Made by `python -m benchmarks.order --write`."]
    return "\n\n".join(parts) + "\n"


def milliseconds(tasks: Sequence[dict[str, Any]]) -> list[str]:
    """Return a row for each contestant, and a column for each task."""
    names = dict.fromkeys(name for one in tasks for name in one["ms"])
    rows = [
        (name, *(_cell(one["ms"][name]) if name in one["ms"] else NOT_KNOWN for one in tasks))
        for name in names
    ]
    return aligned([("ms per image", *(one["task"] for one in tasks)), *rows])


def ratios(tasks: Sequence[dict[str, Any]]) -> list[str]:
    """Return a row for each ratio that is wanted, with what is wanted of the large photos."""
    rows = []
    for wanted in WANTED:
        cells = [_ratio(one["ms"], wanted.slow, wanted.fast, ".1f") for one in tasks]
        rows.append((wanted.what, f"{wanted.least:g}", *cells))
    return aligned([("times", "wanted", *(one["task"] for one in tasks)), *rows])


def slower(tasks: Sequence[dict[str, Any]]) -> str:
    """Name the plans that are slower than what was written."""
    found = list(_slower(tasks))
    if not found:
        return "No plan is slower than what was written."
    return f"Slower than what was written: {'; '.join(found)}."


def _slower(tasks: Sequence[dict[str, Any]]) -> Iterator[str]:
    for one in tasks:
        for kind in KINDS:
            for name in PLANNED:
                written, planned = f"penstock as written, {kind}", f"penstock {name}, {kind}"
                if ratio_in_each_round(one["ms"][written], one["ms"][planned]).median < NOISE:
                    ratio = _ratio(one["ms"], written, planned, ".2f")
                    yield f"{one['task']}, {one['order']}, {name}, {kind}: {ratio}"


def _ratio(took: dict[str, list[float]], slow: str, fast: str, form: str) -> str:
    spread = ratio_in_each_round(took[slow], took[fast])
    return f"{spread.median:{form}} ({spread.least:{form}}-{spread.largest:{form}})"


def _cell(took: Sequence[float]) -> str:
    spread = Spread.of(took)
    digits = 1 if spread.median >= 10 else 2
    return f"{spread.median:,.{digits}f} ({spread.least:,.{digits}f}-{spread.largest:,.{digits}f})"
