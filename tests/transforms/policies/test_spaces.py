"""The TPU models' and PBA's ops at some levels, worked out by hand from their publications."""

import numpy as np
import pytest

from drawn import batch
from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.transforms.effects import Effect
from penstock.transforms.policies.ops import Scene, policy_move
from penstock.transforms.policies.spaces import population_ops, tpu_ops

TPU = {
    "AutoContrast": (Effect.AUTOCONTRAST, ()),
    "Equalize": (Effect.EQUALIZE, ()),
    "Invert": (Effect.INVERT, ()),
    "Rotate": (Effect.AFFINE, None),
    "Posterize": (Effect.POSTERIZE, (2,)),
    "Solarize": (Effect.SOLARIZE, (179,)),
    "Color": (Effect.SATURATION, (1.36,)),
    "Contrast": (Effect.CONTRAST, (1.36,)),
    "Brightness": (Effect.BRIGHTNESS, (1.36,)),
    "Sharpness": (Effect.SHARPNESS, (1.36,)),
    "ShearX": (Effect.AFFINE, (1, -0.21, 0, 0, 1, 0, 3)),
    "ShearY": (Effect.AFFINE, (1, 0, 0, -0.21, 1, 0, 3)),
    "TranslateX": (Effect.AFFINE, (1, 0, -70, 0, 1, 0, 3)),
    "TranslateY": (Effect.AFFINE, (1, 0, 0, 0, 1, -70, 3)),
    "Cutout": (Effect.ERASE, (22, 47, 56, 53, 9, 8, 7)),  # around (50, 75) of 100x100
    "SolarizeAdd": (Effect.SOLARIZE_ADD, (77, 128)),
}
POPULATION = {
    **{name: entry for name, entry in TPU.items() if name != "SolarizeAdd"},
    "Posterize": (Effect.POSTERIZE, (2,)),
    "Solarize": (Effect.SOLARIZE, (77,)),
    "TranslateX": (Effect.AFFINE, (1, 0, -7, 0, 1, 0, 3)),
    "TranslateY": (Effect.AFFINE, (1, 0, 0, 0, 1, -7, 3)),
    "Cutout": (Effect.ERASE, (43, 68, 14, 14, 9, 8, 7)),
}


@pytest.mark.parametrize(
    ("ops", "expected"), [(tpu_ops(), TPU), (population_ops(), POPULATION)], ids=["tpu", "pba"]
)
def test_level_seven_of_ten(ops, expected):
    assert [op.name for op in ops] == list(expected)
    count = len(ops)
    sizes = Sizes(np.full(count, 100), np.full(count, 100))
    place = np.array([[0.5] * count, [0.75] * count])
    scene = Scene(sizes, np.full(count, 3), (9, 8, 7), place)
    level, negative = np.full(count, 7.0), np.full(count, -1.0)

    move = policy_move(ops, np.arange(count), level, negative, scene)

    for row, (effect, numbers) in enumerate(expected.values()):
        assert move.effect[row] == effect
        if numbers is not None:
            np.testing.assert_allclose(move.numbers[row, : len(numbers)], numbers)
    turn = move.numbers[3]
    assert np.degrees(np.arctan2(turn[3], turn[0])) == pytest.approx(-21)


def test_levels_beyond_ten_stay_in_range():
    """The TPU models train with levels of up to 30."""
    ops = tpu_ops()
    count = len(ops)
    sizes = Sizes(np.full(count, 50), np.full(count, 60))
    scene = Scene(sizes, np.zeros(count, np.int64), (0, 0, 0), np.full((2, count), 0.5))

    move = policy_move(ops, np.arange(count), np.full(count, 30.0), np.ones(count), scene)

    assert move.numbers[4, 0] == 8
    assert move.numbers[14, :4].tolist() == [0, 0, 50, 60]


def test_tpu_cutouts_stay_inside_and_reach_as_far_as_told():
    moves = batch(T.RandAugment(1, 5, flavor="tpu"), 4000, (100, 120))
    erased = moves[0].numbers[moves[0].effect == Effect.ERASE]
    top, left, height, width = erased[:, :4].T

    assert len(erased) > 100
    assert ((top >= 0) & (left >= 0) & (top + height <= 100) & (left + width <= 120)).all()
    assert (height.max(), width.max()) == (40, 40)  # 40 / 2 to each side
    assert (erased[:, 4:7] == 128).all()
