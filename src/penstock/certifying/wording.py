"""What was found, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from penstock.certifying.comparison import ImageResult, Status
from penstock.certifying.images import FLOATS, INTEGERS

if TYPE_CHECKING:
    from penstock.certifying.result import Certification

# Why images could not be compared, and what to do about it.
ADVICE = {
    Status.UNKNOWN: "differ, and it is not known by how much: make certificates with --pixels",
    Status.SHAPE: "have another shape on the other side",
    Status.LAYOUT: (
        "have their channels first on one side and last on the other: transpose one of both"
    ),
    Status.ONLY_A: "are only in A",
    Status.ONLY_B: "are only in B",
}
NO_SCALE = (
    "no scale is guessed: end both pipelines in the same type, as by "
    "ToDtype(torch.float32, scale=True), or compare before that step"
)
MOST_NAMED = 3


def verdict(found: Certification) -> str:
    """Return what was found in a few sentences; the first one is what matters most."""
    results = found.images
    images = "image" if len(results) == 1 else "images"
    if found.equal:
        labels = "and so are their labels" if found.has_labels else "there are no labels to compare"
        labels = labels if found.labels_compared else "labels were not compared"
        if len(results) == 1:
            return f"The one image is equal, bit for bit; {_of_one(labels)}."
        joined = f", {labels}" if labels.startswith("and") else f"; {labels}"
        return f"All {len(results):,} images are equal, bit for bit{joined}."
    sentences = [
        *_differing(results, images),
        *_incomparable(results, images),
        *_labels(results, images),
        *_tolerance(found),
    ]
    return " ".join(sentences)


def _of_one(labels: str) -> str:
    return {"and so are their labels": "so is its label"}.get(labels, labels)


def _differing(results: Sequence[ImageResult], images: str) -> Iterator[str]:
    differing = [result for result in results if result.difference is not None]
    figures = [result.difference for result in differing if result.difference is not None]
    if not figures:
        return
    which = f"{len(differing):,} of {len(results):,} {images} differ"
    which = "The one image differs" if len(results) == 1 else which
    largest = max(figure.largest for figure in figures)
    share = sum(figure.share for figure in figures) / len(figures)
    not_finite = [one for one in differing if one.difference and one.difference.not_finite]
    odd = f"values that are NaN or infinite on one side ({named(not_finite)})"
    if largest == 0:
        why = odd if not_finite else "bits alone, not in values (as -0.0 from 0.0)"
        yield f"{which} in {why}."
        return
    kinds = {result.dtype for result in differing}
    far = amount(largest, whole=kinds <= set(INTEGERS))
    yield f"{which}, by at most {far} in {percent(share)} of their values."
    if not_finite:
        those = "One of them differs" if len(not_finite) == 1 else f"{len(not_finite):,} differ"
        yield f"{those} in {odd}."


def _incomparable(results: Sequence[ImageResult], images: str) -> Iterator[str]:
    for status, what in ADVICE.items():
        those = [result for result in results if result.status == status]
        if those:
            yield f"{len(those):,} of {len(results):,} {images} {what} ({named(those)})."
    typed = [result for result in results if result.status == Status.TYPE]
    if typed:
        yield (
            f"{len(typed):,} of {len(results):,} {images} cannot be compared: "
            f"{typed[0].note.partition(';')[0]}; {NO_SCALE} ({named(typed)})."
        )


def _labels(results: Sequence[ImageResult], images: str) -> Iterator[str]:
    paired = [result for result in results if result.status not in {Status.ONLY_A, Status.ONLY_B}]
    those = [result for result in paired if not result.labels_equal]
    if those:
        first = those[0].note.rpartition("; ")[2]
        yield (
            f"The labels of {len(those):,} of {len(results):,} {images} differ "
            f"({those[0].name}: {first})."
        )


def _tolerance(found: Certification) -> Iterator[str]:
    if found.tolerance is None:
        return
    beyond = [result for result in found.images if not result.within(found.tolerance)]
    if beyond:
        yield (
            f"{len(beyond):,} are not within the tolerance of {found.tolerance:g} "
            f"({named(beyond)})."
        )
    else:
        yield f"All are within the tolerance of {found.tolerance:g}."


def named(results: Sequence[ImageResult]) -> str:
    """Return the names of the first images, and how many there are besides."""
    first = ", ".join(result.name for result in results[:MOST_NAMED])
    more = len(results) - MOST_NAMED
    return f"{first} and {more:,} more" if more > 0 else first


def amount(value: float, *, whole: bool) -> str:
    """Return a difference of values."""
    if not whole:
        return f"{value:.3g}"
    return "one level" if value == 1 else f"{value:,.0f} levels"


def percent(share: float) -> str:
    """Return a share with as many digits as it takes to be more than nothing."""
    in_percent = 100 * share
    if in_percent >= 99.95 and share < 1:
        return "nearly 100%"
    return f"{in_percent:.3g}%"


def decibels(value: float | None) -> str:
    """Return a PSNR."""
    return "-" if value is None else f"{value:.1f} dB"


def where(result: ImageResult) -> str:
    """Return where an image differs."""
    difference = result.difference
    if difference is None or difference.box is None or difference.worst is None:
        return ""
    left, top, right, bottom = difference.box
    worst = difference.worst
    whole = result.dtype not in FLOATS
    one, other = (f"{value:,.0f}" if whole else f"{value:.4g}" for value in (worst.a, worst.b))
    return (
        f"columns {left} to {right - 1}, rows {top} to {bottom - 1}; worst at row {worst.row}, "
        f"column {worst.column}, channel {worst.channel}: {one} against {other}"
    )


def told_lines(found: Certification) -> Iterator[str]:
    """Yield what the command line prints."""
    yield found.verdict
    yield ""
    yield f"A  {found.title_a}"
    yield f"B  {found.title_b}"
    yield found.matched
    yield from found.notes
    worst = [result for result in found.ranked() if result.difference is not None][:5]
    if worst:
        yield ""
        yield from _table(found, worst)
        yield f"PSNR is relative to {found.peak_said}."
    bins = found.bins()
    if worst and bins:
        yield ""
        values = sum(entry.values for entry in bins)
        rows = [
            (entry.title, f"{entry.images:,}", percent(entry.values / values)) for entry in bins
        ]
        yield from _aligned([("difference", "images, by their largest", "values"), *rows])
    yield ""
    same = found.certificate.content == found.certificate_b.content
    order = ", in another order" if found.equal else ""
    yield f"content of A  {found.certificate.content}"
    yield f"content of B  {'the same' if same else found.certificate_b.content + order}"


def _table(found: Certification, worst: Sequence[ImageResult]) -> Iterator[str]:
    rows = [("worst images", "largest", "mean", "values", "PSNR")]
    for result in worst:
        difference = result.difference
        if difference is not None:
            rows.append(
                (
                    result.name,
                    f"{difference.largest:.4g}",
                    f"{difference.mean:.3g}",
                    percent(difference.share),
                    decibels(found.psnr(result)),
                )
            )
    yield from _aligned(rows)
    yield f"{worst[0].name}: {where(worst[0])}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for first, *others in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([f"{first:<{widths[0]}}", *cells])
