"""An explanation of a plan in tables that people read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.planner.explain import Explanation, Line, RuleLine

_SMALL = 0.01  # share of the whole below which work is put together, and savings are no news


def text_of(explained: Explanation) -> list[str]:
    """The explanation, line by line."""
    return [
        *_head(explained),
        "",
        *aligned(("as written", "from", "on"), explained.written_stages),
        "",
        *_costs("costs as written", explained.written, explained.written_us),
        "",
        *_planned(explained),
        *_rules(explained),
        *_offers(explained),
        *(f"note: {note}" for note in explained.notes),
        *(("", *explained.reuse) if explained.reuse else ()),
    ]


def _head(explained: Explanation) -> list[str]:
    looked_at = f"{explained.samples} sample{'' if explained.samples == 1 else 's'}"
    origin = f"predicted for one core, from {looked_at}; {explained.prices}"
    planned = explained.if_planned or explained
    head = [explained.data, f"{_compared(explained.written_us, planned.planned_us)}: {origin}"]
    before, after = planned.measured_written_us, planned.measured_planned_us
    if before is not None and after is not None:
        head.append(f"{_compared(before, after)}: measured, +-{in_us(planned.noise_us)}")
    return head


def _compared(before: float, after: float) -> str:
    ratio = f"{before / after:.2f}x" if after > 0 else "-"
    return f"{in_us(before)} per image as written, {in_us(after)} as planned ({ratio})"


def _planned(explained: Explanation) -> list[str]:
    planned = explained.if_planned
    if planned is not None:
        off = (
            "planning is off (plan=False): the work is done as written. Leave out plan=False to "
            "have it done as planned, with the same draws, boxes and masks:"
        )
        return [off, "", *_planned(planned), *_rules(planned), *_offers(planned)]
    if not explained.rules:
        return ["as planned: the same; no rule applies, or none would save anything"]
    differ = abs(explained.written_us - explained.planned_us) >= _SMALL * explained.written_us
    if explained.planned_stages != explained.written_stages:
        order = aligned(("as planned", "from", "on"), explained.planned_stages)
    elif differ:
        order = ["as planned: in the same order"]
    else:
        return ["as planned: in the same order, for about the same cost"]
    return [*order, "", *_costs("costs as planned", explained.planned, explained.planned_us)]


def _rules(explained: Explanation) -> list[str]:
    if not explained.rules:
        return []
    is_measured = any(rule.measured_us is not None for rule in explained.rules)
    head = ("rule", "fidelity", "saves", *(("measured",) if is_measured else ()), "what")
    rows = [
        (
            rule.name,
            rule.fidelity,
            _saving(explained, rule),
            *((_measured(explained, rule),) if is_measured else ()),
            rule.summary + (f" ({rule.bound})" if rule.bound else ""),
        )
        for rule in explained.rules
    ]
    table = aligned(head, rows, right=(2, 3) if is_measured else (2,))
    return ["", *table, *_shared_savings(explained)]


def _shared_savings(explained: Explanation) -> list[str]:
    """A line for those who would add up the savings of rules that need each other."""
    together = explained.written_us - explained.planned_us
    if sum(rule.saves_us for rule in explained.rules) <= together + _SMALL * explained.written_us:
        return []
    told = (
        "Each saving is what would be lost without that rule alone; rules that need each other "
        "share one."
    )
    return [told]


def _offers(explained: Explanation) -> list[str]:
    if not explained.offers:
        return []
    lines = ["", "not taken, since results would change:"]
    for offer in explained.offers:
        saves = f"would save {in_us(offer.saves_us)} per image"
        if offer.measured_us is not None:
            saves += f", measured {_measured(explained, offer)}"
        bound = f" Bound: {offer.bound}." if offer.bound else ""
        lines.append(f"  {offer.name} ({offer.fidelity}) {saves}: {offer.argument}")
        lines.append(f"    {offer.summary}{bound}")
    return lines


def _saving(explained: Explanation, rule: RuleLine) -> str:
    is_small = abs(rule.saves_us) < _SMALL * explained.written_us
    return "little" if is_small else in_us(rule.saves_us)


def _measured(explained: Explanation, line: RuleLine) -> str:
    if line.measured_us is None:
        return ""
    seen = abs(line.measured_us) > explained.noise_us
    return in_us(line.measured_us) if seen else "none seen"


def _costs(title: str, lines: Sequence[Line], total_us: float) -> list[str]:
    """Lines that cost something; the others together."""
    together = _put_together(lines)
    dear = [
        line for line in together if line.kind != "native" or line.microseconds >= _SMALL * total_us
    ]
    rows = [
        (
            line.what if line.kind == "native" else f"{line.what} (Python)",
            line.size,
            _share(line.share),
            f"{line.microseconds:,.1f}",
        )
        for line in dear
    ]
    others = len(together) - len(dear)
    if others:
        rest = total_us - sum(line.microseconds for line in dear)
        pieces = "1 small piece" if others == 1 else f"{others} small pieces"
        rows.append((f"{pieces} of work", "", "", f"{rest:,.1f}"))
    rows.append(("together", "", "", f"{total_us:,.1f}"))
    return aligned((title, "of size", "samples", "us"), rows, right=(2, 3))


def _put_together(lines: Sequence[Line]) -> list[Line]:
    """Pieces of the same work on images of the same size are one, where the first of them was."""
    found: dict[tuple[str, str, str], Line] = {}
    for line in lines:
        key = (line.what, line.size, line.kind)
        known = found.get(key)
        found[key] = (
            line
            if known is None
            else replace(
                known,
                share=min(1.0, known.share + line.share),
                microseconds=known.microseconds + line.microseconds,
            )
        )
    return list(found.values())


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> list[str]:
    """A table with columns that align; those in `right` to the right."""
    every = [head, *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(head))]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in every
    ]


def in_us(microseconds: float) -> str:
    """A time in microseconds, or in milliseconds if it is long."""
    if abs(microseconds) >= 10_000:
        return f"{microseconds / 1_000:,.1f} ms"
    return f"{microseconds:,.0f} us" if abs(microseconds) >= 10 else f"{microseconds:.1f} us"


def _share(share: float) -> str:
    return "all" if share > 0.995 else f"{share:.0%}"
