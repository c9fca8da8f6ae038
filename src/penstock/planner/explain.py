"""What a plan does, what it costs and what each rule saves, in tables that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from penstock._core import Effect
from penstock.geometry import Floats, Sizes
from penstock.planner.amounts import Work
from penstock.planner.draft import Draft
from penstock.planner.prices import Prices
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove

# An offer that saves less is not worth a line: it would be within the error of the prices.
_LEAST_OFFER = 0.02

_SMALL = 0.01  # share of the whole below which pieces of work are put together

_FEW = 3  # kinds of effects that are named; more are counted


@dataclass(frozen=True, slots=True)
class Line:
    """One piece of work, averaged over all samples that were looked at."""

    what: str
    size: str  # of the images before it
    share: float  # of the samples that have it
    microseconds: float  # per sample, of all samples
    kind: str = "native"  # or "python": a function of the user's


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule that the plan uses, or one that it could use."""

    name: str
    fidelity: str
    summary: str
    saves_us: float  # per sample, as predicted
    argument: str = ""  # for an offer: what to give the loader
    bound: str = ""  # how far results may be from the exact ones
    measured_us: float | None = None  # what it saves, measured


@dataclass(frozen=True, slots=True)
class Explanation:
    """A pipeline as written and as planned."""

    data: str
    samples: int  # looked at
    prices: str  # where prices come from
    written_stages: tuple[tuple[str, str, str], ...]  # what is done, by which ops, on which sizes
    planned_stages: tuple[tuple[str, str, str], ...]
    written: tuple[Line, ...]
    planned: tuple[Line, ...]
    permitted: tuple[str, ...]  # rules that the plan may use
    rules: tuple[RuleLine, ...]  # rules that it uses
    offers: tuple[RuleLine, ...]  # rules that would save more, with those permitted
    notes: tuple[str, ...] = ()
    reuse: tuple[str, ...] = ()  # what `Loader(reuse=...)` brings, in lines
    measured_written_us: float | None = None
    measured_planned_us: float | None = None
    noise_us: float = 0.0  # how far rounds of the same measurement lie apart

    @property
    def written_us(self) -> float:
        """Microseconds of one core per image, as written."""
        return sum(line.microseconds for line in self.written)

    @property
    def planned_us(self) -> float:
        """Microseconds of one core per image, as planned."""
        return sum(line.microseconds for line in self.planned)

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {**asdict(self), "written_us": self.written_us, "planned_us": self.planned_us}

    def lines(self) -> list[str]:
        """The explanation as text."""
        return [
            *self._head(),
            "",
            *aligned(("as written", "from", "on"), self.written_stages),
            "",
            *_table_of_lines("costs as written", self.written, self.written_us),
            "",
            *self._planned(),
            *self._rules(),
            *self._offers(),
            *(f"note: {note}" for note in self.notes),
            *(("", *self.reuse) if self.reuse else ()),
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _head(self) -> list[str]:
        looked_at = f"{self.samples} sample{'' if self.samples == 1 else 's'}"
        costs = f"{_us(self.written_us)} per image as written, {_us(self.planned_us)} as planned"
        ratio = _ratio(self.written_us, self.planned_us)
        origin = f"predicted for one core, from {looked_at}; {self.prices}"
        head = [self.data, f"{costs} ({ratio}): {origin}"]
        if self.measured_written_us is not None and self.measured_planned_us is not None:
            before, after = self.measured_written_us, self.measured_planned_us
            costs = f"{_us(before)} per image as written, {_us(after)} as planned"
            head.append(f"{costs} ({_ratio(before, after)}): measured, +-{_us(self.noise_us)}")
        return head

    def _planned(self) -> list[str]:
        if not self.rules:
            return ["as planned: the same; no rule applies, or none would save anything"]
        return [
            *aligned(("as planned", "from", "on"), self.planned_stages),
            "",
            *_table_of_lines("costs as planned", self.planned, self.planned_us),
        ]

    def _rules(self) -> list[str]:
        if not self.rules:
            return []
        head = ("rule", "fidelity", "saves", *(("measured",) if self._is_measured else ()), "what")
        rows = [
            (
                rule.name,
                rule.fidelity,
                _saving(rule.saves_us),
                *((self._measured(rule),) if self._is_measured else ()),
                rule.summary + (f" ({rule.bound})" if rule.bound else ""),
            )
            for rule in self.rules
        ]
        return ["", *aligned(head, rows, right=(2, 3) if self._is_measured else (2,))]

    def _offers(self) -> list[str]:
        if not self.offers:
            return []
        lines = ["", "not taken, since results would change:"]
        for offer in self.offers:
            saves = f"would save {_saving(offer.saves_us)} per image"
            if offer.measured_us is not None:
                saves += f", measured {self._measured(offer)}"
            bound = f" Bound: {offer.bound}." if offer.bound else ""
            lines.append(f"  {offer.name} ({offer.fidelity}) {saves}: {offer.argument}")
            lines.append(f"    {offer.summary}{bound}")
        return lines

    def _measured(self, line: RuleLine) -> str:
        saved = line.measured_us
        if saved is None or abs(saved) > self.noise_us:
            return _saving(saved)
        return "none seen"

    @property
    def _is_measured(self) -> bool:
        return any(rule.measured_us is not None for rule in self.rules)


def of_views(views: Sequence[Explanation]) -> Explanation:
    """One explanation of all views of an image."""

    def named(lines: Iterable[Any], number: int, field: str) -> list[Any]:
        return [
            replace(line, **{field: f"view {number}: {getattr(line, field)}"}) for line in lines
        ]

    def stages(of: Callable[[Explanation], Iterable[tuple[str, str, str]]]) -> tuple[Any, ...]:
        return tuple(
            (f"view {number}: {what}", *rest)
            for number, view in enumerate(views, start=1)
            for what, *rest in of(view)
        )

    numbered = list(enumerate(views, start=1))
    note = (
        "views of an image share one decode where that is cheaper; the costs above count each "
        "view as if it were alone."
    )
    return replace(
        views[0],
        written_stages=stages(lambda view: view.written_stages),
        planned_stages=stages(lambda view: view.planned_stages),
        written=tuple(x for n, view in numbered for x in named(view.written, n, "what")),
        planned=tuple(x for n, view in numbered for x in named(view.planned, n, "what")),
        rules=tuple(x for n, view in numbered for x in named(view.rules, n, "name")),
        offers=tuple(x for n, view in numbered for x in named(view.offers, n, "name")),
        notes=(*views[0].notes, note),
    )


def lines_of(work: Work, prices: Prices, samples: int) -> tuple[Line, ...]:
    """The pieces of work, each with what it costs on average over `samples`."""
    return tuple(
        Line(
            part.name,
            size_text(part.sizes),
            len(part.rows) / samples,
            float(prices.of_part(part).sum()) / samples,
        )
        for part in work.parts
    )


def stage_lines(draft: Draft, names: Mapping[int, str]) -> list[tuple[str, str, str]]:
    """What is done, by which of the user's ops (`names`, by stream), and on which sizes."""
    return [
        (
            _deed(stage.move),
            " + ".join(names.get(stream, "?") for stream in sorted(stage.streams)),
            size_text(sizes),
        )
        for stage, sizes in zip(draft.stages, draft.sizes_along(), strict=False)
    ]


def _deed(move: Move) -> str:
    match move:
        case CropMove():
            return f"crop to {size_text(Sizes(move.height, move.width))}"
        case ResizeMove():
            reduced = "" if move.scales is None else ", partly by the decoder"
            return f"resize to {size_text(Sizes(move.height, move.width))}{reduced}"
        case FlipMove():
            return "mirror"
        case PadMove():
            return "pad"
        case EffectMove():
            kinds = [Effect(kind).name.lower() for kind in np.unique(move.effect) if kind]
            waits = ", with the next" if np.any(move.waits) else ""
            few = " or ".join(kinds) if len(kinds) <= _FEW else f"one of {len(kinds)} effects"
            return (few or "nothing") + waits


def rule_line(rule: Rule, saves_us: float, *, offered: bool = False) -> RuleLine:
    """A rule with what it saves; an offer says how to take it."""
    bound = rule.bound
    text = (
        ""
        if bound is None
        else f"at most {bound.mean:g} levels off on average, {bound.most:g} at one place"
    )
    argument = f'Loader(..., allow=("{rule.name}",))'
    if rule.fidelity == Fidelity.FAST:
        argument += ', or fidelity="fast" for all fast rules'
    return RuleLine(
        rule.name,
        rule.fidelity.value,
        rule.summary,
        saves_us,
        argument if offered else "",
        text,
    )


def past_functions(saves_us: float) -> RuleLine:
    """What cropping before functions per pixel saves, without their own time."""
    return RuleLine(
        "crop_before_function",
        Fidelity.EXACT.value,
        "Crop before your functions that look at single pixels; they save time, too.",
        saves_us,
    )


def worth_offering(offers: Iterable[RuleLine], planned_us: float) -> tuple[RuleLine, ...]:
    """The offers that save a share of the plan's cost worth having, the best first."""
    worth = [offer for offer in offers if offer.saves_us > _LEAST_OFFER * planned_us]
    return tuple(sorted(worth, key=lambda offer: -offer.saves_us))


def with_measured(line: RuleLine, measured_us: float) -> RuleLine:
    """The rule with what it saved when it was tried."""
    return replace(line, measured_us=measured_us)


def rules_by_name(names: Iterable[str]) -> tuple[Rule, ...]:
    """Rules in the order in which they are applied."""
    wanted = frozenset(names)
    return tuple(rule for rule in RULES if rule.name in wanted)


def size_text(sizes: Sizes) -> str:
    """The size of all images, or what they have on average."""
    if not len(sizes):
        return ""
    same = (sizes.height == sizes.height[0]).all() and (sizes.width == sizes.width[0]).all()
    return f"{'' if same else '~'}{_mean(sizes.width)}x{_mean(sizes.height)}"


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


def _table_of_lines(title: str, lines: Sequence[Line], total_us: float) -> list[str]:
    """Lines that cost something; the others together."""
    dear = [line for line in lines if _is_dear(line, total_us)]
    rows = [
        (
            line.what if line.kind == "native" else f"{line.what} (Python)",
            line.size,
            _share(line.share),
            f"{line.microseconds:,.1f}",
        )
        for line in dear
    ]
    rest = total_us - sum(line.microseconds for line in dear)
    others = len(lines) - len(dear)
    if others:
        rows.append((f"{others} small pieces of work", "", "", f"{rest:,.1f}"))
    rows.append(("together", "", "", f"{total_us:,.1f}"))
    return aligned((title, "of size", "samples", "us"), rows, right=(2, 3))


def _is_dear(line: Line, total_us: float) -> bool:
    return line.kind != "native" or line.microseconds >= _SMALL * total_us


def _share(share: float) -> str:
    return "all" if share > 0.995 else f"{share:.0%}"


def _saving(saves_us: float | None) -> str:
    return "" if saves_us is None else _us(saves_us)


def _us(microseconds: float) -> str:
    if abs(microseconds) >= 10_000:
        return f"{microseconds / 1_000:,.1f} ms"
    return f"{microseconds:,.0f} us" if abs(microseconds) >= 10 else f"{microseconds:.1f} us"


def _ratio(before: float, after: float) -> str:
    return f"{before / after:.2f}x" if after > 0 else "-"


def _mean(values: Floats | Any) -> int:
    return round(float(np.mean(values)))
