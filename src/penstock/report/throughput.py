"""Figure: what the accelerator could take, the pipeline can give, and training gets."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.report import wording
from penstock.report.bar_labels import ROOM, bar_labels, mark_long
from penstock.report.figure import (
    END_TO_END,
    INK,
    PIPELINE,
    SERIES_SCALE,
    Chart,
    Figure,
    Rows,
    Run,
    Spec,
    accelerator_name,
    layered,
    run_opacity,
    tooltip,
)
from penstock.report.headline import headline
from penstock.results.records import CoreRate, Rate

BAR_HEIGHT_PX = 36


def draw_throughput(runs: Sequence[Run]) -> Figure | None:
    """Return the bars, if any of the three rates is known, and none is doubtful."""
    if any(run.analysis.banner for run in runs):
        return None
    rows = [row for run in runs for row in _bars(run, is_last=run is runs[-1])]
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
    length = {
        "field": "rate",
        "type": "quantitative",
        "title": "images per second",
        "scale": {"domain": [0, largest * ROOM or 1], "nice": False},
        "axis": {"tickCount": 5, "labelOverlap": True, "labelSeparation": 8},
    }
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
        "encoding": place
        | {"x": {"field": "least", "type": "quantitative"}, "x2": {"field": "largest"}},
    }
    labels = bar_labels(place, "least", "largest")
    return Figure(
        key="throughput",
        title="Where the images stop",
        caption="The shorter of the two upper bars limits the lowest one: training cannot run "
        "faster than the accelerator steps, or than the pipeline delivers. Thin lines show the "
        "least and the largest rate seen.",
        charts=(Chart("", layered(rows, bars, spread, *labels, height=BAR_HEIGHT_PX * len(rows))),),
    )


def _bars(run: Run, *, is_last: bool) -> Rows:
    sums = headline(run.analysis)
    rows = []
    if run.analysis.synthetic is not None:
        rows.append(_bar(accelerator_name(run.analysis), run.analysis.synthetic, wording.UNKNOWN))
    for what, rate in ((PIPELINE, sums.pipeline), (END_TO_END, sums.end_to_end)):
        if rate is not None:
            rows.append(_bar(what, rate.rate, _cores(rate)))
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


def _bar(what: str, rate: Rate, cores: str) -> dict[str, str | float]:
    return {
        "what": what,
        "cores": cores,
        "rate": rate.median,
        "least": rate.least,
        "largest": max(rate.largest, rate.median),
        "text": wording.number(rate.median),
        "spread": f"{wording.number(rate.least)} to {wording.number(rate.largest)}",
    }
