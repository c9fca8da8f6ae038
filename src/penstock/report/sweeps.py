"""Figures: rates over cores and over layers of RandAugment, and predicted against measured rates.

What was measured is drawn solid, what was predicted dashed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from penstock.report import wording
from penstock.report.figure import (
    END_TO_END,
    MUTED,
    ONCE,
    PIPELINE,
    SERIES_SCALE,
    Chart,
    Figure,
    Rows,
    Run,
    Spec,
    accelerator_name,
    is_on_cpu,
    layered,
    quantity,
    run_opacity,
    tooltip,
)
from penstock.results.records import Analysis, Prediction, Rate

FEWEST = 3  # checked predictions that make a picture
LOGARITHMIC_OVER = 4  # times from the lowest rate to the highest
HEADROOM = 1.12  # over the highest line, for its label
LOGARITHMIC_FROM = 8  # cores
_COLOURS = dict(zip(SERIES_SCALE["domain"], SERIES_SCALE["range"], strict=True))
_COLOUR: Spec = {"field": "what", "scale": SERIES_SCALE, "legend": None}


@dataclass(frozen=True, slots=True)
class Point:
    """A rate at a place of the axis."""

    run: str
    what: str
    x: int
    rate: Rate
    is_measured: bool


def draw_core_sweep(runs: Sequence[Run]) -> Figure | None:
    """Return the rates over cores, if there is more than one number of them."""
    points = [
        Point(run.name, what, entry.cores, entry.rate, entry.is_measured)
        for run in runs
        for what, entries in (
            (PIPELINE, run.analysis.pipeline),
            (END_TO_END, run.analysis.end_to_end),
        )
        for entry in entries
    ]
    return _draw("cores", "What more cores would bring", "CPU cores", points, runs)


def draw_layer_sweep(runs: Sequence[Run]) -> Figure | None:
    """Return the rates over layers of RandAugment, if there is more than one number of them."""
    points = [
        Point(run.name, what, entry.layers, rate, entry.is_measured)
        for run in runs
        for entry in run.analysis.layers
        for what, rate in ((PIPELINE, entry.pipeline), (END_TO_END, entry.end_to_end))
    ]
    return _draw(
        "layers", "What stronger augmentation costs", "layers of RandAugment", points, runs
    )


def _draw(
    key: str, title: str, axis: str, points: Sequence[Point], runs: Sequence[Run]
) -> Figure | None:
    places = sorted({point.x for point in points})
    if len(places) < 2:
        return None
    limit = runs[-1].analysis.synthetic
    rates = [point.rate.median for point in points if point.rate.median > 0]
    rates += [] if limit is None else [limit.median]
    # A line that leaves the plot says nothing, and neither does one squashed on the axis.
    is_wide = bool(rates) and min(rates) > 0 and max(rates) > LOGARITHMIC_OVER * min(rates)
    caption = "Solid lines were measured here."
    if not all(point.is_measured for point in points):
        caption = "Solid lines and filled points were measured here, dashed ones are predicted."
    if limit is not None and not is_on_cpu(runs[-1].analysis):  # which more cores make faster
        caption += " No line of end to end can rise above the accelerator's."
    if is_wide:
        caption += " The scale of rates is logarithmic."
    if len(runs) > 1:
        caption += f" Paler: {runs[0].name}."
    domain = [0.0, HEADROOM * max(rates, default=1.0) or 1.0]
    if is_wide:
        domain = [min(rates) / 1.3, max(rates) * 1.5]
    over_x = [
        _lines(runs, _segments(points), domain, is_logarithmic=is_wide),
        _spread(runs),
        _points(runs, "measured", {"filled": True}),
        _points(runs, "predicted", {"fill": "var(--card)"}),
    ]
    drawn = [what for what in (PIPELINE, END_TO_END) if any(p.what == what for p in points)]
    for layer in over_x:
        layer["encoding"]["color"] = _COLOUR
        layer["encoding"]["x"] = _x_axis(axis, places, is_logarithmic=key == "cores")
    of_limit = _limit_layers(runs[-1].analysis)
    layers = [*of_limit[:1], *over_x, *of_limit[1:]]  # lines must not cross the words
    spec = layered([_row(point) for point in points], *layers)
    legend = [(what, _COLOURS[what]) for what in drawn]
    return Figure(key, title, caption, (Chart("", spec, legend),))


def _x_axis(title: str, places: Sequence[int], *, is_logarithmic: bool) -> Spec:
    is_far = is_logarithmic and places[-1] >= LOGARITHMIC_FROM and places[0] > 0
    kind = {"type": "log", "base": 2} if is_far else {"zero": False}
    axis = {"values": list(places), "format": "d", "grid": False, "labelOverlap": True}
    return quantity("x", title, axis=axis, scale={"nice": False, "padding": 12} | kind)


def _y_axis(domain: Sequence[float], *, is_logarithmic: bool) -> Spec:
    kind = {"type": "log"} if is_logarithmic else {}
    scale = {"domain": list(domain), "nice": False} | kind
    axis = {"values": _ticks(*domain)} if is_logarithmic else {"tickCount": 5}
    return quantity("rate", "images per second", scale=scale, axis=axis)


def _ticks(least: float, largest: float) -> list[float]:
    """Return the 1, 2 and 5 of each power of ten in a range."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(largest)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [tick for tick in ticks if least <= tick <= largest]


def _lines(
    runs: Sequence[Run], segments: Rows, domain: Sequence[float], *, is_logarithmic: bool
) -> Spec:
    return {
        "data": {"values": segments},
        "mark": {"type": "line", "strokeWidth": 2.5, "clip": True},
        "encoding": run_opacity(runs)
        | {
            "y": _y_axis(domain, is_logarithmic=is_logarithmic),
            "detail": [{"field": "segment"}, {"field": "run"}],
            "strokeDash": {
                "field": "kind",
                "legend": None,
                "scale": {"domain": ["measured", "predicted"], "range": [[1, 0], [6, 5]]},
            },
        },
    }


def _spread(runs: Sequence[Run]) -> Spec:
    return {
        "transform": [{"filter": "datum.kind == 'measured'"}],
        "mark": {"type": "rule", "strokeWidth": 1.5, "clip": True},
        "encoding": run_opacity(runs) | {"y": quantity("least"), "y2": {"field": "largest"}},
    }


def _points(runs: Sequence[Run], kind: str, mark: Spec) -> Spec:
    shown = tooltip(
        run="run", what="what", place="at", text="images/s", spread="range", kind="kind"
    )
    return {
        "transform": [{"filter": f"datum.kind == '{kind}'"}],
        "mark": {"type": "point", "size": 70, "strokeWidth": 2, "opacity": 1, "clip": True} | mark,
        "encoding": run_opacity(runs)
        | {
            "y": quantity("rate"),
            "tooltip": shown if len(runs) > 1 else shown[1:],
        },
    }


def _limit_layers(analysis: Analysis) -> Sequence[Spec]:
    """Return the accelerator's line, and its name on a ground of its own; nothing if unknown."""
    if analysis.synthetic is None:
        return []
    images_per_s = analysis.synthetic.median
    text = f"{accelerator_name(analysis)}: {wording.number(images_per_s)}"
    place = {"y": {"datum": images_per_s}}
    rule = {"type": "rule", "color": "var(--accelerator)"}
    label = {"type": "text", "align": "left", "x": 0, "dx": 4, "dy": -11, "text": text}
    ground = {"color": "var(--card)", "stroke": "var(--card)", "strokeWidth": 5}
    marks = [rule, label | ground, label | {"color": MUTED}]
    return [{"data": ONCE, "mark": mark, "encoding": place} for mark in marks]


def _row(point: Point) -> dict[str, str | float]:
    return {
        "run": point.run,
        "what": point.what,
        "x": point.x,
        "place": f"{point.x}",
        "rate": point.rate.median,
        "least": point.rate.least,
        "largest": point.rate.largest,
        "text": wording.number(point.rate.median),
        "spread": f"{wording.number(point.rate.least)} to {wording.number(point.rate.largest)}",
        "kind": _kind(point.is_measured),
    }


def _segments(points: Sequence[Point]) -> Rows:
    rows: Rows = []
    for run, what in sorted({(point.run, point.what) for point in points}):
        line = [point for point in points if (point.run, point.what) == (run, what)]
        line.sort(key=lambda point: (point.x, not point.is_measured))
        for i, ends in enumerate(pairwise(line)):
            kind = _kind(all(end.is_measured for end in ends))
            rows += [_row(end) | {"segment": f"{what} {i}", "kind": kind} for end in ends]
    return rows


def _kind(is_measured: bool) -> str:
    return "measured" if is_measured else "predicted"


def named_predictions(runs: Sequence[Run]) -> list[Prediction]:
    """Return the predictions of all runs, each with the name of its run."""
    return [
        replace(entry, what=f"{run.name}: {entry.what}" if run.name else entry.what)
        for run in runs
        for entry in run.analysis.predictions
    ]


def draw_accuracy(runs: Sequence[Run]) -> Figure | None:
    """Return each checked prediction as a point beside the diagonal of perfect ones."""
    rows: Rows = [
        {
            "what": prediction.what,
            "predicted": prediction.predicted,
            "measured": prediction.measured,
            "predicted_text": wording.rate(prediction.predicted),
            "measured_text": wording.rate(prediction.measured),
            "error": wording.percent(prediction.error),
        }
        for prediction in named_predictions(runs)
        if prediction.measured and prediction.error is not None and prediction.predicted > 0
    ]
    if len(rows) < FEWEST:
        return None
    rates = [row[name] for row in rows for name in ("predicted", "measured")]
    domain = [min(rates) * 0.8, max(rates) * 1.25]
    ends = [{"measured": end, "predicted": end} for end in domain]
    x, y = (
        quantity(
            name,
            f"{name}, images per second",
            scale={"type": "log", "domain": domain, "nice": False},
            axis={"tickCount": 4, "format": "~s"},
        )
        for name in ("measured", "predicted")
    )
    diagonal = {
        "data": {"values": ends},
        "mark": {"type": "line", "color": MUTED, "strokeWidth": 1},
        "encoding": {"x": x, "y": y},
    }
    points = {
        "mark": {"type": "circle", "size": 80, "color": "var(--pipeline)", "opacity": 0.8},
        "encoding": {
            "x": x,
            "y": y,
            "tooltip": tooltip(
                what="what", predicted_text="predicted", measured_text="measured", error="error"
            ),
        },
    }
    return Figure(
        key="accuracy",
        title="How far the predictions can be trusted",
        caption="Every prediction that could be checked here. On the line it was exact.",
        charts=(Chart("", layered(rows, diagonal, points)),),
    )
