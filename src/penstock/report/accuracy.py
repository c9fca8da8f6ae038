"""Figure: predicted rates against measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.report import wording
from penstock.report.figure import MUTED, Chart, Figure, Rows, Run, layered, tooltip
from penstock.results.records import Prediction

FEWEST = 3  # checked predictions that make a picture


def named_predictions(runs: Sequence[Run]) -> list[Prediction]:
    """Return the predictions of all runs, each told from those of the other."""
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
        {
            "field": name,
            "type": "quantitative",
            "title": f"{name}, images per second",
            "scale": {"type": "log", "domain": domain, "nice": False},
            "axis": {"tickCount": 4, "format": "~s"},
        }
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
