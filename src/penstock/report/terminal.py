"""An analysis in a terminal: the verdict, bars of characters, the costliest ops, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from penstock.printable import printable_lines, safe_console
from penstock.report import wording
from penstock.report.figure import END_TO_END, PIPELINE, accelerator_name, is_on_cpu
from penstock.report.opening import split_time
from penstock.report.summary import errors_told, finite_parts, headline, loader_speed_up, speed_up
from penstock.results.records import Analysis, CoreRate, OpCost

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

BAR_WIDTH = 24  # characters
NARROW, NARROW_BAR_WIDTH = 96, 12  # on terminals of fewer columns than that
LONGEST_NAME = 30
MOST_OPS = 5
MOST_EVIDENCE = 8
MOST_ADVICE = 3
MOST_CORE_COUNTS = 6
EIGHTHS = " ▏▎▍▌▋▊▉"
_Bar = Callable[[float, float], str]  # of a value, and of the largest one


def print_terminal(
    analysis: Analysis, *, before: Analysis | None = None, console: Console | None = None
) -> None:
    """Print what matters of an analysis, beside the one `before` a change if that is given."""
    analysis, before = finite_parts(analysis), before and finite_parts(before)
    _print(safe_console(highlight=False) if console is None else console, analysis, before)


def _print(out: Console, analysis: Analysis, before: Analysis | None) -> None:
    emulated = ", an emulated accelerator" if analysis.is_emulated else ""
    if analysis.banner:
        out.print(_text(analysis.banner, style="bold yellow"))
    else:
        verdict = _text(f" {analysis.verdict.value} ", style="bold reverse")
        out.print(verdict + _text(f" {analysis.sentence}", style="bold"))
    out.print(_text(f"{analysis.title} ({analysis.device}{emulated})", style="dim"))
    for line in analysis.evidence[:MOST_EVIDENCE]:
        out.print(_text(f"- {line}", style="dim"))
    if (more := len(analysis.evidence) - MOST_EVIDENCE) > 0:
        out.print(_text(f"- and {more} more in the report", style="dim"))
    for line in () if before is None else _gains(before, analysis):
        out.print(_text(line, style="bold green"))

    bar = _bars_for(out)
    runs = [analysis] if before is None else [before, analysis]
    if not any(run.banner for run in runs):  # bars compare, and doubtful rates cannot be compared
        _print_grid(out, _rates(runs, bar))
    if pieces := split_time(analysis):
        spent = ", ".join(piece.text for piece in pieces)
        condition = f" {analysis.assumption}" if analysis.assumption else ""
        whose = "the time of training" if is_on_cpu(analysis) else "the accelerator's time"
        out.print(_text(f"{whose}{condition}: {spent}"))
    _print_grid(out, _ops(analysis.ops, bar))
    _print_core_sweep(out, analysis)
    for line in _advice(analysis):
        out.print(line, soft_wrap=True)
    if analysis.left_out:
        left_out = wording.listed(analysis.left_out)
        out.print(_text(f"left out for lack of time: {left_out}; --seconds gives more"))
    checked, errors = errors_told(analysis.predictions)
    if checked:
        checks = wording.count(checked, "checked prediction")
        out.print(_text(f"\n{checks}: {errors}", style="dim"))


def _gains(before: Analysis, after: Analysis) -> Iterable[str]:
    """Yield the gain of a change; if nothing really trained, what was measured comes first."""
    loader, training = loader_speed_up(before, after), speed_up(before, after)
    if after.is_emulated and loader is not None and training is not None:
        yield f"the loader alone: {wording.factor(loader)} the rate before"
    if training is not None:
        condition = f" {after.assumption}" if after.assumption else ""
        yield f"training: {wording.factor(training)} the rate before{condition}"


def _rates(runs: Sequence[Analysis], bar: _Bar) -> Iterable[Sequence[Any]]:
    rows = []
    for i, run in enumerate(runs):
        sums = headline(run)
        when = "" if len(runs) == 1 else ("before: ", "after: ")[i]
        if sums.synthetic is not None:
            fresh = (
                "" if run.fresh is None else f"{wording.number(run.fresh.median)} on fresh batches"
            )
            rows.append((when + accelerator_name(run), sums.synthetic, fresh))
        for name, rate in ((PIPELINE, sums.pipeline), (END_TO_END, sums.end_to_end)):
            if rate is not None:
                where = f"on {wording.count(rate.cores, 'core')}"
                note = where if rate.is_measured else f"{where}, predicted"
                rows.append((when + name, rate.rate.median, note))
    largest = max((value for _, value, _ in rows), default=0.0)
    for name, value, note in rows:
        colour = "yellow" if name.endswith(END_TO_END) else "blue"
        yield name, (bar(value, largest), colour), wording.rate(value), note


def _ops(ops: Sequence[OpCost], bar: _Bar) -> Iterable[Sequence[Any]]:
    ranked = sorted(ops, key=lambda op: -op.microseconds)
    for op in ranked[:MOST_OPS]:
        drawn = (bar(op.microseconds, ranked[0].microseconds), "cyan")
        note = f"{wording.percent(op.share)} in {op.runs_in}"
        name = wording.shortened(op.name, LONGEST_NAME)
        yield name, drawn, wording.microseconds(op.microseconds), note
    rest = ranked[MOST_OPS:]
    if rest:
        cost = wording.microseconds(sum(op.microseconds for op in rest))
        share = wording.percent(sum(op.share for op in rest))
        yield f"{len(rest)} more", ("", ""), cost, share


def _print_core_sweep(out: Console, analysis: Analysis) -> None:
    """Print rates with a column for each number of cores; what is predicted has a star."""
    series = {PIPELINE: analysis.pipeline, END_TO_END: analysis.end_to_end}
    counts = sorted({rate.cores for rates in series.values() for rate in rates})
    counts = counts[:MOST_CORE_COUNTS]
    if len(counts) < 2:
        return
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    for _ in counts:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("CPU cores", *map(str, counts), style="dim")
    for name, rates in series.items():
        at = {rate.cores: _starred(rate) for rate in rates}
        table.add_row(name, *(at.get(count, wording.UNKNOWN) for count in counts))
    out.print()
    out.print(table)
    if not all(rate.is_measured for rates in series.values() for rate in rates):
        out.print(_text("* predicted, not measured", style="dim"))


def _starred(rate: CoreRate) -> str:
    return wording.number(rate.rate.median) + (" " if rate.is_measured else "*")


def _advice(analysis: Analysis) -> Iterable[Any]:
    ranked = sorted(analysis.advice, key=lambda entry: -entry.rank)[:MOST_ADVICE]
    if not ranked:
        return
    yield ""
    if analysis.assumption and any(entry.gain is not None for entry in ranked):
        yield _text(f"What to do, with gains of training {analysis.assumption}:")
    for entry in ranked:
        factor = "" if entry.gain is None else wording.factor(entry.gain)
        gain = _text(f"{factor:>5} ", style="bold green")
        why = _text(f": {entry.why}" if entry.why else "")
        yield gain + _text(entry.title, style="bold") + why
        for line in entry.line.splitlines():
            yield _text(f"      {line}", style="cyan")


def _print_grid(out: Console, rows: Iterable[Sequence[Any]]) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "left", "right", "left"):
        table.add_column(justify=justify, no_wrap=True)
    for name, (bar, colour), value, note in rows:
        table.add_row(_text(name), _text(bar, style=colour), _text(value), _text(note, style="dim"))
    if table.row_count:
        out.print()
        out.print(table)


def _text(words: str, style: str = "") -> Text:
    """Return words of ours and of files, with what would steer a terminal spelled out."""
    from rich.text import Text

    return Text(printable_lines(words), style=style)


def _bars_for(out: Console) -> _Bar:
    """Return what draws bars in the room and the characters that the terminal has."""
    width = BAR_WIDTH if out.width >= NARROW else NARROW_BAR_WIDTH
    can_draw = out.encoding.lower().startswith("utf")

    def bar(value: float, largest: float) -> str:
        if largest <= 0:
            return ""
        eighths = round(8 * width * min(max(value / largest, 0.0), 1.0))
        if not can_draw:
            return "#" * (eighths // 8)
        return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()

    return bar
