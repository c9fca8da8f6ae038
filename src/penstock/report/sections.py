"""The parts of the page that are words and tables: advice, what-ifs, predictions, files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.report import wording
from penstock.report.markup import Html, element, join
from penstock.report.summary import errors_told
from penstock.results.records import Advice, Analysis, Prediction, StoreReading, WhatIf

NO_GAIN = 1.005  # what is less is no gain to speak of
MOST_ROWS = 12  # longer tables are folded


def draw_advice(analysis: Analysis) -> Html:
    """Return what to do as cards, the largest gain first."""
    if not analysis.advice:
        return Html()
    ranked = sorted(analysis.advice, key=lambda entry: -entry.rank)
    caption = ""
    if analysis.assumption and any(entry.gain is not None for entry in ranked):
        caption = f"Gains of training {analysis.assumption}."
    return _section(
        "advice",
        "What to do",
        element("p", caption, class_="caption") if caption else Html(),
        element("div", *map(_card, ranked), class_="cards"),
    )


def _card(advice: Advice) -> Html:
    line = Html()
    if advice.line:
        line = element(
            "div",
            element("pre", element("code", advice.line)),
            element("button", "Copy", type="button", class_="copy"),
            class_="line",
        )
    return element(
        "article",
        element(
            "header",
            element("h3", advice.title),
            element("span", wording.factor(advice.gain), class_="pill gain", title="predicted gain")
            if advice.gain is not None and advice.gain >= NO_GAIN
            else Html(),
        ),
        element("p", advice.why) if advice.why else Html(),
        line,
        class_="card",
    )


def draw_store(store: StoreReading | None) -> Html:
    """Return what the store was asked for and how fast it answered, where data is in one."""
    if store is None:
        return Html()
    megabytes = store.bytes_per_batch / 1e6, store.least_bytes_per_batch / 1e6
    rows = [
        ["requests are for", store.reads],
        ["time of an answer", _or_unknown(store.latency_ms, "ms")],
        ["bandwidth of one request", _or_unknown(store.megabytes_per_s, "MB/s")],
        ["requests for a batch", wording.number(store.requests_per_batch)],
        [
            "read for a batch",
            f"{wording.number(megabytes[0])} MB; its records have {wording.number(megabytes[1])}",
        ],
        ["an image waits for data", f"{wording.number(store.waiting_us)} µs"],
        ["the loader alone", f"{wording.number(store.images_per_s)} images/s"],
    ]
    if store.warm_images_per_s is not None:
        rows.append(["from a warm cache", f"{wording.number(store.warm_images_per_s)} images/s"])
    if store.hits is not None:
        rows.append(["found in the cache", wording.percent(store.hits)])
    if store.retries:
        rows.append(["requests tried again", wording.number(store.retries)])
    return _section(
        "store",
        "The store",
        element("p", f"{store.address}: {' '.join(store.reasons)}", class_="caption"),
        table(("", ""), rows, "text text"),
    )


def _or_unknown(value: float | None, unit: str) -> str:
    return wording.UNKNOWN if value is None else f"{wording.number(value)} {unit}"


def draw_what_ifs(what_ifs: Sequence[WhatIf], assumption: str = "") -> Html:
    """Return predicted changes as bars to compare."""
    if not what_ifs:
        return Html()
    caption = "Predicted end to end; none of this was changed."
    if assumption:
        caption = f"Predicted end to end {assumption}; none of this was changed."
    longest = max(entry.rate for entry in what_ifs) or 1.0
    rows = [
        [entry.change, wording.number(entry.rate), _bar(entry.rate / longest), _factor(entry.gain)]
        for entry in sorted(what_ifs, key=lambda entry: -entry.gain)
    ]
    return _section(
        "what-ifs",
        "What if",
        element("p", caption, class_="caption"),
        table(("change", "images/s", "", "gain"), rows, "text number graph number"),
    )


def draw_predictions(predictions: Sequence[Prediction]) -> Html:
    """Return every prediction beside what was measured."""
    if not predictions:
        return Html()
    checked, errors = errors_told(predictions)
    summary = "None of these could be checked on this machine."
    if checked:
        all_of_them = wording.count(len(predictions), "prediction")
        summary = f"{checked} of {all_of_them} could be checked here: {errors}."
    rows = [
        [
            entry.what,
            wording.number(entry.predicted),
            wording.UNKNOWN if entry.measured is None else wording.number(entry.measured),
            wording.UNKNOWN if entry.error is None else wording.percent(entry.error),
        ]
        for entry in predictions
    ]
    head = ("what", "predicted", "measured", "off by")
    return _section(
        "predictions",
        "Predictions and their errors",
        element("p", summary, class_="caption"),
        _folded(table(head, rows, "text number number number"), len(rows)),
    )


def draw_slowest_files(files: Sequence[tuple[str, float]]) -> Html:
    """Return the files that took longest."""
    if not files:
        return Html()
    rows = [[element("code", name), f"{wording.number(time_ms)} ms"] for name, time_ms in files]
    return _section("files", "The slowest files", table(("file", "time"), rows, "text number"))


def draw_left_out(left_out: Sequence[str]) -> Html:
    """Return what was not measured for lack of time."""
    if not left_out:
        return Html()
    text = f"{'; '.join(left_out)}. More seconds (--seconds) measure more."
    return _section("left-out", "Left out for lack of time", element("p", text, class_="caption"))


def draw_environment(analyses: Iterable[Analysis]) -> Html:
    """Return where and on what the analyses were made."""
    described = [_described(analysis) for analysis in analyses]
    names = dict.fromkeys(name for entries in described for name in entries)
    rows = [
        [name, *(entries.get(name, wording.UNKNOWN) for entries in described)] for name in names
    ]
    head = ("", "before", "after") if len(described) > 1 else ("", "")
    kinds = "text " + "text " * len(described)
    return _section("environment", "Measured on", table(head, rows, kinds))


def _described(analysis: Analysis) -> dict[str, str]:
    return {
        "what": analysis.title,
        "when": analysis.created,
        "device": analysis.device + (" (emulated)" if analysis.is_emulated else ""),
        "batch size": f"{analysis.batch_size:,}",
        "images": f"{analysis.images:,}",
        **analysis.environment,
    }


def table(head: Sequence[str], rows: Iterable[Sequence[str]], kinds: str) -> Html:
    """Return a table; `kinds` names the class of each column, with blanks between."""
    classes = kinds.split()
    titles = [
        element("th", title, scope="col", class_=kind)
        for title, kind in zip(head, classes, strict=True)
    ]
    lines = [
        element(
            "tr",
            *(element("td", cell, class_=kind) for cell, kind in zip(row, classes, strict=True)),
        )
        for row in rows
    ]
    top = element("thead", element("tr", *titles)) if any(head) else Html()
    return element("div", element("table", top, element("tbody", *lines)), class_="scroll")


def _section(identity: str, title: str, *children: Html) -> Html:
    return element("section", element("h2", title), join(children), id=identity)


def _folded(content: Html, rows: int) -> Html:
    if rows <= MOST_ROWS:
        return content
    return element("details", element("summary", f"All {rows} of them"), content)


def _factor(gain: float) -> Html:
    kind = "better" if gain >= NO_GAIN else "same" if gain > 0.995 else "worse"
    return element("span", wording.factor(gain), class_=kind)


def _bar(share: float) -> Html:
    inside = element("span", style=f"width:{100 * min(max(share, 0.0), 1.0):.1f}%")
    return element("span", inside, class_="bar")
