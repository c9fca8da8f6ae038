"""The top of the page: the verdict, its evidence, the rates it rests on."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.analysis.report import wording
from penstock.analysis.report.headline import headline, speed_up
from penstock.analysis.report.markup import Html, element, join
from penstock.analysis.results import Analysis, CoreRate

NO_CHANGE = 0.02  # runs of the same thing differ by more


def draw_opening(analysis: Analysis, before: Analysis | None) -> Html:
    """Return the verdict in one large sentence, and what it rests on."""
    return element(
        "section",
        element("p", *_pills(analysis), class_="pills"),
        element("h1", analysis.sentence),
        _story(before, analysis) if before else Html(),
        element("ul", *(element("li", line) for line in analysis.evidence), class_="evidence")
        if analysis.evidence
        else Html(),
        _comparison(before, analysis) if before else _tiles(analysis),
        class_="opening",
        id="verdict",
    )


def _pills(analysis: Analysis) -> Iterable[Html]:
    yield element("span", analysis.verdict.value, class_="pill verdict")
    yield element("span", f"device: {analysis.device}", class_="pill")
    if analysis.is_emulated:
        yield element("span", "emulated accelerator", class_="pill warning")


def _story(before: Analysis, after: Analysis) -> Html:
    was = f"Before ({before.title}), {before.verdict.value}: {before.sentence}"
    return join([_gain(speed_up(before, after)), element("p", was, class_="was")])


def _gain(faster: float | None) -> Html:
    if faster is None:
        return element("p", "Before and after, side by side.", class_="gain same")
    if abs(faster - 1) < NO_CHANGE:
        return element("p", "Training is as fast as before.", class_="gain same")
    if faster > 1:
        text = f"Training is {wording.factor(faster)} as fast as before."
        return element("p", text, class_="gain better")
    text = f"Training is slower than before: {wording.factor(faster)} the rate."
    return element("p", text, class_="gain worse")


def _tiles(analysis: Analysis) -> Html:
    tiles = [_tile(name, value, note) for name, value, note in _sums(analysis)]
    return element("div", *tiles, class_="tiles") if tiles else Html()


def _tile(name: str, value: str, note: str) -> Html:
    return element(
        "div",
        element("span", name, class_="name"),
        element("strong", value),
        element("span", note, class_="note"),
        class_="tile",
    )


def _sums(analysis: Analysis) -> Iterable[tuple[str, str, str]]:
    """Yield a name, a value and a note for each figure that is known."""
    sums = headline(analysis)
    if sums.synthetic is not None:
        yield "Accelerator alone", wording.number(sums.synthetic), "images/s it could take"
    if sums.pipeline is not None:
        yield "Pipeline alone", wording.number(sums.pipeline.rate.median), _on_cores(sums.pipeline)
    if sums.end_to_end is not None:
        value = wording.number(sums.end_to_end.rate.median)
        yield "End to end", value, _on_cores(sums.end_to_end)
    if analysis.stall is not None:
        yield "Lost", wording.percent(analysis.stall), _lost_to(analysis)


def _on_cores(rate: CoreRate) -> str:
    predicted = "" if rate.is_measured else ", predicted"
    return f"images/s on {wording.count(rate.cores, 'core')}{predicted}"


def _lost_to(analysis: Analysis) -> str:
    lost = {name: share for name, share in analysis.stall_parts.items() if share > 0}
    total = sum(lost.values())
    if not total:
        return "of the accelerator's time"
    parts = sorted(lost.items(), key=lambda part: -part[1])
    named = ", ".join(f"{name} {wording.percent(share / total)}" for name, share in parts)
    return f"of the accelerator's time; of that: {named}"


def _comparison(before: Analysis, after: Analysis) -> Html:
    old = {name: value for name, value, _ in _sums(before)}
    new = {name: (value, note) for name, value, note in _sums(after)}
    tiles = [
        element(
            "div",
            element("span", name, class_="name"),
            element(
                "span",
                element("span", old.get(name, wording.UNKNOWN), class_="old"),
                element("span", " → ", class_="arrow", aria_label="then"),
                element("strong", new.get(name, (wording.UNKNOWN, ""))[0]),
                class_="change",
            ),
            element("span", new.get(name, ("", ""))[1], class_="note"),
            class_="tile",
        )
        for name in dict.fromkeys([*old, *new])
    ]
    return element("div", *tiles, class_="tiles") if tiles else Html()
