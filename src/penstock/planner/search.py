"""Which rules a pipeline is planned with: those that cost least together, on a probe of its data.

A rule may save work in one pipeline and add some in another, and one may open the way for the next.
So rules are compared as sets: all sets where there are few, as with real pipelines; otherwise rules
are taken in or left out one by one, as long as that makes the plan cheaper. Nothing is drawn by
lot, and ties go to the plan that changes less, so the same pipeline on the same data gets the same
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from penstock.geometry import Floats
from penstock.planner.draft import Draft, verify
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import Fidelity, Rule, rewrite

# Microseconds of one core, for each sample of the draft of a segment, which has this number.
Price = Callable[[int, Draft], Floats]

# With more rules than this to decide on, not every set of them is tried.
_MOST_TRIED_IN_SETS = 5

# Plans whose costs differ by less are equally good.
_SAME_COST = 1e-3

# What a plan that changes pixels may cost of one that does not. Predictions are off by some per
# cent, and nobody wants other pixels for nothing.
_WORTH_CHANGING = 0.95


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rules of a plan, and what a sample of the probe costs with and without them."""

    rules: tuple[Rule, ...]
    written_us: float
    planned_us: float


def permitted(fidelity: Fidelity, allow: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that a user has asked for: all exact ones, perhaps all fast ones, and by name."""
    allowed = frozenset(allow)
    kinds = {Fidelity.EXACT, fidelity}
    return tuple(rule for rule in RULES if rule.fidelity in kinds or rule.name in allowed)


def choose(drafts: Sequence[Draft], rules: Sequence[Rule], price: Price) -> Chosen:
    """The best set of `rules` for the drafts of a probe, one for each segment as written."""
    chosen = _cheapest(drafts, rules, price)
    exact = tuple(rule for rule in rules if rule.fidelity == Fidelity.EXACT)
    if not set(chosen) <= set(exact):
        unchanged = _cheapest(drafts, exact, price)
        cost = mean_cost(drafts, chosen, price)
        if cost > _WORTH_CHANGING * mean_cost(drafts, unchanged, price):
            chosen = unchanged
    for draft in drafts:
        verify(rewrite(draft, chosen)[0], draft)
    return Chosen(chosen, mean_cost(drafts, (), price), mean_cost(drafts, chosen, price))


def _cheapest(drafts: Sequence[Draft], rules: Sequence[Rule], price: Price) -> tuple[Rule, ...]:
    fired = fired_rules(drafts, rules)
    sure = tuple(rule for rule in fired if rule.free)
    open_to_choice = tuple(rule for rule in fired if not rule.free)
    cost = _Costs(drafts, price, sure)
    if len(open_to_choice) <= _MOST_TRIED_IN_SETS:
        best = min(_sets_of(open_to_choice), key=cost.rank)
    else:
        best = _climb(open_to_choice, cost)
    return _pruned(drafts, tuple(rule for rule in rules if rule in sure or rule in best), price)


def _pruned(drafts: Sequence[Draft], rules: tuple[Rule, ...], price: Price) -> tuple[Rule, ...]:
    """Without the rules that save less work than it takes to apply them."""
    cost = mean_cost(drafts, rules, price)
    for rule in reversed(_fired(drafts, rules)):
        others = _without(rules, rule)
        without = mean_cost(drafts, others, price)
        if without < cost:
            rules, cost = others, without
    return rules if cost <= mean_cost(drafts, (), price) else ()


def mean_cost(drafts: Sequence[Draft], rules: Sequence[Rule], price: Price) -> float:
    """Microseconds of one core for a sample, over all segments, the rewriting included."""
    total_us = 0.0
    for number, draft in enumerate(drafts):
        planned, fired = rewrite(draft, rules)
        total_us += float(price(number, planned).mean())
        total_us += rewriting_us(rules, fired)
    return total_us


def rewriting_us(rules: Sequence[Rule], fired: frozenset[str]) -> float:
    """Microseconds of Python for a sample, where those of `rules` fire that have these names."""
    return sum(rule.python_us for rule in rules if rule.name in fired)


def fired_rules(drafts: Sequence[Draft], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Those of `rules` that change something, also where another one is left out.

    One rule may take from another what it would have applied to.
    """
    unasked = [rule for rule in rules if rule.fidelity != Fidelity.RELAXED]
    found: tuple[Rule, ...] = ()
    for left in (rules, unasked):
        for some in (left, *(_without(left, rule) for rule in left if not rule.free)):
            fired = _fired(drafts, some)
            found = tuple(rule for rule in rules if rule in found or rule in fired)
    return found


def _without(rules: Sequence[Rule], left_out: Rule) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule is not left_out)


def _fired(drafts: Sequence[Draft], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    names = frozenset(chain.from_iterable(rewrite(draft, rules)[1] for draft in drafts))
    return tuple(rule for rule in rules if rule.name in names)


def _sets_of(rules: Sequence[Rule]) -> Iterable[tuple[Rule, ...]]:
    return chain.from_iterable(combinations(rules, size) for size in range(len(rules) + 1))


def _climb(rules: tuple[Rule, ...], cost: _Costs) -> tuple[Rule, ...]:
    """From some sets, take in or leave out one rule after another while that is cheaper."""
    unasked = tuple(rule for rule in rules if rule.fidelity != Fidelity.RELAXED)
    exact = tuple(rule for rule in rules if rule.fidelity == Fidelity.EXACT)
    return min(
        (_climb_from(start, rules, cost) for start in (rules, unasked, exact)), key=cost.rank
    )


def _climb_from(best: tuple[Rule, ...], rules: tuple[Rule, ...], cost: _Costs) -> tuple[Rule, ...]:
    while True:
        others = [
            tuple(rule for rule in rules if (rule in best) != (rule is turned)) for turned in rules
        ]
        better = min(others, key=cost.rank)
        if cost.rank(better) >= cost.rank(best):
            return best
        best = better


class _Costs:
    """What sets of rules cost, together with those that are sure; each set is tried once."""

    def __init__(self, drafts: Sequence[Draft], price: Price, sure: tuple[Rule, ...]) -> None:
        self._forms = drafts
        self._price = price
        self._sure = sure
        self._known: dict[tuple[str, ...], float] = {}
        self._unit = max(mean_cost(drafts, (), price) * _SAME_COST, 1e-9)

    def rank(self, rules: tuple[Rule, ...]) -> tuple[int, int, int]:
        """What decides between sets: the cost, then how many rules change pixels, then how many."""
        key = tuple(rule.name for rule in rules)
        if key not in self._known:
            together = tuple(rule for rule in RULES if rule in self._sure or rule in rules)
            self._known[key] = mean_cost(self._forms, together, self._price)
        inexact = sum(rule.fidelity != Fidelity.EXACT for rule in rules)
        return int(np.floor(self._known[key] / self._unit)), inexact, len(rules)
