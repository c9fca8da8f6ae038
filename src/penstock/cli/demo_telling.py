"""The demo's story as some lines in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from penstock.analysis.report import wording
from penstock.cli.demo_loaders import CROP_PX
from penstock.cli.demo_result import STARVING, Result, end_to_end_rate

if TYPE_CHECKING:
    from penstock.analysis.results import Analysis
    from penstock.cli.demo_passes import Row


def print_story(result: Result) -> None:
    """Print what was measured, the verdicts before and after, the factor, where the report is."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def tell(words: str, style: str = "", indent: str = "") -> None:
        wrapped = fill(words, console.width, initial_indent=indent, subsequent_indent=indent)
        console.print(Text(wrapped, style=style))

    for heading, lines in _parts(result):
        tell(heading, style="bold")
        for line in lines:
            tell(line, indent="  ")
    console.print()
    if result.speed_up is not None:
        tell(f"Training is {wording.factor(result.speed_up)} as fast.", style="bold green")
        console.print()
    console.print(_table(result.rows))
    console.print()
    tell(_comparison(result), style="green" if result.all_identical else "bold red")
    for note in result.notes:
        tell(note)
    if result.report is not None:
        console.print(Text(f"Before and after in one page: {result.report}"), soft_wrap=True)


def _parts(result: Result) -> Iterator[tuple[str, list[str]]]:
    packing, device = result.packing, result.before.device
    size = f"{packing.original_bytes / 1e6:,.1f} MB"
    work = f"RandomResizedCrop({CROP_PX}), flip, normalise; batches of {result.work.batch_size}"
    photos = f"{packing.images:,} photos made for this, {size} of JPEGs; {work}."
    times, rate = f"{STARVING} times", wording.rate(result.plain_rate)
    accelerator = f"An accelerator, {device}: {times} what the plain pipeline delivers, {rate}."
    packed = f"{size} became {packing.packed_bytes / 1e6:,.1f} MB in {packing.seconds:,.1f} s"
    yield "What is measured", [photos, accelerator]
    yield f"Before: {result.before.title}", _finding(result.before)
    yield "Packed, without loss", [f"{packed}."]
    yield f"After: {result.after.title}", _finding(result.after)


def _comparison(result: Result) -> str:
    loaders = f"{result.plain}, penstock on the folder, penstock on the packed file"
    count = f"{result.identical} of {result.compared}"
    return f"{count} images compared are bit-identical: {loaders}."


def _finding(analysis: Analysis) -> list[str]:
    return [
        f"{analysis.verdict.value}: {analysis.sentence}",
        f"Training gets {wording.rate(end_to_end_rate(analysis))}.",
    ]


def _table(rows: Sequence[Row]) -> Any:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("loader alone", no_wrap=True)
    for name in ("cores", "images/s", "range", "ratio", "first batch"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.loader,
            f"{row.cores}",
            f"{median(row.images_per_s):,.0f}",
            f"{min(row.images_per_s):,.0f}-{max(row.images_per_s):,.0f}",
            f"{median(row.ratios):.2f}x",
            duration(row.first_batch_s),
            style="bold" if row.loader.endswith("packed") else None,
        )
    return table


def duration(seconds: float) -> str:
    """Return a time in the unit people would use."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.1f} s"
