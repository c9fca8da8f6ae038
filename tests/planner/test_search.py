"""The planner chooses the cheapest rules, the same ones every time."""

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import PlanError
from penstock.geometry import Sizes
from penstock.planner import search
from penstock.planner.draft import Draft, Stage, verify
from penstock.planner.plan import as_written
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import Fidelity, Rule, rewrite
from penstock.planner.search import choose, permitted
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, ResizeMove

SIZES = Sizes(np.full(8, 400), np.full(8, 600))


def draft(*ops):
    (segment,) = as_written(T.Compose(list(ops))).segments
    return segment.draft(3, 0, np.arange(8), SIZES)[0]


def pixels(number, planned):
    """A price: every stage costs the pixels that it writes."""
    del number
    return np.sum([s.height * s.width for s in planned.sizes_along()[1:]], axis=0).astype(float)


def names(chosen):
    return [rule.name for rule in chosen.rules]


def test_only_what_was_permitted():
    exact = permitted(Fidelity.EXACT, ())
    assert all(rule.fidelity == Fidelity.EXACT for rule in exact)
    fast = permitted(Fidelity.FAST, ("contrast_on_crop",))
    assert {rule.fidelity for rule in fast} == {Fidelity.EXACT, Fidelity.FAST, Fidelity.RELAXED}
    assert [rule.name for rule in fast if rule.fidelity == Fidelity.RELAXED] == ["contrast_on_crop"]


def test_a_rule_is_taken_where_it_saves():
    shrinks = draft(T.ColorJitter(0.5), T.Resize((50, 50)))
    enlarges = draft(T.Resize((900, 900)), T.ColorJitter(0.5))
    fast = permitted(Fidelity.FAST, ())
    assert "resize_before_per_pixel" in names(choose([shrinks], fast, pixels))
    assert "per_pixel_before_enlarging" in names(choose([enlarges], fast, pixels))
    neither = {"resize_before_per_pixel", "per_pixel_before_enlarging"}
    assert not neither & set(names(choose([shrinks], permitted(Fidelity.EXACT, ()), pixels)))


def test_a_rule_that_does_not_pay_is_left_out():
    shrinks = draft(T.ColorJitter(0.5), T.Resize((50, 50)))

    def dear_at_the_end(number, planned):
        del number
        return np.full(8, 10.0 if isinstance(planned.moves[0], ResizeMove) else 0.0)

    chosen = choose([shrinks], permitted(Fidelity.FAST, ()), dear_at_the_end)
    assert "resize_before_per_pixel" not in names(chosen)
    assert chosen.planned_us <= chosen.written_us


@pytest.mark.parametrize("saved", [0.02, 0.2])
def test_pixels_are_changed_only_for_a_gain_worth_it(saved):
    shrinks = draft(T.ColorJitter(0.5), T.Resize((50, 50)))

    def price(number, planned):
        del number
        is_moved = isinstance(planned.moves[0], ResizeMove)
        return np.full(8, 1e6 * (1 - saved if is_moved else 1))

    chosen = choose([shrinks], permitted(Fidelity.FAST, ()), price)
    assert ("resize_before_per_pixel" in names(chosen)) == (saved > 0.05)


def test_costs_are_told():
    chosen = choose([draft(T.ColorJitter(0.5), T.CenterCrop(40))], RULES, pixels)
    assert chosen.written_us == 400 * 600 + 40 * 40
    python_us = sum(rule.python_us for rule in chosen.rules)
    assert chosen.planned_us == 2 * 40 * 40 + python_us


@pytest.mark.parametrize("nanoseconds", [0.01, 1.0])
def test_a_rule_must_save_more_than_its_rewriting_costs(nanoseconds):
    """The levels of 120 x 120 pixels are changed, or those of all."""
    written = draft(T.ColorJitter(0.5), T.Resize((120, 120)))

    def of_levels(number, planned):
        del number
        before = [isinstance(stage.move, EffectMove) for stage in planned.stages].index(True)
        sizes = planned.sizes_along()[before]
        return sizes.height * sizes.width * nanoseconds / 1_000

    chosen = choose([written], permitted(Fidelity.FAST, ()), of_levels)
    assert ("resize_before_per_pixel" in names(chosen)) == (nanoseconds == 1.0)


@pytest.mark.parametrize("most", [0, 12])
def test_the_same_plan_every_time_with_all_sets_and_one_by_one(most, monkeypatch):
    monkeypatch.setattr(search, "_MOST_TRIED_IN_SETS", most)
    pipeline = draft(
        T.RandomRotation(20), T.ColorJitter(0.5, 0.5, 0.5), T.GaussianBlur(5), T.Resize((40, 60))
    )
    allow = [rule.name for rule in RULES if rule.fidelity == Fidelity.RELAXED]
    rules = permitted(Fidelity.FAST, allow)
    first = choose([pipeline], rules, pixels)
    assert names(choose([pipeline], rules, pixels)) == names(first)
    assert first.planned_us < first.written_us / 2


def stages(*moves):
    return tuple(Stage(move, frozenset({0})) for move in moves)


def column(value):
    return np.full(8, value)


def test_the_verifier_finds_what_does_not_fit():
    whole = Draft((), SIZES)
    outside = CropMove(column(0), column(500), column(10), column(200))
    with pytest.raises(PlanError, match=r"stage 1, crop: a box of 10x200 at \(0, 500\) does not"):
        verify(Draft(stages(outside), SIZES), whole)
    resize = ResizeMove(column(10), column(10), 2)
    with pytest.raises(PlanError, match="ends with 10x10, what was written with 400x600"):
        verify(Draft(stages(resize), SIZES), whole)
    nothing_left = ResizeMove(column(0), column(10), 2)
    with pytest.raises(PlanError, match="nothing is left: 0x10"):
        verify(Draft(stages(nothing_left), SIZES), whole)
    flip = FlipMove(column(1) > 0, column(1) > 0)
    with pytest.raises(PlanError, match=r"streams \[0\] that nobody wrote"):
        verify(Draft(stages(flip), SIZES), whole)


def test_rules_that_undo_each_other_are_an_error():
    swap = Rule("swap", Fidelity.EXACT, lambda moves, _: moves[::-1])
    with pytest.raises(PlanError, match="does not come to an end: swap undo each other"):
        rewrite(draft(T.RandomHorizontalFlip(), T.CenterCrop(300)), [swap])
