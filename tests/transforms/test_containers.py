"""Transforms made of others: what they draw."""

import numpy as np
import pytest

from drawn import batch, effects_of
from penstock import transforms as T
from penstock._core import Effect
from penstock.geometry import Sizes
from penstock.rng import Draws


def test_a_compose_inside_counts_as_a_list():
    parts = [T.Grayscale(), T.RandomInvert(0.5)]
    written = batch(T.RandomApply(parts), 50)
    composed = batch(T.RandomApply([T.Compose(parts)]), 50)

    for one, other in zip(written, composed, strict=True):
        assert one.effect.tolist() == other.effect.tolist()


def test_a_choice_may_be_a_compose():
    op = T.RandomChoice([T.Compose([T.Grayscale(), T.RandomInvert(1.0)]), T.RandomEqualize(1.0)])
    moves = batch(op, 100)
    kinds = {tuple(effect for effect, _ in effects_of(moves, row)) for row in range(100)}

    assert kinds == {(Effect.GRAYSCALE, Effect.INVERT), (Effect.EQUALIZE,)}


def test_the_order_of_a_random_order_changes_no_draw():
    """An op draws from its own branch, so its numbers do not depend on its turn."""
    jitter = T.ColorJitter(brightness=0.5)
    moves = batch(T.RandomOrder([jitter, T.RandomInvert(1.0)]), 40)
    (alone,) = jitter.sample(
        Draws(0, 0, np.arange(40), 0).branch(0), Sizes(np.full(40, 40), np.full(40, 60))
    )

    for row in range(40):
        drawn = dict(effects_of(moves, row))
        assert drawn[Effect.BRIGHTNESS] == alone.parameters(row)


def test_a_list_of_torchs_modules_is_a_list():
    torch = pytest.importorskip("torch")
    image = torch.arange(48, dtype=torch.uint8).view(3, 4, 4)
    modules = torch.nn.ModuleList([torch.nn.Identity()])

    assert torch.equal(T.RandomApply(modules, p=1.0)(image), image)
    assert torch.equal(T.RandomOrder(modules)(image), image)
