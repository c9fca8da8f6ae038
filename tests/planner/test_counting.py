"""Which autocontrast is asked to count early: the one whose image a pass writes that can do so."""

from dataclasses import replace

import numpy as np
import pytest

from native import run_natively
from penstock._core import Effect, PadMode
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.planner.rules import RULES, counting
from penstock.planner.rules.counting import count_while_writing
from penstock.planner.rules.rule import Fidelity, rewrite_moves
from penstock.transforms.effects import effect_where, same_effect
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove

EXACT = [rule for rule in RULES if rule.fidelity == Fidelity.EXACT]
BILINEAR = 2


def ints(*values):
    return np.array(values, dtype=np.int64)


SIZES = Sizes(ints(31, 1), ints(45, 1))


@pytest.fixture(autouse=True)
def _small_images_count_as_large(monkeypatch):
    monkeypatch.setattr(counting, "LEAST_BYTES", 1)


def effect(kind, sizes=SIZES, **parameters):
    return same_effect(kind, sizes, **parameters)


def autocontrast(sizes=SIZES):
    return effect(Effect.AUTOCONTRAST, sizes)


def crop():
    """To a part of the first image, and all of the second."""
    return CropMove(ints(3, 0), ints(5, 0), ints(7, 1), ints(9, 1))


CUT = Sizes(ints(7, 1), ints(9, 1))


def flip():
    both = np.ones(2, dtype=np.bool_)
    return FlipMove(both, ~both)


def brightness(**how):
    return replace(effect(Effect.BRIGHTNESS, factor=1.3), **how)


def early(*moves):
    """Which samples count early at the last move."""
    planned = count_while_writing(moves, SIZES)
    if planned is None:
        return [False, False]
    return np.broadcast_to(planned[-1].counts_early, 2).tolist()


def test_any_step_counts_for_the_effect_behind_it():
    border = PadMove(*[ints(2, 0)] * 4, PadMode.CONSTANT, (1, 2, 3))
    resize = ResizeMove(ints(60, 1), ints(3, 1), BILINEAR)
    for moves in ((), (flip(),), (border,), (resize,), (crop(),), (crop(), flip())):
        sizes = SIZES
        for move in moves:
            sizes = move.out_sizes(sizes)
        assert early(*moves, autocontrast(sizes)) == [True, True]


def test_effects_on_colour_count_and_others_do_not():
    for kind, parameters in (
        (Effect.HUE, {"factor": 0.1}),
        (Effect.SATURATION, {"factor": 1.4}),
        (Effect.GRAYSCALE, {}),
        (Effect.BRIGHTNESS, {"factor": 0.6}),
    ):
        assert early(effect(kind, **parameters), autocontrast()) == [True, True]
    assert early(effect(Effect.SHARPNESS, factor=1.5), autocontrast()) == [False, False]


def test_tables_that_wait_and_crops_between_effects_write_nothing():
    later = brightness(tables_wait=True)
    blur = effect(Effect.SHARPNESS, factor=1.5)
    resize = ResizeMove(ints(9, 9), ints(9, 9), BILINEAR)
    assert early(later, autocontrast()) == [False, False]
    assert early(later, flip(), autocontrast()) == [False, False]
    assert early(later, blur, flip(), autocontrast()) == [True, True]
    assert early(later, resize, autocontrast(resize.out_sizes(SIZES))) == [True, True]
    assert early(brightness(), crop(), autocontrast(CUT)) == [False, True]
    assert early(brightness(), crop(), flip(), autocontrast(CUT)) == [True, True]


def test_only_large_images_and_only_autocontrast_count_early(monkeypatch):
    assert count_while_writing((flip(), effect(Effect.EQUALIZE)), SIZES) is None
    assert count_while_writing((flip(), effect(Effect.CONTRAST, factor=0.5)), SIZES) is None
    monkeypatch.setattr(counting, "LEAST_BYTES", 31 * 45 * 3)
    assert early(autocontrast()) == [True, False]


def test_the_rule_says_so_to_the_core_and_has_nothing_left_to_say():
    chosen = np.array([False, True])
    moves = (flip(), effect_where(chosen, Effect.AUTOCONTRAST, SIZES), brightness())
    planned = count_while_writing(moves, SIZES)

    assert count_while_writing(planned, SIZES) is None
    assert lower(planned, SIZES).effects.heads[:, [0, 5]].tolist() == [
        [Effect.BRIGHTNESS, 0],
        [Effect.AUTOCONTRAST, 1],
        [Effect.BRIGHTNESS, 0],
    ]


@pytest.mark.parametrize("gray", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (1, 999), (999, 1), (37, 250), (600, 500)])
def test_the_core_finds_the_same_extremes(gray, shape):
    sizes = Sizes(ints(shape[0]), ints(shape[1]))
    pixels = np.random.default_rng(0).integers(40, 90, (*shape, 3), dtype=np.uint8)
    if gray:
        pixels[:] = pixels[..., :1]
    before = {
        "nothing": (),
        "flip": (FlipMove(np.array([True]), np.array([True])),),
        "table": (same_effect(Effect.SOLARIZE, sizes, threshold=70),),
        "saturation": (same_effect(Effect.SATURATION, sizes, factor=1.7),),
        "gray": (
            same_effect(Effect.HUE, sizes, factor=0.1),
            same_effect(Effect.GRAYSCALE, sizes),
        ),
    }
    for moves in before.values():
        written = (*moves, same_effect(Effect.AUTOCONTRAST, sizes))
        planned = count_while_writing(written, sizes)
        assert planned[-1].counts_early.all()
        (wanted,) = run_natively([pixels], written)
        for chosen in (planned, rewrite_moves(written, sizes, EXACT)):
            (got,) = run_natively([pixels], chosen)
            np.testing.assert_array_equal(got, wanted)
