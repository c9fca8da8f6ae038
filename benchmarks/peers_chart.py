"""Draw benchmarks/results/peers.svg, the README's chart, from peers.csv beside it.

Run: python -m benchmarks.peers_chart
"""

from __future__ import annotations

import csv
from pathlib import Path
from xml.sax.saxutils import escape

RESULTS = Path(__file__).parent / "results"
WIDTH, LEFT, RIGHT = 760, 300, 90
BAR, GAP, TOP = 20, 9, 14
OURS, THEIRS, TEXT = "#0b7285", "#adb5bd", "#868e96"


def draw(rows: list[dict[str, str]]) -> str:
    """Return the chart: a bar per peer up to the middle of its range, the range in figures."""
    scale = (WIDTH - LEFT - RIGHT) / max(float(row["most"]) for row in rows)
    height = 2 * TOP + len(rows) * (BAR + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="13">',
        "<title>Images per second on one core, by loader</title>",
    ]
    for number, row in enumerate(rows):
        top = TOP + number * (BAR + GAP)
        least, most = int(row["least"]), int(row["most"])
        is_ours = row["peer"].startswith("penstock")
        figures = f"{least:,}" if least == most else f"{least:,}-{most:,}"
        bold = ' font-weight="bold"' if is_ours else ""
        length = scale * (least + most) / 2
        middle = top + BAR * 0.72
        parts += [
            f'<text x="{LEFT - 8}" y="{middle:.1f}" text-anchor="end" fill="{TEXT}"{bold}>'
            f"{escape(row['peer'])}</text>",
            f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR}" rx="2" '
            f'fill="{OURS if is_ours else THEIRS}"/>',
            f'<text x="{LEFT + length + 6:.1f}" y="{middle:.1f}" fill="{TEXT}"{bold}>'
            f"{figures}</text>",
        ]
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    with (RESULTS / "peers.csv").open(encoding="utf-8", newline="") as table:
        (RESULTS / "peers.svg").write_text(draw(list(csv.DictReader(table))), encoding="utf-8")
