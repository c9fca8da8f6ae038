"""Figures with bars: rates of step, pipeline and both together; what each op costs per image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle

from penstock.report import wording
from penstock.report.figure import (
    END_TO_END,
    FRESH,
    INK,
    PIPELINE,
    ROOM,
    SERIES_SCALE,
    Chart,
    Figure,
    Rows,
    Run,
    Spec,
    accelerator_name,
    bar_labels,
    layered,
    mark_long,
    quantity,
    run_opacity,
    tooltip,
)
from penstock.report.summary import headline
from penstock.results.records import CoreRate, OpCost, Rate

LONGEST_NAME = 26  # characters beside a bar
OP_BAR_HEIGHT_PX = 26

# The usual ones look the same in every report; the others take what is left, in turn.
USUAL_COLOURS = {
    "Pillow": "var(--category-1)",
    "torch": "var(--category-2)",
    "core": "var(--category-3)",
    "Python": "var(--category-4)",
}
ON_BAR = {"Pillow": "var(--card)"}  # all other colours are light in both themes
OTHER_COLOURS = ("var(--category-5)", "var(--category-6)")
RATE_BAR_HEIGHT_PX = 36
FRESH_CAPTION = (
    " Fresh batches are random and new for each step, as synthetic inputs of benchmarks are; the "
    "time to make them is part of the rate."
)


def draw_throughput(runs: Sequence[Run]) -> Figure | None:
    """Return the bars, if any of the three rates is known, and none is doubtful."""
    if any(run.analysis.banner for run in runs):
        return None
    rows = [row for run in runs for row in _rate_rows(run, is_last=run is runs[-1])]
    if not rows:
        return None
    largest = max(row["largest"] for row in rows)
    rows = mark_long(rows, "rate", largest)
    category: Spec = {
        "field": "what",
        "type": "nominal",
        "sort": SERIES_SCALE["domain"],
        "axis": {"title": None, "labelColor": INK},
    }
    place = {"y": category}
    if len(runs) > 1:
        place["yOffset"] = {"field": "run", "sort": [run.name for run in runs]}
    length = _length("rate", "images per second", largest, ticks=5)
    shown = tooltip(run="run", what="what", cores="cores", text="images/s", spread="range")
    bars = {
        "mark": {"type": "bar", "cornerRadiusEnd": 3},
        "encoding": place
        | run_opacity(runs)
        | {
            "x": length,
            "color": {"field": "what", "legend": None, "scale": SERIES_SCALE},
            "tooltip": shown if len(runs) > 1 else shown[1:],
        },
    }
    spread = {
        "mark": {"type": "rule", "color": INK, "opacity": 0.6},
        "encoding": place | {"x": quantity("least"), "x2": {"field": "largest"}},
    }
    labels = bar_labels(place, "least", "largest")
    any_fresh = any(run.analysis.fresh is not None for run in runs)
    return Figure(
        key="throughput",
        title="Where the images stop",
        caption="The shorter of the two upper bars limits the third: training cannot run faster "
        "than the accelerator steps, or than the pipeline delivers. Thin lines show the least and "
        "the largest rate seen." + (FRESH_CAPTION if any_fresh else ""),
        charts=(
            Chart("", layered(rows, bars, spread, *labels, height=RATE_BAR_HEIGHT_PX * len(rows))),
        ),
    )


def _length(field: str, title: str, largest: float, ticks: int) -> Spec:
    scale = {"domain": [0, largest * ROOM or 1], "nice": False}
    axis = {"tickCount": ticks, "labelOverlap": True, "labelSeparation": 8}
    return quantity(field, title, scale=scale, axis=axis)


def _rate_rows(run: Run, *, is_last: bool) -> Rows:
    sums = headline(run.analysis)
    rows = []
    if run.analysis.synthetic is not None:
        rows.append(
            _rate_row(accelerator_name(run.analysis), run.analysis.synthetic, wording.UNKNOWN)
        )
    for what, rate in ((PIPELINE, sums.pipeline), (END_TO_END, sums.end_to_end)):
        if rate is not None:
            rows.append(_rate_row(what, rate.rate, _cores(rate)))
    if run.analysis.fresh is not None:
        rows.append(_rate_row(FRESH, run.analysis.fresh, wording.UNKNOWN))
    return [
        row
        | {
            "run": run.name,
            "label": f"{row['text']} {run.name}".rstrip(),
            "short_label": row["text"],
            "on_bar": "var(--card)" if is_last else INK,
        }
        for row in rows
    ]


def _cores(rate: CoreRate) -> str:
    return f"{rate.cores}" if rate.is_measured else f"{rate.cores} (predicted)"


def _rate_row(what: str, rate: Rate, cores: str) -> dict[str, str | float]:
    return {
        "what": what,
        "cores": cores,
        "rate": rate.median,
        "least": rate.least,
        "largest": max(rate.largest, rate.median),
        "text": wording.number(rate.median),
        "spread": f"{wording.number(rate.least)} to {wording.number(rate.largest)}",
    }


def draw_op_costs(runs: Sequence[Run]) -> Figure | None:
    """Return bars of the ops, costliest first; one chart per run, all on the same scale."""
    drawn = [run for run in runs if run.analysis.ops]
    if not drawn:
        return None
    every_op = [op for run in drawn for op in run.analysis.ops]
    largest = max(op.microseconds for op in every_op)
    colours = _colours(op.runs_in for op in every_op)
    return Figure(
        key="ops",
        title="What each step of the pipeline costs",
        caption="CPU time for one image on one core, dearest first; the colour says which "
        "library does the work.",
        charts=tuple(
            Chart(
                run.name,
                _op_bars(run.analysis.ops, largest, colours),
                [(name, colours[name]) for name in _places(run.analysis.ops)],
            )
            for run in drawn
        ),
    )


def _op_bars(ops: Sequence[OpCost], largest: float, colours: Mapping[str, str]) -> Spec:
    rows = mark_long(_op_rows(ops), "microseconds", largest)
    place = {
        "y": {
            "field": "bar",
            "type": "nominal",
            "sort": None,
            "axis": {"title": None, "labelColor": INK, "labelLimit": 190},
        }
    }
    bars = {
        "mark": {"type": "bar", "cornerRadiusEnd": 3},
        "encoding": place
        | {
            "x": _length("microseconds", "µs of CPU time an image", largest, ticks=4),
            "color": {
                "field": "runs_in",
                "scale": {"domain": list(colours), "range": list(colours.values())},
                "legend": None,
            },
            "tooltip": tooltip(
                name="op", cost="µs per image", share="share", runs_in="runs in", note="note"
            ),
        },
    }
    labels = bar_labels(place, "microseconds", "microseconds")
    return layered(rows, bars, *labels, height=OP_BAR_HEIGHT_PX * len(rows))


def _places(ops: Sequence[OpCost]) -> Iterable[str]:
    """Return the libraries in which ops run, that of the costliest op first."""
    ranked = sorted(ops, key=lambda op: -op.microseconds)
    return dict.fromkeys(op.runs_in for op in ranked)


def _colours(places: Iterable[str]) -> Mapping[str, str]:
    others = cycle(OTHER_COLOURS)
    return {name: USUAL_COLOURS.get(name) or next(others) for name in dict.fromkeys(places)}


def _op_rows(ops: Sequence[OpCost]) -> Rows:
    seen: Counter[str] = Counter()
    rows: Rows = []
    for op in sorted(ops, key=lambda op: -op.microseconds):
        name = wording.shortened(op.name, LONGEST_NAME)
        seen[name] += 1
        rows.append(
            {
                # Two ops of one name would share a bar.
                "bar": name if seen[name] == 1 else f"{name} ({seen[name]})",
                "name": op.name,
                "microseconds": op.microseconds,
                "cost": wording.number(op.microseconds),
                "share": wording.percent(op.share),
                "runs_in": op.runs_in,
                "note": op.note or wording.UNKNOWN,
                "label": f"{wording.microseconds(op.microseconds)} · {wording.percent(op.share)}",
                "short_label": wording.microseconds(op.microseconds),
                "on_bar": ON_BAR.get(op.runs_in, "var(--on-light)"),
            }
        )
    return rows
