"""What an experiment found: words, claims, tables and figures; as text, Markdown or HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any

from penstock.report.figure import Spec

# Okabe and Ito's colours, told apart by people who see fewer of them.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#6f7a84", "#1b1f23")

_INK, _MUTED, _GRID = "#1b1f23", "#5c666f", "#e1e4e6"
CONFIG: Spec = {
    "background": "#ffffff",
    "font": "system-ui, sans-serif",
    # A browser's letters may be wider than those that the drawing was measured with.
    "padding": {"left": 16, "top": 5, "right": 28, "bottom": 5},
    "view": {"stroke": None},
    "aria": False,  # pages label a figure as a whole; labels of each mark would double its size
    "range": {"category": list(COLOURS)},
    "axis": {
        "labelColor": _MUTED,
        "titleColor": _MUTED,
        "titleFontWeight": "normal",
        "gridColor": _GRID,
        "domainColor": _GRID,
        "tickColor": _GRID,
    },
    "legend": {"labelColor": _INK, "titleColor": _MUTED, "titleFontWeight": "normal"},
    "header": {"labelColor": _INK, "titleColor": _MUTED, "titleFontWeight": "normal"},
}


class Judgement(Enum):
    """What became of a claim here."""

    HOLDS = "holds"
    FAILS = "does not hold"
    DEPENDS = "depends"
    UNTESTED = "not tested"


@dataclass(frozen=True, slots=True)
class Claim:
    """A study's sentence, and what was found here."""

    says: str
    judgement: Judgement
    because: str  # the figures, or on what it depends


@dataclass(frozen=True, slots=True)
class Table:
    """A table under a heading; the first column is text, the others are figures."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart in Vega-Lite; `key` names its SVG file."""

    key: str
    title: str
    caption: str
    spec: Spec


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a report shows."""

    title: str
    question: str  # a sentence or two: what was asked
    setting: Sequence[str]  # what was measured with, one line each; distinct photos among them
    claims: Sequence[Claim] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()  # what is missing and why, cautions, what is out of scope

    def with_notes(self, *notes: str) -> Findings:
        """Return the same with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        found = asdict(self)
        for claim in found["claims"]:
            claim["judgement"] = claim["judgement"].value
        return found

    def lines(self) -> list[str]:
        """Return claims and tables as lines for a terminal."""
        told = [self.title, "", *self.setting, ""]
        for claim in self.claims:
            told += [f"{claim.judgement.value.upper()}: {claim.says}", f"    {claim.because}"]
        for table in self.tables:
            told += ["", table.title, *aligned([table.head, *table.rows])]
            told += [table.note] if table.note else []
        return [*told, "", *(f"- {note}" for note in self.notes)]

    def to_markdown(self) -> str:
        """Return a page of Markdown that shows the figures from files beside it."""
        parts = [f"# {self.title}", self.question, bullets(self.setting)]
        if self.claims:
            rows = [(claim.says, claim.judgement.value, claim.because) for claim in self.claims]
            parts += ["## Claims", text_table(("claim", "here", "because"), rows)]
        for picture in self.pictures:
            parts += [
                f"## {picture.title}",
                f"![{picture.title}]({picture.key}.svg)",
                picture.caption,
            ]
        for table in self.tables:
            parts += [f"## {table.title}", "\n".join(markdown_table(table.head, table.rows))]
            parts += [table.note] if table.note else []
        if self.notes:
            parts += ["## Notes", bullets(self.notes)]
        return "\n\n".join(parts) + "\n"


def bullets(lines: Iterable[str]) -> str:
    """Return lines as a list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return cells in columns, the first one to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table of figures that reads well even where nobody renders it."""
    cells = [[_cell(text) for text in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [
        [
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in (cells[0], rule, *cells[1:])
    ]
    return [f"| {' | '.join(line)} |" for line in lines]


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of sentences in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
