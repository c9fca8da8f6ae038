"""Figures over time: how busy the accelerator was, and what each step waited for.

Long series are made shorter for a page: neighbours become their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from penstock.report import wording
from penstock.report.figure import (
    INK,
    ONCE,
    Chart,
    Figure,
    Rows,
    Run,
    Spec,
    is_on_cpu,
    layered,
    quantity,
    tooltip,
)
from penstock.results.records import Analysis, Steps, Utilisation

MOST_POINTS = 400  # more cannot be told apart on a page
MOST_SAVED = 2_000  # values of a series that a page carries
WAITED = "waiting for data"
COMPUTED = "computing"
BUSY_COLOUR = COMPUTED_COLOUR = "var(--accelerator)"
WAITED_COLOUR = "var(--end-to-end)"


def draw_utilisation(runs: Sequence[Run]) -> Figure | None:
    """Return how busy the accelerator was, one chart per run."""
    drawn = [(run, run.analysis.utilisation) for run in runs]
    charts = tuple(Chart(run.name, _busy(used)) for run, used in drawn if used and used.seconds)
    if not charts:
        return None
    means = [(run.name, mean_busy(used)) for run, used in drawn if used and used.seconds]
    named = ", ".join(f"{wording.percent(mean)} {name}".strip() for name, mean in means)
    sources = ", ".join(dict.fromkeys(used.source for _, used in drawn if used))
    return Figure(
        key="utilisation",
        title=(
            "How much of the time the step computed"
            if is_on_cpu(runs[-1].analysis)
            else "How busy the accelerator was"
        ),
        caption=f"Busy {named} on average, which is the line; gaps are time in which it had "
        f"nothing to do. Read from: {sources}.",
        charts=charts,
    )


def draw_steps(runs: Sequence[Run]) -> Figure | None:
    """Return waiting and computing of every step, one chart per run, all on the same scale."""
    drawn = [(run, run.analysis.steps) for run in runs]
    series = [(run, _step_rows(steps)) for run, steps in drawn if steps and steps.waited]
    if not series:
        return None
    totals = sorted(row["top"] for _, rows in series for row in rows)
    # The first step often waits for everything to start; it must not flatten all others.
    usual = totals[int(0.98 * (len(totals) - 1))] * 1.3
    is_cut = totals[-1] > 2 * usual
    ceiling = usual if is_cut else totals[-1]
    caption = "Each step of training: what it computed, and what it waited for data."
    if is_cut:
        caption += f" The longest, of {wording.number(totals[-1])} ms, leaves the chart."
    return Figure(
        key="steps",
        title="What each training step waited for",
        caption=caption,
        charts=tuple(
            Chart(
                run.name,
                _stack(rows, ceiling),
                [(COMPUTED, COMPUTED_COLOUR), (WAITED, WAITED_COLOUR)],
            )
            for run, rows in series
        ),
    )


def _busy(used: Utilisation) -> Spec:
    thinned = thin_utilisation(used, MOST_POINTS)
    rows: Rows = [
        {
            "begin": begin,
            "end": end,
            "busy": share,
            "text": wording.percent(share),
            "at": f"{begin:,.2f} to {end:,.2f} s",
        }
        for (begin, end), share in zip(pairwise((0.0, *thinned.seconds)), thinned.busy, strict=True)
    ]
    over = {"grid": False, "tickCount": 6}
    x = quantity("begin", "seconds", scale={"nice": False}, axis=over)
    shares = {"format": ".0%", "tickCount": 5}
    y = quantity("busy", "busy", scale={"domain": [0, 1]}, axis=shares)
    bars = {
        # The stroke closes the seams between neighbours.
        "mark": {"type": "rect", "color": BUSY_COLOUR, "stroke": BUSY_COLOUR, "strokeWidth": 0.7},
        "encoding": {
            "x": x,
            "x2": {"field": "end"},
            "y": y,
            "y2": {"datum": 0},
            "tooltip": tooltip(at="time", text="busy"),
        },
    }
    line = {
        "data": ONCE,
        "mark": {"type": "rule", "color": INK},
        "encoding": {"y": {"datum": mean_busy(used)}},
    }
    return layered(rows, bars, line, height=180)


def _step_rows(steps: Steps) -> Rows:
    rows: Rows = []
    for chunk in chunks(len(steps.waited), MOST_POINTS):
        first, last = chunk.start + 1, chunk.stop
        waited, computed = 1e3 * mean(steps.waited[chunk]), 1e3 * mean(steps.computed[chunk])
        rows.append(
            {
                "begin": first,
                "end": last + 1,
                "computed": computed,
                "top": computed + waited,
                "steps": f"{first}" if first == last else f"{first} to {last}",
                "waited_text": f"{wording.number(waited)} ms",
                "computed_text": f"{wording.number(computed)} ms",
            }
        )
    return rows


def _stack(rows: Rows, ceiling: float) -> Spec:
    steps = {"grid": False, "tickCount": 6, "tickMinStep": 1, "format": ",d"}
    x = quantity("begin", "step", scale={"nice": False, "zero": False}, axis=steps)
    heights = {"domain": [0, ceiling or 1], "nice": True}
    y = quantity("top", "ms", scale=heights, axis={"tickCount": 5})
    scale = {"domain": [COMPUTED, WAITED], "range": [COMPUTED_COLOUR, WAITED_COLOUR]}
    shared = {
        "x": x,
        "x2": {"field": "end"},
        "tooltip": tooltip(steps="step", computed_text=COMPUTED, waited_text=WAITED),
    }
    layers = [
        {
            "mark": {"type": "rect", "clip": True, "stroke": colour, "strokeWidth": 0.7},
            "encoding": shared
            | {
                "y": y | {"field": low},
                "y2": {"field": high} if high else {"datum": 0},
                "color": {"datum": what, "scale": scale, "legend": None},
            },
        }
        for low, high, what, colour in (
            ("top", "computed", WAITED, WAITED_COLOUR),
            ("computed", "", COMPUTED, COMPUTED_COLOUR),
        )
    ]
    return layered(rows, *layers, height=180)


def chunks(count: int, most: int) -> list[slice]:
    """Return at most `most` slices over `count` values; all but the last have equal length."""
    size = -(-count // most)
    return [slice(at, min(at + size, count)) for at in range(0, count, size)] if count else []


def mean(values: Sequence[float]) -> float:
    """Return the mean of values, of which there is at least one."""
    return sum(values) / len(values)


def mean_busy(used: Utilisation, begin: float = 0.0) -> float:
    """Return the busy share over all intervals, the first of which starts at `begin`."""
    lengths = [max(right - left, 0.0) for left, right in pairwise((begin, *used.seconds))]
    total = sum(lengths)
    busy = sum(share * length for share, length in zip(used.busy, lengths, strict=True))
    return busy / total if total else 0.0


def thin_utilisation(used: Utilisation, most: int) -> Utilisation:
    """Return the same over longer intervals, if there are more than `most`."""
    begins = (0.0, *used.seconds[:-1])
    parts = chunks(len(used.seconds), most)
    return Utilisation(
        used.source,
        tuple(used.seconds[part.stop - 1] for part in parts),
        tuple(
            mean_busy(
                Utilisation(used.source, used.seconds[part], used.busy[part]), begins[part.start]
            )
            for part in parts
        ),
    )


def thin_for_saving(analysis: Analysis) -> Analysis:
    """Return an analysis whose series fit into a page."""
    used, steps = analysis.utilisation, analysis.steps
    if used is not None and len(used.seconds) > MOST_SAVED:
        used = thin_utilisation(used, MOST_SAVED)
    if steps is not None and len(steps.waited) > MOST_SAVED:
        parts = chunks(len(steps.waited), MOST_SAVED)
        steps = Steps(
            tuple(mean(steps.waited[part]) for part in parts),
            tuple(mean(steps.computed[part]) for part in parts),
        )
    return replace(analysis, utilisation=used, steps=steps)
