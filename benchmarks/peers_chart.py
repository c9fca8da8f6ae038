"""The chart of the README: images per second on one core, a bar for each peer that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from xml.sax.saxutils import escape

from benchmarks.runner import Measured

WIDTH, LEFT, RIGHT = 760, 300, 110
BAR, GAP, TOP = 20, 9, 14
OURS, THEIRS, TEXT = "#0b7285", "#adb5bd", "#868e96"


def draw(measured: Sequence[Measured]) -> str:
    """Return the chart as SVG: bars up to the median of the rounds, the range in figures."""
    ranked = sorted(
        (one for one in measured if one.cores == 1 and not one.layers),
        key=lambda one: -median(one.images_per_s),
    )
    scale = (WIDTH - LEFT - RIGHT) / max((max(one.images_per_s) for one in ranked), default=1.0)
    height = 2 * TOP + len(ranked) * (BAR + GAP)
    frame = f'viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="13"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {frame}>',
        "<title>Images per second on one core, by loader</title>",
    ]
    for number, one in enumerate(ranked):
        top = TOP + number * (BAR + GAP)
        least, most = (f"{value:,.0f}" for value in (min(one.images_per_s), max(one.images_per_s)))
        is_ours = one.peer.startswith("penstock")
        figures = least if least == most else f"{least}-{most}"
        length = scale * median(one.images_per_s)
        style = f'y="{top + BAR * 0.72:.1f}" fill="{TEXT}"'
        style += ' font-weight="bold"' if is_ours else ""
        fill = OURS if is_ours else THEIRS
        bar = f'x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR}" rx="2" fill="{fill}"'
        parts += [
            f'<text x="{LEFT - 8}" text-anchor="end" {style}>{escape(one.label)}</text>',
            f"<rect {bar}/>",
            f'<text x="{LEFT + length + 6:.1f}" {style}>{figures}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])
