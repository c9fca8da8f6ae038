"""Figure: what each op costs an image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle

from penstock.report import wording
from penstock.report.bar_labels import ROOM, bar_labels, mark_long
from penstock.report.figure import (
    INK,
    Chart,
    Figure,
    Rows,
    Run,
    Spec,
    layered,
    tooltip,
)
from penstock.results.records import OpCost

LONGEST_NAME = 26  # characters beside a bar
BAR_HEIGHT_PX = 26

# The usual ones look the same in every report; the others take what is left, in turn.
USUAL_COLOURS = {
    "Pillow": "var(--category-1)",
    "torch": "var(--category-2)",
    "core": "var(--category-3)",
    "Python": "var(--category-4)",
}
ON_BAR = {"Pillow": "var(--card)"}  # all other colours are light in both themes
OTHER_COLOURS = ("var(--category-5)", "var(--category-6)")


def draw_op_costs(runs: Sequence[Run]) -> Figure | None:
    """Return bars of the ops, dearest first, one chart a run on the same scale."""
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
                _bars(run.analysis.ops, largest, colours),
                [(name, colours[name]) for name in _places(run.analysis.ops)],
            )
            for run in drawn
        ),
    )


def _bars(ops: Sequence[OpCost], largest: float, colours: Mapping[str, str]) -> Spec:
    rows = mark_long(_rows(ops), "microseconds", largest)
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
            "x": {
                "field": "microseconds",
                "type": "quantitative",
                "title": "µs of CPU time an image",
                "scale": {"domain": [0, largest * ROOM or 1], "nice": False},
                "axis": {"tickCount": 4, "labelOverlap": True, "labelSeparation": 8},
            },
            "color": {
                "field": "runs_in",
                "scale": {"domain": list(colours), "range": list(colours.values())},
                "legend": None,
            },
            "tooltip": tooltip(
                name="op", cost="µs an image", share="share", runs_in="runs in", note="note"
            ),
        },
    }
    labels = bar_labels(place, "microseconds", "microseconds")
    return layered(rows, bars, *labels, height=BAR_HEIGHT_PX * len(rows))


def _places(ops: Sequence[OpCost]) -> Iterable[str]:
    """Return where ops run, that of the dearest first."""
    ranked = sorted(ops, key=lambda op: -op.microseconds)
    return dict.fromkeys(op.runs_in for op in ranked)


def _colours(places: Iterable[str]) -> Mapping[str, str]:
    others = cycle(OTHER_COLOURS)
    return {name: USUAL_COLOURS.get(name) or next(others) for name in dict.fromkeys(places)}


def _rows(ops: Sequence[OpCost]) -> Rows:
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
