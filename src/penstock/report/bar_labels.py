"""Figures written on bars: inside a long one, behind a short one, so that none is cut off."""

from __future__ import annotations

from penstock.report.figure import INK, Rows, Spec

LONG = 0.5  # of the axis
ROOM = 1.05  # of the longest bar
NARROW_PX = 260  # a chart on a phone has less for its bars


def bar_labels(place: Spec, begin: str, end: str) -> list[Spec]:
    """Return layers of labels for rows with `label`, `short_label`, `is_long` and `on_bar`.

    Inside a bar, labels end at the field `begin`, in the colour `on_bar`; behind it, they start
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
        "encoding": encoding | {"x": {"field": field, "type": "quantitative"}, "text": text},
    }
