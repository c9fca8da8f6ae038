"""The TPU models' and PBA's ops at some levels, worked out by hand from their publications."""

import numpy as np
import pytest

from drawn import batch
from penstock import transforms as T
from penstock._core import Effect
from penstock.geometry import Sizes
from penstock.transforms.policies.ops import Scene, policy_move
from penstock.transforms.policies.spaces import population_ops, tpu_ops

TPU = {
    "AutoContrast": (Effect.AUTOCONTRAST, {}),
    "Equalize": (Effect.EQUALIZE, {}),
    "Invert": (Effect.INVERT, {}),
    "Rotate": (Effect.AFFINE, {}),
    "Posterize": (Effect.POSTERIZE, {"bits": 2}),
    "Solarize": (Effect.SOLARIZE, {"threshold": 179}),
    "Color": (Effect.SATURATION, {"factor": 1.36}),
    "Contrast": (Effect.CONTRAST, {"factor": 1.36}),
    "Brightness": (Effect.BRIGHTNESS, {"factor": 1.36}),
    "Sharpness": (Effect.SHARPNESS, {"factor": 1.36}),
    "ShearX": (Effect.AFFINE, {"matrix": [1, -0.21, 0, 0, 1, 0], "filter": 3}),
    "ShearY": (Effect.AFFINE, {"matrix": [1, 0, 0, -0.21, 1, 0], "filter": 3}),
    "TranslateX": (Effect.AFFINE, {"matrix": [1, 0, -70, 0, 1, 0], "filter": 3}),
    "TranslateY": (Effect.AFFINE, {"matrix": [1, 0, 0, 0, 1, -70], "filter": 3}),
    "Cutout": (
        Effect.ERASE,
        {"top": 22, "left": 47, "height": 56, "width": 53, "value": [9, 8, 7]},
    ),  # around (50, 75) of 100x100
    "SolarizeAdd": (Effect.SOLARIZE_ADD, {"amount": 77, "threshold": 128}),
}
POPULATION = {
    **{name: entry for name, entry in TPU.items() if name != "SolarizeAdd"},
    "Posterize": (Effect.POSTERIZE, {"bits": 2}),
    "Solarize": (Effect.SOLARIZE, {"threshold": 77}),
    "TranslateX": (Effect.AFFINE, {"matrix": [1, 0, -7, 0, 1, 0], "filter": 3}),
    "TranslateY": (Effect.AFFINE, {"matrix": [1, 0, 0, 0, 1, -7], "filter": 3}),
    "Cutout": (
        Effect.ERASE,
        {"top": 43, "left": 68, "height": 14, "width": 14, "value": [9, 8, 7]},
    ),
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

    for row, (effect, parameters) in enumerate(expected.values()):
        assert move.effect[row] == effect
        for name, value in parameters.items():
            np.testing.assert_allclose(move.parameters(row)[name], value)
    turn = move.parameters(3)["matrix"]
    assert np.degrees(np.arctan2(turn[3], turn[0])) == pytest.approx(-21)


def test_levels_beyond_ten_stay_in_range():
    """The TPU models train with levels of up to 30."""
    ops = tpu_ops()
    count = len(ops)
    sizes = Sizes(np.full(count, 50), np.full(count, 60))
    scene = Scene(sizes, np.zeros(count, np.int64), (0, 0, 0), np.full((2, count), 0.5))

    move = policy_move(ops, np.arange(count), np.full(count, 30.0), np.ones(count), scene)

    assert move.parameters(4)["bits"] == 8
    erased = move.parameters(14)
    assert [erased[name] for name in ("top", "left", "height", "width")] == [0, 0, 50, 60]


def test_tpu_cutouts_stay_inside_and_reach_as_far_as_told():
    moves = batch(T.RandAugment(1, 5, flavor="tpu"), 4000, (100, 120))
    erased = moves[0].effect == Effect.ERASE
    top, left, height, width = (
        moves[0].values(Effect.ERASE, name)[erased] for name in ("top", "left", "height", "width")
    )

    assert erased.sum() > 100
    assert ((top >= 0) & (left >= 0) & (top + height <= 100) & (left + width <= 120)).all()
    assert (height.max(), width.max()) == (40, 40)  # 40 / 2 to each side
    assert (moves[0].values(Effect.ERASE, "value")[erased] == 128).all()
