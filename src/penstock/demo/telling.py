"""The demo's story as some lines in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from penstock.demo.loaders import CROP_PX
from penstock.demo.result import Result
from penstock.printable import safe_console
from penstock.report import wording

if TYPE_CHECKING:
    from penstock.demo.passes import Row
    from penstock.results.records import Analysis


def print_story(result: Result) -> None:
    """Print what was measured, then the verdicts before and after, and where the report is."""
    from rich.text import Text

    console = safe_console(highlight=False)

    def tell(words: str, style: str = "", indent: str = "") -> None:
        wrapped = fill(words, console.width, initial_indent=indent, subsequent_indent=indent)
        console.print(Text(wrapped, style=style))

    tell(_work(result))
    console.print()
    if (measured := _measured(result)) is not None:
        tell(measured, style="bold green")
    tell(_comparison(result), style="green" if result.all_identical else "bold red")
    console.print()
    console.print(_table(result.rows))
    console.print()
    for heading, lines in _parts(result):
        tell(heading, style="bold")
        for line in lines:
            tell(line, indent="  ")
    for note in result.notes:
        tell(note)
    if result.report is not None:
        console.print(Text(f"Before and after in one page: {result.report}"), soft_wrap=True)


def _work(result: Result) -> str:
    size = f"{result.packing.original_bytes / 1e6:,.1f} MB"
    work = f"RandomResizedCrop({CROP_PX}), flip, normalise; batches of {result.work.batch_size}"
    return f"{result.packing.images:,} photos made for this, {size} of JPEGs; {work}."


def _measured(result: Result) -> str | None:
    """Return what was measured of the loaders alone, in turn, on all cores."""
    most = max((row.cores for row in result.rows), default=0)
    rates = {row.loader: row for row in result.rows if row.cores == most}
    ours = [row for name, row in rates.items() if name.startswith("penstock, packed")]
    if not ours or result.plain not in rates:
        return None
    times, plain = median(ours[0].ratios), median(rates[result.plain].images_per_s)
    return (
        f"Loaders alone on {wording.count(most, 'core')}: penstock on the packed file gives "
        f"{median(ours[0].images_per_s):,.0f} images/s, {result.plain} {plain:,.0f}: "
        f"{wording.factor(times)} as many."
    )


def _parts(result: Result) -> Iterator[tuple[str, list[str]]]:
    packing = result.packing
    size = f"{packing.original_bytes / 1e6:,.1f} MB"
    packed = f"{size} became {packing.packed_bytes / 1e6:,.1f} MB in {packing.seconds:,.1f} s"
    yield f"Before: {result.before.title}", _finding(result.before)
    yield "Packed, without loss", [f"{packed}."]
    yield f"After: {result.after.title}", _finding(result.after)
    yield "What that does to training", [result.construction]


def _comparison(result: Result) -> str:
    loaders = f"{result.plain}, penstock on the folder, penstock on the packed file"
    count = f"{result.identical} of {result.compared}"
    return f"{count} images compared are bit-identical: {loaders}."


def _finding(analysis: Analysis) -> list[str]:
    if analysis.banner:
        return [analysis.banner]
    return [f"{analysis.verdict.value}: {analysis.sentence}"]


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
