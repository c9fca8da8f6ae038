"""Findings as files: an SVG for each figure, a page of Markdown, and one HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from penstock._version import __version__
from penstock.errors import OutputError
from penstock.experiments.findings import CONFIG, Claim, Findings, Picture, Table
from penstock.experiments.journal import Journal
from penstock.report.figure import Spec
from penstock.report.markup import Html, element, join, json_block
from penstock.report.sections import table
from penstock.report.vega import draw_svg

REPORT_NAME = "report.html"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLES = ("colours.css", "page.css", "small_and_print.css")
_WIDTH_PX, _HEIGHT_PX = 460, 260


def write_pages(findings: Findings, journal: Journal, folder: Path) -> None:
    """Write `NAME.md`, `KEY.svg` for each figure, and `report.html`."""
    drawings = {picture.key: draw_svg(completed(picture.spec)) for picture in findings.pictures}
    pages = {f"{key}.svg": svg for key, svg in drawings.items()}
    pages[f"{journal.experiment}.md"] = findings.to_markdown()
    pages[REPORT_NAME] = draw_report(findings, journal, drawings)
    for name, text in pages.items():
        try:
            (folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise OutputError(
                f"{folder / name}: cannot be written: {error.strerror}. "
                "The measurements are kept; draw them again with --redraw."
            ) from error


def completed(spec: Spec) -> Spec:
    """Return a chart with the look that all of them share, and a size if it has none."""
    sized = (
        {} if "facet" in spec or "hconcat" in spec else {"width": _WIDTH_PX, "height": _HEIGHT_PX}
    )
    return {**sized, **spec, "config": CONFIG | spec.get("config", {})}


def draw_report(findings: Findings, journal: Journal, drawings: dict[str, str]) -> str:
    """Return one page of HTML that needs nothing else; figures are drawn inside."""
    body = element(
        "main",
        element("h1", findings.title),
        element("p", findings.question),
        element("ul", *(element("li", line) for line in findings.setting)),
        _claims(findings.claims),
        *(_picture(picture, drawings[picture.key]) for picture in findings.pictures),
        *map(_table, findings.tables),
        _notes(findings.notes),
        element(
            "section",
            element("h2", "Environment"),
            table(("", ""), [[*pair] for pair in journal.environment.items()], "text text"),
            id="environment",
        ),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", findings.title),
        element("style", *map(_style, _STYLES)),
    )
    masthead = element(
        "header",
        element("span", "penstock", class_="brand"),
        element("span", f"experiment {journal.experiment}", class_="subject"),
        class_="masthead",
    )
    foot = element("footer", f"Written by penstock {__version__}. This file needs no network.")
    figures = json_block("figures", journal.measurements)
    page = element("html", head, element("body", join([masthead, body, foot, figures])), lang="en")
    return Html(f"<!doctype html>\n{page}\n")


def _claims(claims: Sequence[Claim]) -> Html:
    rows = [
        [claim.says, element("strong", claim.judgement.value), claim.because] for claim in claims
    ]
    if not rows:
        return Html()
    shown = table(("claim", "here", "because"), rows, "text text text")
    return element("section", element("h2", "Claims"), shown, id="claims")


def _picture(picture: Picture, svg: str) -> Html:
    return element(
        "figure",
        element("h2", picture.title),
        element("div", Html(svg), class_="scroll", role="img", aria_label=picture.title),
        element("figcaption", picture.caption),
        class_="card wide",
        id=picture.key,
    )


def _table(found: Table) -> Html:
    kinds = " ".join(["text", *["number"] * (len(found.head) - 1)])
    note = element("p", found.note, class_="caption") if found.note else Html()
    return element(
        "section", element("h2", found.title), table(found.head, found.rows, kinds), note
    )


def _notes(notes: Sequence[str]) -> Html:
    lines = [element("li", note) for note in notes]
    if not lines:
        return Html()
    return element("section", element("h2", "Notes"), element("ul", *lines), id="notes")


def _style(name: str) -> Html:
    return Html(files("penstock.report").joinpath(name).read_text(encoding="utf-8"))
