"""What a figure is made of, and the look that all of them share.

Charts are written in Vega-Lite. Their colours are CSS variables of the page, so that light, dark
and print need no second drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.results.records import Analysis

Spec = dict[str, Any]
Rows = list[dict[str, Any]]

ACCELERATOR = "accelerator alone"
ASSUMED = "accelerator, assumed"
STEP = "step alone"
FRESH = "step, fresh batches"
PIPELINE = "pipeline alone"
END_TO_END = "end to end"

SERIES_SCALE: Spec = {
    "domain": [ACCELERATOR, ASSUMED, STEP, PIPELINE, END_TO_END, FRESH],
    "range": [
        *["var(--accelerator)"] * 3,
        "var(--pipeline)",
        "var(--end-to-end)",
        "var(--accelerator)",
    ],
}
INK = "var(--ink)"
MUTED = "var(--muted)"
LONG = 0.5  # of the axis: a bar that a label fits into
ROOM = 1.05  # of the longest bar
NARROW_PX = 260  # a chart on a phone has less for its bars
ONCE: Spec = {"values": [{}]}  # the data of a mark that is drawn once, for no row

_CONFIG: Spec = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "titleFontSize": 12,
        "labelFontSize": 12,
        "gridColor": "var(--grid)",
        "domainColor": "var(--grid)",
        "tickColor": "var(--grid)",
        "titlePadding": 8,
    },
    "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
    "legend": {"disable": True},
    "text": {"color": INK, "fontSize": 12},
    "rule": {"color": MUTED},
}


@dataclass(frozen=True, slots=True)
class Run:
    """One of the analyses that a report shows; a single one has no name."""

    name: str  # "before", "after" or nothing
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Chart:
    """One drawing, with a heading where several stand side by side."""

    heading: str
    spec: Spec
    legend: Sequence[tuple[str, str]] = ()  # names and colours: words of the page, so none is cut


@dataclass(frozen=True, slots=True)
class Figure:
    """A question, the drawing that answers it, and how to read that."""

    key: str
    title: str
    caption: str
    charts: tuple[Chart, ...]


def layered(rows: Rows, *layers: Spec, height: int = 220, **rest: Any) -> Spec:
    """Return marks over the same rows, as wide as the page lets them be."""
    return {
        "data": {"values": rows},
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "top": 2, "right": 14, "bottom": 2},  # room for half a figure
        "layer": list(layers),
        "config": _CONFIG,
        **rest,
    }


def accelerator_name(analysis: Analysis) -> str:
    """Return what to call the rate of steps: that of an emulated accelerator was not measured."""
    if analysis.is_emulated:
        return ASSUMED
    return STEP if is_on_cpu(analysis) else ACCELERATOR


def is_on_cpu(analysis: Analysis) -> bool:
    """Tell whether the step was one on the CPU, which is no accelerator."""
    return analysis.device.partition(":")[0] == "cpu"


def quantity(field: str, title: str = "", **rest: Spec) -> Spec:
    """Return the encoding of a field of numbers; `rest` is its scale and its axis."""
    return {"field": field, "type": "quantitative"} | ({"title": title} if title else {}) | rest


def tooltip(**titles: str) -> list[Spec]:
    """Return what hovering shows: fields that hold text already, with their titles."""
    return [
        {"field": name, "type": "nominal", "title": title.strip()} for name, title in titles.items()
    ]


def run_opacity(runs: Sequence[Run]) -> Spec:
    """Return the encoding that makes the run before a change paler than the one after it."""
    if len(runs) == 1:
        return {}
    scale = {"domain": [run.name for run in runs], "range": [0.4, 1]}
    return {"opacity": {"field": "run", "type": "ordinal", "scale": scale, "legend": None}}


def bar_labels(place: Spec, begin: str, end: str) -> list[Spec]:
    """Return layers of labels for rows with `label`, `short_label`, `is_long` and `on_bar`.

    Inside a bar, labels end at the field `begin`, in the colour `on_bar`; beside it, they start
    at the field `end`.
    """
    inside = {"field": "on_bar", "type": "nominal", "scale": None}
    return [
        _layer("datum.is_long", place | {"color": inside}, begin, "right"),
        _layer("!datum.is_long", place | {"color": {"value": INK}}, end, "left"),
    ]


def mark_long(rows: Rows, field: str, largest: float) -> Rows:
    """Return the rows with `is_long` set for those that a label fits into."""
    return [row | {"is_long": row[field] > LONG * ROOM * largest} for row in rows]


def _layer(chosen: str, encoding: Spec, field: str, align: str) -> Spec:
    text = {
        "condition": {"test": f"width < {NARROW_PX}", "field": "short_label"},
        "field": "label",
    }
    gap = 6 if align == "left" else -6
    return {
        "transform": [{"filter": chosen}],
        "mark": {"type": "text", "align": align, "dx": gap, "tooltip": None},
        "encoding": encoding | {"x": quantity(field), "text": text},
    }
