"""The top of the page: the verdict with its evidence and rates, and where the time goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.report import wording
from penstock.report.figure import Run, is_on_cpu
from penstock.report.markup import Html, element
from penstock.report.summary import headline, loader_speed_up, speed_up
from penstock.results.records import Analysis, CoreRate

NO_CHANGE = 0.02  # runs of the same thing differ by more
FED = 0.1  # an accelerator that loses less is the limit
LONG_SENTENCE = 110  # characters: more do not fit into a few large lines
ARROW = element("span", " → ", class_="arrow", aria_label="then")

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


def draw_opening(analysis: Analysis, before: Analysis | None, note: str = "") -> Html:
    """Return the verdict in one large sentence, and what it rests on.

    After a change the sentence is what it brought; both verdicts stand under it. Doubtful figures
    have a banner instead.
    """
    under = element("p", note, class_="condition") if note else Html()
    if before is None:
        parts = [
            element("p", *_pills(analysis), class_="pills"),
            _headline(analysis),
            under,
            Html() if analysis.banner else _tiles(analysis),
            _evidence(analysis),
        ]
    else:
        parts = [
            element("p", *_device_pills(analysis), class_="pills"),
            *_gain(before, analysis),
            under,
            element("div", _side("Before", before), _side("After", analysis), class_="cards"),
            Html() if before.banner or analysis.banner else _comparison(before, analysis),
        ]
    return element("section", *parts, class_="opening", id="verdict")


def _headline(analysis: Analysis) -> Html:
    if analysis.banner:
        return element("p", analysis.banner, class_="banner", role="alert")
    is_long = len(analysis.sentence) > LONG_SENTENCE
    return element("h1", analysis.sentence, **({"class_": "long"} if is_long else {}))


def _pills(analysis: Analysis) -> Iterable[Html]:
    yield element("span", analysis.verdict.value, class_="pill verdict")
    yield from _device_pills(analysis)


def _device_pills(analysis: Analysis) -> Iterable[Html]:
    yield element("span", f"device: {analysis.device}", class_="pill")
    if analysis.is_emulated:
        yield element("span", "emulated accelerator", class_="pill warning")


def _evidence(analysis: Analysis) -> Html:
    if not analysis.evidence:
        return Html()
    return element("ul", *(element("li", line) for line in analysis.evidence), class_="evidence")


def _side(name: str, analysis: Analysis) -> Html:
    return element(
        "article",
        element(
            "header",
            element("h2", f"{name}: {analysis.title}"),
            element("span", analysis.verdict.value, class_="pill verdict"),
        ),
        Html() if analysis.banner else element("p", analysis.sentence, class_="sentence"),
        element("details", element("summary", "Evidence"), _evidence(analysis))
        if analysis.evidence
        else Html(),
        class_="card side",
    )


def _gain(before: Analysis, after: Analysis) -> Iterable[Html]:
    """Yield the gain of a change: in training, or of the loader alone if nothing really trained."""
    banner = after.banner or before.banner
    if banner:
        yield element("p", banner, class_="banner", role="alert")
        return
    training = speed_up(before, after)
    if not after.is_emulated:
        yield _told("Training is", training)
        return
    yield _told("The loader alone is", loader_speed_up(before, after))
    if training is not None:
        condition = after.assumption or f"with an emulated accelerator ({after.device})"
        condition = condition[0].upper() + condition[1:]
        brought = f"training would be {wording.factor(training)} as fast as before"
        limit = ""
        if after.stall is not None and after.stall < FED:
            limit = ": that accelerator could not take more"
        yield element("p", f"{condition}, {brought}{limit}.", class_="condition")


def _told(what: str, faster: float | None) -> Html:
    if faster is None:
        return element("h1", "Before and after, side by side.")
    if abs(faster - 1) < NO_CHANGE:
        return element("h1", f"{what} as fast as before.")
    if faster > 1:
        text = f"{what} {wording.factor(faster)} as fast as before."
        return element("h1", text, class_="better")
    text = f"{what} slower than before: {wording.factor(faster)} the rate."
    return element("h1", text, class_="worse")


def _tiles(analysis: Analysis) -> Html:
    tiles = [_tile(name, element("strong", value), note) for name, value, note in _sums(analysis)]
    return element("div", *tiles, class_="tiles") if tiles else Html()


def _tile(name: str, value: Html, note: str) -> Html:
    return element(
        "div",
        element("span", name, class_="name"),
        value,
        element("span", note, class_="note"),
        class_="tile",
    )


def _sums(analysis: Analysis) -> Iterable[tuple[str, str, str]]:
    """Yield a name, a value and a note for each figure that is known."""
    sums = headline(analysis)
    if sums.synthetic is not None:
        if analysis.is_emulated:
            name, note = "Accelerator", "images/s, assumed"
        else:
            name = "Step alone" if is_on_cpu(analysis) else "Accelerator alone"
            note = "images/s it could take"
        yield name, wording.number(sums.synthetic), note
    if sums.pipeline is not None:
        yield "Pipeline alone", wording.number(sums.pipeline.rate.median), _on_cores(sums.pipeline)
    if sums.end_to_end is not None:
        value = wording.number(sums.end_to_end.rate.median)
        yield "End to end", value, _on_cores(sums.end_to_end)
    if analysis.stall is not None:
        would = "would be lost" if analysis.is_emulated else "of the accelerator's time"
        would = "of the step's speed, to loading" if is_on_cpu(analysis) else would
        yield "Lost", wording.percent(analysis.stall), would


def _on_cores(rate: CoreRate) -> str:
    predicted = "" if rate.is_measured else ", predicted"
    return f"images/s on {wording.count(rate.cores, 'core')}{predicted}"


def _comparison(before: Analysis, after: Analysis) -> Html:
    old = {name: value for name, value, _ in _sums(before)}
    new = {name: (value, note) for name, value, note in _sums(after)}
    tiles = []
    for name in dict.fromkeys([*old, *new]):
        was, (value, note) = old.get(name, wording.UNKNOWN), new.get(name, (wording.UNKNOWN, ""))
        then = [] if was == value else [element("span", was, class_="old"), ARROW]
        change = element("span", *then, element("strong", value), class_="change")
        tiles.append(_tile(name, change, note))
    return element("div", *tiles, class_="tiles") if tiles else Html()


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
    """Return the pieces that are worth showing; none if it is not known what was lost."""
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
