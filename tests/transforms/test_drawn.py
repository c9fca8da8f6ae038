"""Telling what is drawn changes no draw, and what is told can be read by anybody."""

import json
from dataclasses import fields

import numpy as np
import pytest

from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.drawn import ToldDraws, drawn_ops

SIZES = Sizes(np.array([64, 80, 50, 64, 71, 200]), np.array([64, 50, 91, 64, 40, 77]))
KEYS = np.array([0, 7, 3 + (5 << 32), 11, 12, 13])

OPS = {
    "RandomCrop": T.RandomCrop(60, pad_if_needed=True, padding=2),
    "RandomResizedCrop": T.RandomResizedCrop(32),
    "LetterBox": T.LetterBox(48),
    "ScaleJitter": T.ScaleJitter((64, 64)),
    "RandomShortestSize": T.RandomShortestSize([30, 40]),
    "RandomResize": T.RandomResize(20, 40),
    "ResizeToBucket": T.ResizeToBucket([(32, 32), (24, 48)]),
    "ResizeToTokens": T.ResizeToTokens(16, 12),
    "FixedSizeCrop": T.FixedSizeCrop(56),
    "RandomAffine": T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 5),
    "RandomRotation": T.RandomRotation((10, 40), expand=True),
    "RandomPerspective": T.RandomPerspective(),
    "ElasticTransform": T.ElasticTransform(20.0, 2.0),
    "ColorJitter": T.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "RandomPhotometricDistort": T.RandomPhotometricDistort(),
    "RandomChannelPermutation": T.RandomChannelPermutation(),
    "GaussianBlur": T.GaussianBlur(5),
    "GaussianNoise": T.GaussianNoise(),
    "RandomErasing": T.RandomErasing(value="random"),
    "RandAugment": T.RandAugment(),
    "RandAugment, tpu": T.RandAugment(flavor="tpu"),
    "RandAugment, timm": T.RandAugment.from_timm("rand-m9-mstd0.5-inc1"),
    "TrivialAugmentWide": T.TrivialAugmentWide(),
    "AutoAugment": T.AutoAugment(),
    "AugMix": T.AugMix(),
    "PopulationBasedAugment": T.PopulationBasedAugment(),
    "RandomApply": T.RandomApply([T.RandomOrder([T.RandomCrop(30), T.RandAugment()])], 0.7),
    "RandomChoice": T.RandomChoice([T.RandomRotation(9), T.RandomApply([T.AutoAugment()])]),
}


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_the_same_is_drawn(op):
    told = ToldDraws(3, 5, KEYS, 2)
    moves, plain = op.sample(told, SIZES), op.sample(Draws(3, 5, KEYS, 2), SIZES)
    assert len(moves) == len(plain)
    for one, other in zip(moves, plain, strict=True):
        for field in fields(one):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))
    for row, drawn in enumerate(drawn_ops(op, told, moves, SIZES, None)):
        found = json.loads(json.dumps(drawn.to_dict(), allow_nan=False))
        assert found["saw"] == [SIZES.height[row], SIZES.width[row]]
        assert found["step"] == 3
        assert found["words"]
        assert "\n" not in found["words"]


def say(op, row=0):
    told = ToldDraws(3, 5, KEYS, 2)
    return drawn_ops(op, told, op.sample(told, SIZES), SIZES, None)[row]


def test_words():
    assert say(T.RandomHorizontalFlip(1.0)).words == "flipped left to right"
    assert say(T.RandomVerticalFlip(0.0)).words == "not flipped"
    assert say(T.Resize((64, 64))).words == "64x64 already"
    assert say(T.Resize((32, 64))).words == "resize to 32x64"
    assert say(T.CenterCrop(60)).words == "crop 60x60 at left 2, top 2"
    assert say(T.Pad((1, 2, 3, 4))).words == "border: left 1, top 2, right 3, bottom 4"
    assert say(T.RandomSolarize(9.0, 1.0)).words == "solarize from 9"
    assert say(T.RandomPosterize(3, 1.0)).words == "posterize to 3 bits"
    assert say(T.RandomInvert(0.0)).words == "nothing"
    assert say(T.RandomRotation((90, 90))).words == "angle 90"
    assert say(T.RandomApply([T.RandomInvert(1.0), T.Resize((8, 8))], 1.0)).words == (
        "RandomInvert(invert); Resize(to 8x8)"
    )
    assert say(T.RandomApply([T.RandomInvert(1.0)], 0.0)).words == "nothing"


def test_containers_have_records_of_what_they_hold():
    record = say(T.RandomApply([T.RandomCrop(20), T.ColorJitter(0.5)], 1.0), row=1)
    crop, colours = record.drawn
    assert (crop.op, str(crop.saw), str(crop.gave)) == ("RandomCrop", "80x50", "20x20")
    assert (colours.op, str(colours.saw)) == ("ColorJitter", "20x20")
    assert colours.moves[0]["move"] == "brightness"
    assert str(record.gave) == "20x20"
