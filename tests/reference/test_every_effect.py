"""Every kind of effect is run by the core as by the reference, and is documented."""

import re
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from effect_examples import EXAMPLES
from penstock._core import Effect, Engine
from penstock.errors import CoreError, TransformError
from penstock.geometry import Sizes
from penstock.planner.access import Access, has_access
from penstock.planner.lower import lower
from penstock.reference.pipeline import run_moves
from penstock.transforms.effects import EffectMove, parameter_names, same_effect

HEIGHT, WIDTH = 48, 64
SIZES = Sizes(np.array([HEIGHT]), np.array([WIDTH]))
KINDS = [effect for effect in Effect if effect != Effect.NONE]
# The core has float32 where the reference has float64.
LEVELS_APART = {Effect.GAUSSIAN_BLUR: 1, Effect.GAUSSIAN_NOISE: 1, Effect.ELASTIC: 1}
UNCHANGED = {Effect.GAUSSIAN_BLUR, Effect.AUTOCONTRAST}


def moves_with(effect):
    """One move of the kind; a mix needs all three, and something to mix with."""
    if effect not in {Effect.MIX_BEGIN, Effect.MIX_ADD, Effect.MIX_END}:
        return (same_effect(effect, SIZES, **EXAMPLES[effect]),)
    kinds = (Effect.MIX_BEGIN, Effect.INVERT, Effect.MIX_ADD, Effect.MIX_END)
    return tuple(same_effect(kind, SIZES, **EXAMPLES[kind]) for kind in kinds)


def run_native(pixels, moves):
    part = Engine(1, 1).begin(0, 1)
    part.set_pixels(0, pixels)
    result = np.zeros_like(pixels)
    part.run_to_arrays(np.zeros(1, np.int32), lower(moves, SIZES).programs(), [result])
    assert part.wait(60)
    return result


@pytest.fixture(scope="module")
def pixels():
    return np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


@pytest.mark.parametrize("effect", KINDS, ids=lambda effect: effect.name)
def test_the_core_does_what_the_reference_does(effect, pixels):
    moves = moves_with(effect)
    expected = np.asarray(run_moves(PIL.Image.fromarray(pixels), moves, 0))
    apart = np.abs(run_native(pixels, moves).astype(int) - expected)

    assert apart.max() <= LEVELS_APART.get(effect, 0)
    assert (expected != pixels).any() or effect in UNCHANGED


@pytest.mark.parametrize("mean", [0, 99.5, 127.49, 255])
def test_contrast_around_a_given_mean(mean, pixels):
    move = same_effect(Effect.CONTRAST, SIZES, factor=0.6, has_mean=True, mean=mean)
    expected = np.asarray(run_moves(PIL.Image.fromarray(pixels), (move,), 0))

    np.testing.assert_array_equal(run_native(pixels, (move,)), expected)
    assert has_access(move, Access.TABLE).all()
    assert not has_access(move, Access.STATISTIC).any()


def test_its_own_mean_given_changes_nothing(pixels):
    mean = np.asarray(PIL.Image.fromarray(pixels).convert("L")).mean()
    own = same_effect(Effect.CONTRAST, SIZES, factor=0.6)
    given = same_effect(Effect.CONTRAST, SIZES, factor=0.6, has_mean=True, mean=mean)

    np.testing.assert_array_equal(run_native(pixels, (own,)), run_native(pixels, (given,)))


@pytest.mark.parametrize("effect", KINDS, ids=lambda effect: effect.name)
def test_documented(effect):
    page = (Path(__file__).parents[2] / "docs" / "augmentations.md").read_text("utf-8")
    rows = re.findall(rf"^\| `{effect.name}` \|.*$", page, re.MULTILINE)

    assert len(rows) == 1, "every effect has a line in the table of effects"
    for name in parameter_names(effect):
        assert f"`{name}`" in rows[0]


@pytest.mark.parametrize("number", [-1, 9999])
def test_an_unknown_kind_is_refused_by_number(number, pixels):
    nothing = same_effect(Effect.INVERT, SIZES)
    unknown = EffectMove(np.array([number]), nothing.numbers, SIZES.height, SIZES.width)

    with pytest.raises(CoreError, match=f"{number} is not the number of an effect"):
        run_native(pixels, (unknown,))


def test_parameters_are_checked_by_name():
    with pytest.raises(TransformError, match="BRIGHTNESS: its parameters are factor, got facktor"):
        same_effect(Effect.BRIGHTNESS, SIZES, facktor=1)
    with pytest.raises(TransformError, match="amount, threshold, got amount; threshold is missing"):
        same_effect(Effect.SOLARIZE_ADD, SIZES, amount=1)
    with pytest.raises(TransformError, match="INVERT: its parameters are none, got factor"):
        same_effect(Effect.INVERT, SIZES, factor=1)


def test_parameters_come_back_by_name():
    move = same_effect(Effect.GAUSSIAN_NOISE, SIZES, **EXAMPLES[Effect.GAUSSIAN_NOISE])

    assert move.parameters(0) == {"mean": 0.0, "sigma": 0.1, "clip": 1.0, "key": [12.0, 34.0]}
    assert move.values(Effect.GAUSSIAN_NOISE, "key").tolist() == [[12.0, 34.0]]
