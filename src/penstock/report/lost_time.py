"""Where the accelerator's time goes: into steps, and into waiting for parts of the loading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.report import wording
from penstock.report.figure import Run, is_on_cpu
from penstock.report.markup import Html, element
from penstock.results.records import Analysis

# What an analysis calls a part, in words, in the order in which pieces follow each other.
WORDS = {
    "busy": "training",
    "fetch": "waiting for files",
    "prepare": "waiting for images to be prepared",
    "transfer": "waiting for copies to the device",
    "other": "waiting for data",
}
LATER = "training"  # the row of one run alone
COLD = (
    "The first epoch is one whose files the system had to fetch from storage first; the time to "
    "start up is part of it."
)
LEAST_SHARE = 0.005  # less is noise
LEAST_LABELLED = 0.07  # a shorter piece has no room for its figure
LEAST_LABELLED_SMALL = 0.2  # on a phone


@dataclass(frozen=True, slots=True)
class Piece:
    """A share of the accelerator's time."""

    part: str  # a key of WORDS
    share: float

    @property
    def text(self) -> str:
        """The share, and what it went into."""
        return f"{wording.percent(self.share)} {WORDS[self.part]}"


def split_time(analysis: Analysis) -> list[Piece]:
    """Return the pieces that are worth telling; none if nobody knows what was lost."""
    if analysis.stall is None:
        return []
    stall = min(max(analysis.stall, 0.0), 1.0)
    shares = {"busy": 1 - stall}
    shares |= {name: analysis.stall_parts.get(name, 0.0) for name in WORDS if name != "busy"}
    shares["other"] += max(0.0, stall - sum(analysis.stall_parts.values()))
    return [Piece(part, share) for part, share in shares.items() if share >= LEAST_SHARE]


def split_first_epoch(analysis: Analysis) -> list[Piece]:
    """Return the pieces of an epoch whose files were not in memory; none if it was not run."""
    synthetic = analysis.synthetic
    if analysis.first_epoch is None or synthetic is None or synthetic.median <= 0:
        return []
    lost = analysis.first_epoch.lost(synthetic.median)
    shares = {"busy": max(0.0, 1 - sum(lost.values()))} | lost
    return [Piece(part, share) for part, share in shares.items() if share >= LEAST_SHARE]


def draw_lost_time(runs: Sequence[Run]) -> Html:
    """Return bars of the accelerator's time for each run, as far as they are known."""
    drawn = {}
    for run in runs:
        drawn[run.name] = split_time(run.analysis)
        drawn[f"{run.name}, first epoch".removeprefix(", ")] = split_first_epoch(run.analysis)
    drawn = {name: pieces for name, pieces in drawn.items() if pieces}
    if not drawn:
        return Html()
    used = [part for part in WORDS if any(p.part == part for row in drawn.values() for p in row)]
    return element(
        "section",
        element("h2", _title(runs[-1].analysis)),
        *(_row(name, pieces) for name, pieces in drawn.items()),
        element(
            "p",
            *(element("span", element("i", class_=part), WORDS[part]) for part in used),
            class_="legend",
        ),
        element("p", COLD, class_="caption") if any("epoch" in name for name in drawn) else Html(),
        class_="card",
        id="lost-time",
    )


def _title(analysis: Analysis) -> str:
    if is_on_cpu(analysis):
        return "Where the time of training goes"
    if not analysis.is_emulated or analysis.synthetic is None:
        return "Where the accelerator's time goes"
    return f"Where the time of an accelerator of {wording.rate(analysis.synthetic.median)} would go"


def _row(name: str, pieces: Sequence[Piece]) -> Html:
    return element(
        "div",
        element("span", name or LATER, class_="run"),
        element("div", *map(_piece, pieces), class_="time"),
        class_="row",
    )


def _piece(piece: Piece) -> Html:
    label = wording.percent(piece.share) if piece.share >= LEAST_LABELLED else ""
    width = f"width:{100 * piece.share:.2f}%"
    # A phone has no room for the figure of a short piece.
    kind = f"{piece.part} short" if piece.share < LEAST_LABELLED_SMALL else piece.part
    return element("span", label, class_=kind, style=width, title=piece.text)
