"""The figures as Markdown tables, for the terminal and for files alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.answer import Answer
from benchmarks.peers import LOAD, REFERENCES
from benchmarks.runner import Measured
from benchmarks.summary import Spread, find, ratio_in_each_round, share_lost

SPEED_HEADINGS = ("peer", "cores", "images/s", "x torchvision", "x one core")
PIXEL_HEADINGS = ("KB an image", "off by at most", "in the mean")
COST_HEADINGS = (
    *("peer", "cores", "RSS MB", "PSS MB", "of its own MB", "of that batches MB", "beyond them MB"),
    "first batch s",
)
LAYER_HEADINGS = ("peer", "cores", "layers", "images/s", "x torchvision", "lost, %")
WORK_HEADINGS = ("format", "work", "cores", "images/s", "peak RSS MB")
SCALE_HEADINGS = ("samples", "Loader s", "first batch s", "warm s", "of its own MB", "mapped MB",
                  "resumed s")  # fmt: skip
MOST_LEFT_IN_MEMORY = 0.05  # of files that should have been dropped from it
NOT_KNOWN = "-"
OURS, RIVAL = "penstock_packed", "ffcv_raw_500"  # both write files of their own first


def report(answer: Answer) -> str:
    """Return question, machine, versions, speeds and costs as Markdown text.

    A cell such as 300 (290-310) holds the median, the least and the largest of the rounds.
    """
    return "\n".join([answer.question + ".", "", *about(answer), "", *tables(answer), ""])


def about(answer: Answer) -> list[str]:
    """Return a list of what was measured with and how, and of who is missing."""
    versions: dict[str, str] = {}
    for one in answer.outcome.measured:
        versions.update(one.versions)
    named = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return [
        f"- {answer.machine}",
        *([f"- {named}"] if named else []),
        f"- {answer.setting}",
        f"- different photos: {answer.different_photos:,}",
        *(f"- left out: {reason}" for reason in answer.outcome.left_out.values()),
        *_notes(answer.outcome.measured),
    ]


def _notes(measured: Sequence[Measured]) -> Iterator[str]:
    for one in measured:
        rival = find(measured, RIVAL, one.cores)
        if one.peer == OURS and one.work == LOAD and not one.layers and rival is not None:
            yield (
                f"- {one.label}, over {rival.label}, on {one.cores} core(s): {_ratio(one, rival)}"
            )
    for reason in dict.fromkeys(one.pixel_note for one in measured if one.pixel_note):
        yield f"- no pixels to compare: {reason}"
    for one in measured:
        if one.left_in_memory > MOST_LEFT_IN_MEMORY:
            yield (
                f"- {one.label}: up to {one.left_in_memory:.0%} of its files could not be dropped "
                "from memory"
            )


def tables(answer: Answer) -> list[str]:
    """Return the lines of the tables of a case."""
    measured = answer.outcome.measured
    if answer.rows:
        return aligned(answer.rows)
    if answer.scale:
        return aligned([SCALE_HEADINGS, *(scale_row(row) for row in answer.scale)])
    if any(one.layers for one in measured):
        return aligned([LAYER_HEADINGS, *(layer_row(one, measured) for one in measured)])
    if any(one.work != LOAD for one in measured):
        return aligned([WORK_HEADINGS, *(work_row(one) for one in measured)])
    return [
        *aligned(
            [
                SPEED_HEADINGS + PIXEL_HEADINGS,
                *(speed_row(one, measured) + pixel_row(one) for one in measured),
            ]
        ),
        "",
        *aligned([COST_HEADINGS, *(cost_row(one) for one in measured)]),
    ]


def speed_row(one: Measured, measured: Sequence[Measured]) -> tuple[str, ...]:
    """Return a peer's speed, and its ratios to the reference and to itself on one core.

    Those on one core and on two do not take turns with each other, so that ratio is of medians.
    """
    on_one_core = find(measured, one.peer, 1) if one.cores > 1 else None
    return (
        one.label,
        str(one.cores),
        _rate(one),
        _ratio(one, _reference(measured, one.cores)),
        f"{median(one.images_per_s) / median(on_one_core.images_per_s):.2f}"
        if on_one_core
        else NOT_KNOWN,
    )


def pixel_row(one: Measured) -> tuple[str, ...]:
    """Return how large its images are on the disk, and how far off its pixels are."""
    size = NOT_KNOWN if one.bytes_per_image is None else f"{one.bytes_per_image / 1e3:,.1f}"
    if one.pixel_error is None:
        return (size, NOT_KNOWN, NOT_KNOWN)
    largest, mean = one.pixel_error
    return (size, str(largest), f"{mean:.2f}" if mean else "0")


def work_row(one: Measured) -> tuple[str, ...]:
    """Return the speed of another work than loading."""
    return (one.label, one.work, str(one.cores), _rate(one), _megabytes(one.peak.rss_bytes))


def scale_row(row: dict[str, Any]) -> tuple[str, ...]:
    """Return what a data set of one size takes."""
    return (
        f"{row['samples']:,}",
        f"{row['open_s']:.3f}",
        f"{row['first_batch_s']:.2f}",
        f"{row['warm_first_batch_s']:.2f}",
        f"{row['own_mb']:,.0f}",
        f"{row['mapped_mb']:,.0f}",
        f"{row['resume_s']:.2f}",
    )


def layer_row(one: Measured, measured: Sequence[Measured]) -> tuple[str, ...]:
    """Return a peer's speed with some layers: absolute, against the reference, against none."""
    without = find(measured, one.peer, one.cores) if one.layers else None
    lost = share_lost(one, without) if without else None
    return (
        one.label,
        str(one.cores),
        str(one.layers),
        _rate(one),
        _ratio(one, _reference(measured, one.cores, one.layers)),
        f"{lost.median:.1%} ({lost.least:.1%}-{lost.largest:.1%})".replace("%", "")
        if lost
        else NOT_KNOWN,
    )


def cost_row(one: Measured) -> tuple[str, ...]:
    """Return a peer's memory at its peak, and how long it took to start."""
    own = _difference(one.peak.own_bytes, one.idle.own_bytes)
    return (
        one.label,
        str(one.cores),
        _megabytes(one.peak.rss_bytes),
        _megabytes(one.peak.pss_bytes),
        _megabytes(own),
        _megabytes(one.promised_bytes or None),
        _megabytes(_difference(own, one.promised_bytes or None)),
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


def _rate(one: Measured) -> str:
    rate = Spread.of(one.images_per_s)
    return f"{rate.median:,.0f} ({rate.least:,.0f}-{rate.largest:,.0f})"


def _ratio(one: Measured, other: Measured | None) -> str:
    if other is None:
        return NOT_KNOWN
    ratio = ratio_in_each_round(one.images_per_s, other.images_per_s)
    return f"{ratio.median:.2f} ({ratio.least:.2f}-{ratio.largest:.2f})"


def _difference(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other


def _megabytes(count: int | None) -> str:
    return NOT_KNOWN if count is None else f"{count / 1e6:,.0f}"
