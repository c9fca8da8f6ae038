"""The report: the verdict, the worst images side by side, the distribution, and what ran.

One HTML file with the look of the other reports, that needs no network and draws no charts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from math import log10

from penstock._version import __version__
from penstock.certifying import wording
from penstock.certifying.comparison import ImageResult, WorstImage
from penstock.certifying.pictures import draw_pictures
from penstock.certifying.result import Certification
from penstock.errors import OutputError
from penstock.report.markup import Html, element
from penstock.report.sections import table

CONTENT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
)
STYLES = ("colours.css", "page.css", "small_and_print.css")
LONG_VERDICT = 110  # characters: more do not fit into a few large lines
MOST_ROWS = 50  # images in the table; more are in the JSON
LEAST_BAR = 0.01  # so that one image among a million can be seen


def write_page(found: Certification, path: str | os.PathLike[str]) -> None:
    """Write the report into a file."""
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(draw_page(found))
    except OSError as error:
        raise OutputError(
            f"{os.fspath(path)}: cannot write the report: {error.strerror}. Name a file in a "
            "folder that you may write to."
        ) from error


def draw_page(found: Certification) -> str:
    """Return the report as a page of HTML."""
    sides = found.title_a, found.title_b
    title = " and ".join(side.partition(" (")[0].rpartition("/")[2] for side in sides)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_POLICY),
        element("title", f"{title}: {'equal' if found.equal else 'different'}"),
        element("style", *(_resource("penstock.report", name) for name in STYLES)),
        element("style", _resource("penstock.certifying", "page.css")),
        element("script", _resource("penstock.report", "theme.js")),
    )
    masthead = element(
        "header",
        element("span", "penstock", class_="brand"),
        element("span", title, class_="subject"),
        element("button", "◐", type="button", id="theme", aria_label="light or dark"),
        class_="masthead",
    )
    main = element(
        "main",
        _opening(found),
        _distribution(found),
        _worst(found),
        _different(found),
        _ran(found),
    )
    foot = element("footer", f"Written by penstock {__version__}. This file needs no network.")
    page = element("html", head, element("body", masthead, main, foot), lang="en")
    return Html(f"<!doctype html>\n{page}\n")


def _opening(found: Certification) -> Html:
    result = "equal" if found.equal else "within tolerance" if found.passed else "different"
    pills = [
        element("span", result, class_="pill verdict" if found.passed else "pill warning"),
        element("span", f"{len(found.images):,} images", class_="pill"),
    ]
    first, _, rest = found.verdict.partition(". ")
    first = f"{first}." if rest else first
    is_long = {"class_": "long"} if len(first) > LONG_VERDICT else {}
    notes = [f"A: {found.title_a}", f"B: {found.title_b}", found.matched, *found.notes]
    return element(
        "section",
        element("p", *pills, class_="pills"),
        element("h1", first, **is_long),
        element("p", rest, class_="condition") if rest else Html(),
        element("ul", *(element("li", note) for note in notes), class_="evidence"),
        class_="opening",
        id="verdict",
    )


def _worst(found: Certification) -> Html:
    if not found.worst:
        return Html()
    caption = f"PSNR is relative to {found.peak_said}. Differences are shown amplified."
    return element(
        "section",
        element("h2", "The images that are furthest apart"),
        element("p", caption, class_="caption"),
        element("div", *(_trio(found, image) for image in found.worst), class_="worst"),
        id="worst",
    )


def _trio(found: Certification, image: WorstImage) -> Html:
    pictures = draw_pictures(image)
    name = image.result.name
    times = (
        f"{pictures.amplified:,.0f}" if pictures.amplified >= 10 else f"{pictures.amplified:.2g}"
    )
    shown = [
        (pictures.a, "A", f"{name} in A"),
        (pictures.b, "B", f"{name} in B"),
        (pictures.difference, f"|A - B|, times {times}", f"where {name} differs"),
    ]
    trio = [
        element("figure", element("img", src=uri, alt=words), element("figcaption", caption))
        for uri, caption, words in shown
    ]
    figures = [
        element("tr", element("th", title, scope="row"), element("td", value, class_="number"))
        for title, value in _figures(found, image.result)
    ]
    words = [wording.where(image.result), pictures.scaled]
    return element(
        "article",
        element("div", *trio, class_="trio"),
        element(
            "div",
            element("h3", name),
            element("table", element("tbody", *figures)),
            *(element("p", text, class_="caption") for text in words if text),
        ),
        class_="card pair",
    )


def _figures(found: Certification, result: ImageResult) -> Iterator[tuple[str, str]]:
    difference = result.difference
    if difference is None:
        return
    yield "largest", f"{difference.largest:.4g}"
    yield "mean", f"{difference.mean:.3g}"
    yield "values that differ", wording.percent(difference.share)
    yield "PSNR", wording.decibels(found.psnr(result))
    if difference.not_finite:
        yield "NaN or infinite on one side", f"{difference.not_finite:,}"


def _distribution(found: Certification) -> Html:
    bins = found.bins()
    if not bins or found.equal:
        return Html()
    values = sum(entry.values for entry in bins) or 1
    images = max(entry.images for entry in bins) or 1
    rows = [
        [
            entry.title,
            f"{entry.images:,}",
            _bar(entry.images / images),
            wording.percent(entry.values / values),
            _bar(_on_log_scale(entry.values / values)),
        ]
        for entry in bins
    ]
    head = ("difference", "images", "by their largest", "values", "on a logarithmic scale")
    return element(
        "section",
        element("h2", "How far apart, how often"),
        table(head, rows, "text number graph number graph"),
        id="distribution",
    )


def _on_log_scale(share: float) -> float:
    """Return the length of a bar: from one in a hundred million to all."""
    return max(LEAST_BAR, 1 + log10(share) / 8) if share > 0 else 0.0


def _bar(share: float) -> Html:
    length = max(share, LEAST_BAR) if share > 0 else 0.0
    inside = element("span", style=f"width:{100 * min(length, 1.0):.1f}%")
    return element("span", inside, class_="bar")


def _different(found: Certification) -> Html:
    ranked = found.ranked()
    if not ranked:
        return Html()
    rows = [
        [
            element("code", result.name),
            result.status.value,
            "" if result.difference is None else f"{result.difference.largest:.4g}",
            "" if result.difference is None else wording.percent(result.difference.share),
            "" if result.difference is None else wording.decibels(found.psnr(result)),
            result.note,
        ]
        for result in ranked[:MOST_ROWS]
    ]
    head = ("image", "is", "largest", "values", "PSNR", "")
    left = len(ranked) - MOST_ROWS
    more = element("p", f"{left:,} more are in the output of --json.", class_="caption")
    return element(
        "section",
        element(
            "details",
            element("summary", f"All {len(ranked):,} images that are not equal"),
            table(head, rows, "text text number number number text"),
            more if left > 0 else Html(),
        ),
        id="different",
    )


def _ran(found: Certification) -> Html:
    sides = found.certificate, found.certificate_b
    rows: list[list[str]] = [
        ["what", *(side.subject for side in sides)],
        ["class", *(side.kind for side in sides)],
        ["transform", *(side.transform or "" for side in sides)],
        ["seed, epoch", *(f"{side.seed}, {side.epoch}" for side in sides)],
        ["images", *(f"{len(side.images):,}" for side in sides)],
    ]
    for part in ("versions", "cpu"):
        tables = [getattr(side, part) for side in sides]
        names = dict.fromkeys(name for entries in tables for name in entries)
        cpu = "CPU, as used by " if part == "cpu" else ""
        rows += [[f"{cpu}{name}", *(entry.get(name, "") for entry in tables)] for name in names]
    rows.append(["content", *(element("code", side.content, class_="hash") for side in sides)])
    kept = [row for row in rows if any(row[1:])]
    return element(
        "section",
        element("h2", "What ran"),
        table(("", "A", "B"), kept, "text text text"),
        id="environment",
    )


def _resource(package: str, name: str) -> Html:
    return Html(files(package).joinpath(name).read_text(encoding="utf-8"))
