"""What a plan does, what it costs and what each rule saves; `explain_text.py` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from penstock._core import Effect, Element
from penstock.geometry import Floats, Sizes
from penstock.planner.amounts import Work
from penstock.planner.draft import Draft
from penstock.planner.explain_text import text_of
from penstock.planner.prices import Prices
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove
from penstock.transforms.values import FinalSpec

# An offer that saves less is not worth a line: it would be within the error of the prices.
_LEAST_OFFER = 0.02

_FEW = 4  # kinds of effects that are named; more are counted

StageLine = tuple[str, str, str]  # what is done, by which ops, on which sizes


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
    written_stages: tuple[StageLine, ...]
    planned_stages: tuple[StageLine, ...]
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
    if_planned: Explanation | None = None  # what planning would bring, if it is off

    @property
    def written_us(self) -> float:
        """Microseconds of one core per image, as written."""
        return sum(line.microseconds for line in self.written)

    @property
    def planned_us(self) -> float:
        """Microseconds of one core per image, as planned."""
        return sum(line.microseconds for line in self.planned)

    def unplanned(self) -> Explanation:
        """The explanation of the same loader with planning off."""
        return replace(
            self,
            planned_stages=self.written_stages,
            planned=self.written,
            rules=(),
            offers=(),
            if_planned=self,
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {**asdict(self), "written_us": self.written_us, "planned_us": self.planned_us}

    def lines(self) -> list[str]:
        """The explanation as text."""
        return text_of(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def of_views(groups: Sequence[tuple[Explanation, Sequence[int]]]) -> Explanation:
    """One explanation of all views of an image; the numbers of equal views share one."""
    first = groups[0][0]
    note = (
        "views of an image share one decode where that is cheaper; the costs above count each "
        "view as if it were alone. Measured costs are those of all views together."
    )
    named = [_of_group(explained, numbers) for explained, numbers in groups]
    return replace(
        first,
        written_stages=tuple(chain.from_iterable(one.written_stages for one in named)),
        planned_stages=tuple(chain.from_iterable(one.planned_stages for one in named)),
        written=tuple(chain.from_iterable(one.written for one in named)),
        planned=tuple(chain.from_iterable(one.planned for one in named)),
        rules=tuple(chain.from_iterable(one.rules for one in named)),
        offers=tuple(chain.from_iterable(one.offers for one in named)),
        notes=(*first.notes, note),
    )


def _of_group(explained: Explanation, numbers: Sequence[int]) -> Explanation:
    """Lines that name their views, with what they cost in all of these together."""
    count = len(numbers)
    whose = f"view {numbers[0]}" if count == 1 else f"views {_listed(numbers)}"

    def stages(of: Iterable[StageLine]) -> tuple[StageLine, ...]:
        return tuple((f"{whose}: {what}", by, on) for what, by, on in of)

    def costs(of: Iterable[Line]) -> tuple[Line, ...]:
        return tuple(
            replace(line, what=f"{whose}: {line.what}", microseconds=line.microseconds * count)
            for line in of
        )

    def rules(of: Iterable[RuleLine]) -> tuple[RuleLine, ...]:
        return tuple(
            replace(line, name=f"{whose}: {line.name}", saves_us=line.saves_us * count)
            for line in of
        )

    return replace(
        explained,
        written_stages=stages(explained.written_stages),
        planned_stages=stages(explained.planned_stages),
        written=costs(explained.written),
        planned=costs(explained.planned),
        rules=rules(explained.rules),
        offers=rules(explained.offers),
    )


def _listed(numbers: Sequence[int]) -> str:
    """Numbers that rise, those in a row by the first and the last."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers))


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


def stage_lines(draft: Draft, names: Mapping[int, str]) -> list[StageLine]:
    """What is done, by which of the user's ops (`names`, by stream), and on which sizes."""
    found: list[tuple[StageLine, int]] = []
    for stage, sizes in zip(draft.stages, draft.sizes_along(), strict=False):
        by = " + ".join(names.get(stream, "?") for stream in sorted(stage.streams))
        line = (_deed(stage.move), by, size_text(sizes))
        if found and found[-1][0] == line:
            found[-1] = (line, found[-1][1] + 1)
        else:
            found.append((line, 1))
    return [
        (what if times == 1 else f"{times} times {what}", by, on) for (what, by, on), times in found
    ]


def last_stage_lines(
    final: FinalSpec, finishing: Iterable[tuple[str, Sequence[EffectMove]]], sizes: Sizes
) -> list[StageLine]:
    """What becomes of the pixels at the end; `finishing` has ops and their moves after that."""
    on, lines = size_text(sizes), list[StageLine]()
    if final.element != Element.UINT8:
        is_normalised = (final.mean, final.std) != (FinalSpec().mean, FinalSpec().std)
        then = ", normalised" if is_normalised else ""
        lines.append((f"write {final.element.name.lower()}{then}", "the final pass", on))
    lines += [(_deed(move), name, on) for name, moves in finishing for move in moves]
    return lines


def op_name(op: object) -> str:
    """The name of a transform, with what is in it if that is one other transform."""
    name = type(op).__name__
    inner: Sequence[object] = getattr(op, "transforms", ())
    return f"{name}({op_name(inner[0])})" if len(inner) == 1 else name


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
            kinds = [_name_of(Effect(kind)) for kind in np.unique(move.effect) if kind]
            if len(kinds) > _FEW:
                return f"one of {len(kinds)} effects"
            *first, last = kinds or ["nothing"]
            return f"{', '.join(first)} or {last}" if first else last


def _name_of(effect: Effect) -> str:
    return effect.name.lower().replace("_", " ")


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


def _mean(values: Floats | Any) -> int:
    return round(float(np.mean(values)))
