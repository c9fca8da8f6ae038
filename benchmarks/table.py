"""The figures as Markdown tables, for the terminal and for files alike."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from benchmarks.environment import cpu_name, system_name
from benchmarks.peers import REFERENCES
from benchmarks.runner import Measured, Outcome
from benchmarks.summary import Spread, find, ratio_in_each_round, share_lost

SPEED_HEADINGS = ("peer", "cores", "images/s", "x torchvision", "x one core")
COST_HEADINGS = ("peer", "cores", "RSS MB", "PSS MB", "of its own MB", "first batch s")
LAYER_HEADINGS = ("peer", "cores", "layers", "images/s", "x torchvision", "lost, %")
NOT_KNOWN = "-"


def report(outcome: Outcome, question: str, setting: str) -> str:
    """Return question, machine, versions, speeds and costs as Markdown text.

    A cell such as 300 (290-310) holds the median, the least and the largest of the rounds.
    """
    measured = outcome.measured
    versions: dict[str, str] = {}
    for one in measured:
        versions.update(one.versions)
    named = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    if any(one.layers for one in measured):
        tables = aligned([LAYER_HEADINGS, *(layer_row(one, measured) for one in measured)])
    else:
        tables = [
            *aligned([SPEED_HEADINGS, *(speed_row(one, measured) for one in measured)]),
            "",
            *aligned([COST_HEADINGS, *(cost_row(one) for one in measured)]),
        ]
    return "\n".join(
        [
            question + ".",
            "",
            f"- {cpu_name()}; {system_name()}; Python {platform.python_version()}",
            f"- {named}",
            f"- {setting}",
            *(f"- left out: {reason}" for reason in outcome.left_out.values()),
            "",
            *tables,
            "",
        ]
    )


def speed_row(one: Measured, measured: Sequence[Measured]) -> tuple[str, ...]:
    """Return a peer's speed, and its ratios to the reference and to itself on one core."""
    rate = Spread.of(one.images_per_s)
    return (
        one.label,
        str(one.cores),
        f"{rate.median:,.0f} ({rate.least:,.0f}-{rate.largest:,.0f})",
        _ratio(one, _reference(measured, one.cores)),
        _ratio(one, find(measured, one.peer, 1) if one.cores > 1 else None),
    )


def layer_row(one: Measured, measured: Sequence[Measured]) -> tuple[str, ...]:
    """Return a peer's speed with some layers: absolute, against the reference, against none."""
    rate = Spread.of(one.images_per_s)
    without = find(measured, one.peer, one.cores) if one.layers else None
    lost = share_lost(one, without) if without else None
    return (
        one.label,
        str(one.cores),
        str(one.layers),
        f"{rate.median:,.0f} ({rate.least:,.0f}-{rate.largest:,.0f})",
        _ratio(one, _reference(measured, one.cores, one.layers)),
        f"{lost.median:.1%} ({lost.least:.1%}-{lost.largest:.1%})".replace("%", "")
        if lost
        else NOT_KNOWN,
    )


def cost_row(one: Measured) -> tuple[str, ...]:
    """Return a peer's memory at its peak, and how long it took to start."""
    return (
        one.label,
        str(one.cores),
        _megabytes(one.peak.rss_bytes),
        _megabytes(one.peak.pss_bytes),
        _megabytes(_difference(one.peak.pss_bytes, one.idle.pss_bytes)),
        f"{one.first_batch_s:.2f}",
    )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out cells so that the table reads well even where nobody renders it."""
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(rows[0]))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [line(rows[0]), line(rule), *(line(cells) for cells in rows[1:])]


def _reference(measured: Sequence[Measured], cores: int, layers: int = 0) -> Measured | None:
    found = (find(measured, peer, cores, layers) for peer in REFERENCES)
    return next((one for one in found if one is not None), None)


def _ratio(one: Measured, other: Measured | None) -> str:
    if other is None:
        return NOT_KNOWN
    ratio = ratio_in_each_round(one.images_per_s, other.images_per_s)
    return f"{ratio.median:.2f} ({ratio.least:.2f}-{ratio.largest:.2f})"


def _difference(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other


def _megabytes(count: int | None) -> str:
    return NOT_KNOWN if count is None else f"{count / 1e6:,.0f}"
