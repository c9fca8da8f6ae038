"""Draw benchmarks/results/peers.svg, the README's chart, from peers.csv beside it.

Run: python -m benchmarks.peers_chart
"""

from __future__ import annotations

import csv
from pathlib import Path
from xml.sax.saxutils import escape

RESULTS = Path(__file__).parent / "results"
WIDTH, LEFT, RIGHT = 760, 300, 110
BAR, GAP, TOP = 20, 9, 14
OURS, THEIRS, TEXT = "#0b7285", "#adb5bd", "#868e96"


def draw(rows: list[dict[str, str]]) -> str:
    """Return the chart: a bar per peer up to the middle of its range, the range in figures."""
    scale = (WIDTH - LEFT - RIGHT) / max(float(row["most"]) for row in rows)
    height = 2 * TOP + len(rows) * (BAR + GAP)
    frame = f'viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="13"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {frame}>',
        "<title>Images per second on one core, by loader</title>",
    ]
    for number, row in enumerate(rows):
        top = TOP + number * (BAR + GAP)
        least, most = int(row["least"]), int(row["most"])
        is_ours = row["peer"].startswith("penstock")
        figures = f"{least:,}" if least == most else f"{least:,}-{most:,}"
        length = scale * (least + most) / 2
        style = f'y="{top + BAR * 0.72:.1f}" fill="{TEXT}"'
        style += ' font-weight="bold"' if is_ours else ""
        fill = OURS if is_ours else THEIRS
        bar = f'x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR}" rx="2" fill="{fill}"'
        name = escape(row["peer"])
        parts += [
            f'<text x="{LEFT - 8}" text-anchor="end" {style}>{name}</text>',
            f"<rect {bar}/>",
            f'<text x="{LEFT + length + 6:.1f}" {style}>{figures}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    with (RESULTS / "peers.csv").open(encoding="utf-8", newline="") as table:
        (RESULTS / "peers.svg").write_text(draw(list(csv.DictReader(table))), encoding="utf-8")
