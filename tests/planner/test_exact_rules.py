"""What single rules make of moves; that no byte changes is tested in properties/test_rules.py."""

import numpy as np
import pytest
from PIL import Image

from native import run_natively
from penstock._core import Effect, PadMode, StepColumn
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import Fidelity, rewrite_moves
from penstock.reference.pipeline import run_moves
from penstock.transforms.effects import effect_where, same_effect
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove

SIZES = Sizes(np.array([40, 50]), np.array([60, 40]))
CUT = Sizes(np.array([8, 8]), np.array([9, 9]))
EXACT = [rule for rule in RULES if rule.fidelity == Fidelity.EXACT]
BILINEAR = 2


def column(*values):
    return np.array(values, dtype=np.int64)


def crop():
    return CropMove(column(3, 4), column(5, 6), CUT.height, CUT.width)


def flip(*horizontal):
    return FlipMove(np.array(horizontal), np.array([False, False]))


def contrast(sizes=SIZES):
    return same_effect(Effect.CONTRAST, sizes, factor=0.5)


def brightness(sizes=SIZES, factor=1.5):
    return same_effect(Effect.BRIGHTNESS, sizes, factor=factor)


def blur(sizes=SIZES):
    numbers = {"kernel_width": 3, "kernel_height": 3, "sigma_across": 1.0, "sigma_down": 1.0}
    return same_effect(Effect.GAUSSIAN_BLUR, sizes, **numbers)


def some_pixels():
    shapes = zip(SIZES.height, SIZES.width, strict=True)
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (height, width, 3), dtype=np.uint8) for height, width in shapes]


def plan(*moves):
    """The planned moves; before them their names for the first sample, with + where one waits."""
    planned = rewrite_moves(moves, SIZES, EXACT)
    return names_of(planned), planned


def names_of(moves, row=0):
    effects = lower(moves, SIZES).pick(np.array([row])).effects
    waits = iter(effects.heads[:, 4].tolist())
    names = []
    for move in moves:
        if not hasattr(move, "effect"):
            names.append(type(move).__name__.removesuffix("Move").lower())
            continue
        kind = Effect(move.effect[row])
        is_listed = kind != Effect.NONE and len(effects.heads)
        names.append(kind.name.lower() + "+" * (next(waits, 0) if is_listed else 0))
    return names


def test_tables_wait_for_the_last():
    names, planned = plan(brightness(), contrast(), same_effect(Effect.INVERT, SIZES))

    assert names == ["brightness+", "contrast+", "invert+"]
    assert lower(planned, SIZES).effects.heads[:, 4].tolist() == [1] * 6


def test_nothing_but_tables_waits():
    turn = same_effect(Effect.HUE, SIZES, factor=0.1)

    assert plan(brightness(), turn)[0] == ["brightness+", "hue"]
    assert plan(turn, brightness(), blur())[0] == ["hue", "brightness+", "gaussian_blur"]


@pytest.mark.parametrize("radius", [(0.0, 0.2), (1.0, 0.0), (2.7, 1.3)])
@pytest.mark.parametrize("passes", [1, 3])
def test_a_box_blur_needs_what_all_of_its_passes_reach(radius, passes):
    numbers = {"radius_across": radius[0], "radius_down": radius[1], "passes": passes}
    written = same_effect(Effect.BOX_BLUR, SIZES, **numbers), crop()
    names, planned = plan(*written)
    pixels = some_pixels()

    assert names[-2:] == ["box_blur", "crop"]
    for got, expected in zip(
        run_natively(pixels, planned), run_natively(pixels, written), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


def test_tables_of_other_samples_are_skipped():
    """The second sample has no inversion, and its brightness waits for the one behind."""
    first_only = effect_where(np.array([True, False]), Effect.INVERT, SIZES)
    _, planned = plan(brightness(), first_only, brightness())

    assert names_of(planned, row=1) == ["brightness+", "none", "brightness+"]
    _, planned = plan(first_only, brightness())
    assert names_of(planned, row=0) == ["invert+", "brightness+"]
    assert names_of(planned, row=1) == ["none", "brightness+"]


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ((contrast(), crop()), ["contrast+", "crop"]),
        ((contrast(), brightness(), crop()), ["contrast+", "crop", "brightness+"]),
        ((brightness(), contrast(), crop()), ["brightness+", "contrast+", "crop"]),
        ((contrast(), crop(), contrast(CUT)), ["contrast+", "crop", "contrast+"]),
        ((contrast(), flip(True, True), crop()), ["contrast+", "crop", "flip"]),
        ((contrast(), flip(True, True), brightness()), ["contrast+", "flip", "brightness+"]),
        ((contrast(), flip(True, True)), ["contrast+", "flip"]),
        (
            (contrast(), crop(), ResizeMove(column(5, 5), column(5, 5), BILINEAR)),
            ["contrast+", "crop", "resize"],
        ),
        ((contrast(), blur(), crop()), ["contrast+", "crop", "gaussian_blur", "crop"]),
    ],
)
def test_a_statistic_is_taken_before_the_crop_and_used_behind_it(written, planned):
    names, moves = plan(*written)
    pixels = some_pixels()

    assert names == planned
    for got, expected in zip(
        run_natively(pixels, moves), run_natively(pixels, written), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


def test_as_written_each_effect_is_done_on_its_own():
    assert not lower((brightness(), contrast()), SIZES).effects.heads[:, 4].any()


TURN = same_effect(Effect.AFFINE, SIZES, matrix=(1, 0.1, 2, 0.2, 1, -3), filter=0, fill=0x102030)
BLACK = same_effect(Effect.AFFINE, SIZES, matrix=(1, 0.1, 2, 0.2, 1, -3), filter=0, fill=0)


@pytest.mark.parametrize(
    "before", [brightness(factor=0.3), contrast(), same_effect(Effect.INVERT, SIZES)]
)
@pytest.mark.parametrize("behind", [(TURN,), (BLACK,), (BLACK, contrast()), (TURN, blur())])
def test_tables_wait_through_a_warp_if_some_level_becomes_its_fill(before, behind):
    written = (before, *behind)
    pixels = some_pixels()

    for got, expected in zip(
        run_natively(pixels, plan(*written)[1]), run_natively(pixels, written), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("before", "is_first"),
    [
        ((crop(),), True),
        ((flip(True, False), crop()), True),
        ((PadMove(*[column(1, 1)] * 4, PadMode.REFLECT, (1, 2, 3)),), True),
        ((PadMove(*[column(1, 1)] * 4, PadMode.CONSTANT, (7, 7, 7)),), True),
        ((PadMove(*[column(1, 1)] * 4, PadMode.CONSTANT, (1, 2, 3)),), False),
        ((ResizeMove(column(5, 5), column(5, 5), BILINEAR),), False),
        ((brightness(),), False),
    ],
)
def test_gray_comes_first_where_only_pixels_move_before_it(before, is_first):
    sizes = SIZES
    for move in before:
        sizes = move.out_sizes(sizes)
    _, planned = plan(*before, same_effect(Effect.GRAYSCALE, sizes))
    steps = lower(planned, SIZES)

    assert steps.table[:, 0, StepColumn.GRAY].tolist() == [is_first] * 2
    assert (steps.effects.counts == 0).all() == is_first


def test_gray_comes_first_for_those_samples_that_lose_colour():
    some = effect_where(np.array([False, True]), Effect.GRAYSCALE, CUT)
    _, planned = plan(crop(), some)

    assert lower(planned, SIZES).table[:, 0, StepColumn.GRAY].tolist() == [0, 1]


IDLE = {
    "brightness": same_effect(Effect.BRIGHTNESS, SIZES, factor=1 + 1e-12),
    "contrast": same_effect(Effect.CONTRAST, SIZES, factor=1),
    "saturation": same_effect(Effect.SATURATION, SIZES, factor=1),
    "sharpness": same_effect(Effect.SHARPNESS, SIZES, factor=1),
    "posterize": same_effect(Effect.POSTERIZE, SIZES, bits=8),
    "solarize": same_effect(Effect.SOLARIZE, SIZES, threshold=255.5),
    "nothing added": same_effect(Effect.SOLARIZE_ADD, SIZES, amount=0.5, threshold=99),
    "added to no level": same_effect(Effect.SOLARIZE_ADD, SIZES, amount=9, threshold=0),
    "order": same_effect(Effect.PERMUTE_CHANNELS, SIZES, order=(0, 1, 2)),
    "nearest": same_effect(Effect.AFFINE, SIZES, matrix=(1, 0, 0, 0, 1, 0), filter=0, fill=9),
    "bilinear": same_effect(Effect.AFFINE, SIZES, matrix=(1, 0, 0, 0, 1, 0), filter=2, fill=9),
    "bicubic": same_effect(Effect.AFFINE, SIZES, matrix=(1, 0, 0, 0, 1, 0), filter=3, fill=9),
    "perspective": same_effect(
        Effect.PERSPECTIVE, SIZES, matrix=(1, 0, 0, 0, 1, 0, 0, 0), filter=3, fill=9
    ),
    "blur": same_effect(
        Effect.GAUSSIAN_BLUR, SIZES, kernel_width=1, kernel_height=1, sigma_across=3, sigma_down=3
    ),
    "box blur": same_effect(Effect.BOX_BLUR, SIZES, radius_across=0, radius_down=0, passes=3),
    "erase": same_effect(
        Effect.ERASE, SIZES, top=1, left=2, height=0, width=5, value=(1, 2, 3), by_noise=False
    ),
    "crop": CropMove(column(0, 0), column(0, 0), SIZES.height, SIZES.width),
    "resize": ResizeMove(SIZES.height, SIZES.width, BILINEAR),
    "pad": PadMove(*[column(0, 0)] * 4, PadMode.CONSTANT, (1, 2, 3)),
    "flip": flip(False, False),
    "no effect": effect_where(np.array([False, False]), Effect.INVERT, SIZES),
}


@pytest.mark.parametrize("move", IDLE.values(), ids=IDLE)
def test_what_changes_nothing_is_left_out(move):
    assert plan(move)[1] == ()
    pixels = some_pixels()
    for row, (got, before) in enumerate(zip(run_natively(pixels, [move]), pixels, strict=True)):
        np.testing.assert_array_equal(got, before)
        image = Image.fromarray(before)
        np.testing.assert_array_equal(np.asarray(run_moves(image, (move,), row)), before)


NOT_IDLE = {
    "hue by 0": same_effect(Effect.HUE, SIZES, factor=0),
    "posterize": same_effect(Effect.POSTERIZE, SIZES, bits=7),
    "solarize": same_effect(Effect.SOLARIZE, SIZES, threshold=255),
    "half a pixel": same_effect(
        Effect.AFFINE, SIZES, matrix=(1, 0, 0.5, 0, 1, 0), filter=2, fill=9
    ),
}


@pytest.mark.parametrize("move", NOT_IDLE.values(), ids=NOT_IDLE)
def test_what_changes_something_stays(move):
    (left,) = plan(move)[1]
    assert left is move or left.effect is move.effect


def test_the_way_to_hues_and_back_rounds():
    pixels = some_pixels()[0]
    turned = run_moves(Image.fromarray(pixels), (NOT_IDLE["hue by 0"],), 0)

    assert (np.asarray(turned) != pixels).any()


def test_samples_are_left_alone_one_by_one():
    _, (left,) = plan(brightness(factor=np.array([1.0, 1.5])))

    assert left.effect.tolist() == [Effect.NONE, Effect.BRIGHTNESS]
    assert left.values(Effect.BRIGHTNESS, "factor")[1] == 1.5


def test_repeated_moves():
    invert, gray = same_effect(Effect.INVERT, SIZES), same_effect(Effect.GRAYSCALE, SIZES)
    three, four = (same_effect(Effect.POSTERIZE, SIZES, bits=bits) for bits in (3, 4))

    assert plan(invert, invert)[1] == ()
    assert plan(invert, invert, invert)[0] == ["invert+"]
    assert plan(gray, gray)[0] == ["grayscale"]
    assert plan(three, four)[0] == ["posterize+"]
    assert plan(four, three)[0] == ["posterize+", "posterize+"]
    assert plan(flip(True, True), flip(True, True))[1] == ()
    assert plan(flip(True, False), flip(True, True))[1][0].horizontal.tolist() == [False, True]
