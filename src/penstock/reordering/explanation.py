"""What `penstock.explain` found out about a list of transforms, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from penstock.planner.explain_text import aligned
from penstock.planner.rules.rule import Fidelity
from penstock.printable import printable
from penstock.reordering.pairs import Images
from penstock.reordering.rules import OrderRule
from penstock.reordering.steps import Role, Step
from penstock.reordering.trials import Difference, Times, is_worth_having
from penstock.results.records import Rate

_WIDTH = 100
_DRAWS = (
    "torchvision's ops draw from torch's one generator in the order in which they run: with the "
    "same seed, another order gives other images. Exact means that what is drawn the same comes "
    "out the same to the last bit, and that every result is as likely as before."
)


@dataclass(frozen=True, slots=True)
class Swap:
    """An op that was moved before another one, by which rule, and how far that changes images."""

    rule: OrderRule
    moved: str
    before: str
    difference: Difference | None = None  # measured, for rules that are not exact

    @property
    def told(self) -> str:
        """The change in one line."""
        return f"{self.moved} before {self.before}"


@dataclass(frozen=True, slots=True)
class Variant:
    """The list in another order: what was moved, and how long it takes."""

    steps: tuple[Step, ...]
    images: tuple[Images, ...]
    swaps: tuple[Swap, ...]
    times: Times
    code: str

    @property
    def fidelity(self) -> Fidelity:
        """That of the rule which keeps least."""
        levels = list(Fidelity)
        return max((swap.rule.fidelity for swap in self.swaps), key=levels.index)


@dataclass(frozen=True, slots=True)
class Offer:
    """A variant that was not asked for, and the argument that asks for it."""

    argument: str
    variant: Variant


@dataclass(frozen=True, slots=True)
class OrderExplanation:
    """What a better order of a list of torchvision's transforms brings, measured in torchvision.

    `print(explanation)` tells all of it.
    """

    what: str
    pipeline: Any  # the user's list
    written: Variant
    reordered: Variant | None  # None if the rules find nothing to move
    offers: tuple[Offer, ...]
    calls_per_sample: float = 1.0
    sample_ms: float | None = None  # with reading and decoding
    others: int = 0

    @property
    def images(self) -> int:
        """On how many images it was measured."""
        return self.written.times.images

    @property
    def speed_up(self) -> Rate | None:
        """How many times as fast the transforms are in the new order; None without one."""
        return None if self.reordered is None else self._speed_up(self.reordered)

    @property
    def is_worth_having(self) -> bool:
        """Whether the new order is faster by more than the measurements differ."""
        return self.speed_up is not None and is_worth_having(self.speed_up)

    @property
    def code(self) -> str:
        """The new list as Python source, ready to paste; empty if it is not worth having."""
        worth = self.is_worth_having and self.reordered is not None
        return self.reordered.code if worth and self.reordered is not None else ""

    @property
    def transforms(self) -> list[Any]:
        """The user's own ops, in the new order if that is worth having."""
        chosen = self.reordered if self.is_worth_having and self.reordered else self.written
        return [step.op for step in chosen.steps]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in types that JSON knows."""
        speed_up = self.speed_up
        return {
            "what": self.what,
            "images": self.images,
            "ops": [self._op_dict(place) for place in range(len(self.written.steps))],
            "ms_before": self.written.times.ms,
            "ms_after": None if self.reordered is None else self.reordered.times.ms,
            "speed_up": None if speed_up is None else speed_up.median,
            "speed_up_range": None if speed_up is None else [speed_up.least, speed_up.largest],
            "is_worth_having": self.is_worth_having,
            "changes": [_swap_dict(swap) for swap in self._swaps],
            "offers": [self._offer_dict(offer) for offer in self.offers],
            "code": self.code,
        }

    def __str__(self) -> str:
        """Return all of it as text."""
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the explanation line by line."""
        count = "1 image" if self.images == 1 else f"{self.images} images"
        yield f"{self.what}: its transforms on {count}, from the decoded image on, one core"
        if self.others:
            yield f"({self.others} more of its lists were not looked at)"
        yield ""
        yield from self._table()
        yield ""
        yield from self._result()
        yield from self._opaque()
        if self.is_worth_having:
            yield ""
            yield "what changes"
            yield from _told_swaps(self._swaps)
            yield from _wrapped(_DRAWS, "  ")
            yield ""
            yield "the list, ready to paste"
            yield ""
            yield from self.code.splitlines()
        yield from self._told_offers()

    @property
    def _swaps(self) -> tuple[Swap, ...]:
        return () if self.reordered is None else self.reordered.swaps

    def _speed_up(self, variant: Variant) -> Rate:
        return self.written.times.speed_up(variant.times)

    def _table(self) -> Iterator[str]:
        head = ("op", "gets", "then", "ms", "then") if self.reordered else ("op", "gets", "ms")
        rows: list[tuple[str, ...]] = []
        for place, step in enumerate(self.written.steps):
            row = [step.name, _size(self.written.images[place])]
            ms = [_ms(self.written.times.steps_ms[step.number])]
            if self.reordered is not None:
                row.append(_size(self.reordered.images[self.reordered.steps.index(step)]))
                ms.append(_ms(self.reordered.times.steps_ms[step.number]))
            rows.append((*row, *ms))
        sizes = [""] * (1 if self.reordered is None else 2)
        all_ms = [_ms(self.written.times.ms)]
        if self.reordered is not None:
            all_ms.append(_ms(self.reordered.times.ms))
        rows.append(("together", *sizes, *all_ms))
        yield from aligned(head, rows, right=range(1, len(head)))

    def _result(self) -> Iterator[str]:
        if self.reordered is None:
            yield "There is nothing to move: no rule that was asked for applies to this order."
            return
        speed_up = self._speed_up(self.reordered)
        if not self.is_worth_having:
            told = f"{_times(speed_up)} as fast"
            yield f"No gain worth having from another order ({told}): leave the list as it is."
            return
        yield f"In the new order the transforms are {_times(speed_up)} as fast."
        if self.sample_ms is not None:
            saved_ms = self.calls_per_sample * (self.written.times.ms - self.reordered.times.ms)
            then_ms = max(self.sample_ms - saved_ms, 0.0)
            yield (
                f"With reading and decoding, a sample takes {_ms(self.sample_ms)} ms now, so about "
                f"{_ms(then_ms)} ms then."
            )

    def _opaque(self) -> Iterator[str]:
        known = [step.number for step in self.written.steps if step.role is not Role.OPAQUE]
        in_between = [
            f"{step.name} ({_ms(self.written.times.steps_ms[step.number])} ms)"
            for step in self.written.steps
            if step.role is Role.OPAQUE and known and step.number < known[-1]
        ]
        if in_between:
            told = ", ".join(in_between)
            yield from _wrapped(f"No rule knows what these do, so nothing is moved past: {told}.")

    def _told_offers(self) -> Iterator[str]:
        if self.offers:
            yield ""
            yield "not taken, since results would change:"
        for offer in self.offers:
            speed_up = _times(self._speed_up(offer.variant))
            yield f"  {offer.argument}: {_ms(offer.variant.times.ms)} ms, {speed_up} as fast"
            yield from _told_swaps(
                [swap for swap in offer.variant.swaps if swap.rule.fidelity is not Fidelity.EXACT],
                "    ",
            )

    def _op_dict(self, place: int) -> dict[str, Any]:
        step = self.written.steps[place]
        found: dict[str, Any] = {
            "name": step.name,
            "size": _size(self.written.images[place]),
            "ms": self.written.times.steps_ms[step.number],
        }
        if self.reordered is not None:
            found["place_after"] = self.reordered.steps.index(step)
            found["size_after"] = _size(self.reordered.images[found["place_after"]])
            found["ms_after"] = self.reordered.times.steps_ms[step.number]
        return found

    def _offer_dict(self, offer: Offer) -> dict[str, Any]:
        return {
            "argument": offer.argument,
            "ms": offer.variant.times.ms,
            "speed_up": self._speed_up(offer.variant).median,
            "changes": [_swap_dict(swap) for swap in offer.variant.swaps],
            "code": offer.variant.code,
        }


def _swap_dict(swap: Swap) -> dict[str, Any]:
    return {
        "rule": swap.rule.name,
        "fidelity": swap.rule.fidelity.value,
        "moved": swap.moved,
        "before": swap.before,
        "mean_difference": None if swap.difference is None else swap.difference.mean,
        "most_difference": None if swap.difference is None else swap.difference.most,
    }


def _told_swaps(swaps: Sequence[Swap], indent: str = "  ") -> Iterator[str]:
    told: set[str] = set()
    for swap in swaps:
        measured = "" if swap.difference is None else f" Measured here: {swap.difference}."
        why = "" if swap.rule.name in told else f" {swap.rule.why}"
        told.add(swap.rule.name)
        text = f"{swap.rule.fidelity.value}: {swap.told} ({swap.rule.name}).{why}{measured}"
        yield from _wrapped(text, indent)


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    inner = indent + "  "
    yield from fill(
        printable(text, 4000), _WIDTH, initial_indent=indent, subsequent_indent=inner
    ).splitlines()


def _size(images: Images) -> str:
    """Return width x height of the middle one by its number of pixels."""
    height, width = sorted(images.sizes, key=lambda size: size[0] * size[1])[len(images.sizes) // 2]
    return f"{width}x{height}"


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:,.2f}" if milliseconds < 100 else f"{milliseconds:,.0f}"


def _times(rate: Rate) -> str:
    return f"{rate.median:.2f}x ({rate.least:.2f} to {rate.largest:.2f})"
