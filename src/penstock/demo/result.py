"""What the demo found: the figures, shown in a terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from penstock.demo.loaders import CROP_PX, Work
from penstock.demo.passes import Row
from penstock.printable import safe_console
from penstock.report import wording
from penstock.report.summary import headline, speed_up
from penstock.report.time_series import thin_for_saving
from penstock.usable_cores import CAN_PIN

if TYPE_CHECKING:
    from penstock.results.records import Analysis

# An accelerator so many times as fast as the plain pipeline starves on it, for certain, while a
# packed file, which delivers many times more still, keeps it busy.
STARVING = 4


@dataclass(frozen=True, slots=True)
class Packing:
    """What packing the photos came to."""

    images: int
    original_bytes: int
    packed_bytes: int
    seconds: float


@dataclass(slots=True)
class Result:
    """The demo's result."""

    work: Work
    plain: str  # the plain loader's name in `rows`
    plain_rate: float  # alone, by which the accelerator was chosen
    before: Analysis
    packing: Packing
    after: Analysis
    passes: int
    rows: list[Row]
    identical: int
    compared: int
    report: str | None = None  # where it was written
    notes: list[str] = field(default_factory=list)

    @property
    def all_identical(self) -> bool:
        """False if an image differed."""
        return self.identical == self.compared

    @property
    def speed_up(self) -> float | None:
        """How many times as fast training is after packing, with the accelerator chosen here."""
        return speed_up(self.before, self.after)

    @property
    def construction(self) -> str:
        """How the accelerator was chosen, and what that makes of the gain in training."""
        rate = wording.rate(headline(self.before).synthetic or 0.0)
        said = (
            f"The accelerator is made up: {rate}, {STARVING} times what the plain pipeline "
            f"delivers ({wording.rate(self.plain_rate)}), so {STARVING} times is the most that "
            "training could gain here"
        )
        if self.speed_up is None:
            return f"{said}."
        before, after = (wording.rate(end_to_end_rate(one)) for one in (self.before, self.after))
        return f"{said}. It got {before} before and {after} after: {wording.factor(self.speed_up)}."

    def to_json(self) -> str:
        """Return everything as JSON."""
        figures: dict[str, Any] = {
            "folder": self.work.folder,
            "crop_px": CROP_PX,
            "batch_size": self.work.batch_size,
            "device": self.before.device,
            "plain_images_per_s": self.plain_rate,
            "packing": asdict(self.packing),
            "speed_up": self.speed_up,
            "construction": self.construction,
            "images_compared": self.compared,
            "images_identical": self.identical,
            "passes": self.passes,
            "pinned": CAN_PIN,
            "rows": [row.to_dict() for row in self.rows],
            "report": self.report,
            "notes": self.notes,
            "before": thin_for_saving(self.before).to_dict(),
            "after": thin_for_saving(self.after).to_dict(),
        }
        return json.dumps(figures, indent=2)


def end_to_end_rate(analysis: Analysis) -> float:
    """Return the images per second that training got; the demo always measures them."""
    rate = headline(analysis).end_to_end
    return 0.0 if rate is None else rate.rate.median


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
