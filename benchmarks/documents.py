"""Puts the figures of `penstock bench --docs` into docs/benchmarks.md, with their chart.

They are kept in results/bench.json, case by case: a case that is measured again replaces its own
figures only. `python -m benchmarks.documents` writes the tables anew without measuring.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.answer import Answer
from benchmarks.cases import CASES
from benchmarks.dataset import CHECKOUT
from benchmarks.peers_chart import draw
from benchmarks.table import about, tables

KEPT = CHECKOUT / "benchmarks" / "results" / "bench.json"
CHART = CHECKOUT / "benchmarks" / "results" / "peers.svg"
PAGE = CHECKOUT / "docs" / "benchmarks.md"
BEGIN = "<!-- tables: written by `penstock bench --docs`, not by hand -->"
END = "<!-- end of tables -->"
CHARTED = "classify_224"


def write_documents(
    answers: Sequence[Answer], kept: Path = KEPT, page: Path = PAGE, chart: Path = CHART
) -> None:
    """Add the answers to those that are kept, and write the tables and the chart of them all."""
    found = {answer.name: answer for answer in read_kept(kept)}
    found.update((answer.name, answer) for answer in answers)
    whole = [found[name] for name in dict.fromkeys([*CASES, *found]) if name in found]
    kept.write_text(
        json.dumps({"cases": [asdict(answer) for answer in whole]}, indent=1) + "\n",
        encoding="utf-8",
    )
    page.write_text(with_tables(page.read_text(encoding="utf-8"), whole), encoding="utf-8")
    if CHARTED in found:
        chart.write_text(draw(found[CHARTED].outcome.measured), encoding="utf-8")


def read_kept(kept: Path = KEPT) -> list[Answer]:
    """Return what was measured before, if anything."""
    if not kept.exists():
        return []
    told = json.loads(kept.read_text(encoding="utf-8"))
    return [Answer.from_dict(one) for one in told["cases"]]


def with_tables(text: str, answers: Sequence[Answer]) -> str:
    """Return a page with other tables between its marks."""
    begin, end = text.find(BEGIN), text.find(END)
    if not 0 <= begin < end:
        raise ValueError(f"docs/benchmarks.md: expected the marks {BEGIN!r} and {END!r}.")
    kept = "Every figure is in [bench.json](../benchmarks/results/bench.json)."
    parts = [text[: begin + len(BEGIN)], "", *([kept, ""] if answers else [])]
    for answer in answers:
        parts += [f"### {answer.title}", "", f"{answer.question}.", "", *about(answer)]
        parts += [f"- made by `{answer.command}`", "", *tables(answer), ""]
    return "\n".join([*parts, text[end:]])


if __name__ == "__main__":
    write_documents([])
