"""timm's RandAugment: every op at every level, and what is chosen how often.

Only timm's one file is loaded, since the package asks for many others.
"""

import random

import numpy as np
import pytest
from PIL import Image

from drawn import applied
from parity.test_policies_torchvision import recorded
from penstock import transforms as T
from penstock._core import Effect
from penstock.geometry import Sizes
from penstock.transforms.policies import timm as timm_augment
from penstock.transforms.policies.ops import make_scene, policy_move
from penstock.transforms.policies.spaces import timm_ops
from statistics_of_draws import assert_same_distribution, assert_same_frequencies
from strategies import make_image
from timm_modules import timm_module

LEVELS = [0.0, 0.4, 1.0, 3.3, 5.0, 7.25, 9.0, 9.999, 10.0]


@pytest.fixture(scope="module")
def timm():
    return timm_module("auto_augment")


@pytest.mark.parametrize("increasing", [False, True])
@pytest.mark.parametrize("filter", [Image.BILINEAR, Image.BICUBIC])
@pytest.mark.parametrize("size", [(17, 30), (31, 20)])
def test_every_op_at_every_level(timm, monkeypatch, increasing, filter, size):
    ops = timm_ops(increasing=increasing, translate_pct=0.45)
    names = timm._RAND_INCREASING_TRANSFORMS if increasing else timm._RAND_TRANSFORMS
    assert [op.name for op in ops] == [plain_name(name) for name in names]
    image = make_image(size)
    cases = [(level, sign) for level in LEVELS for sign in (-1.0, 1.0)]
    levels, signs = np.array(cases).T
    scene = make_scene(Sizes(*(np.full(len(cases), side) for side in size)), filter, (128,) * 3)
    for which, name in enumerate(names):
        move = policy_move(ops, np.full(len(cases), which), levels, signs, scene)
        for row, (level, sign) in enumerate(cases):
            monkeypatch.setattr(random, "random", lambda s=sign: 0.9 if s < 0 else 0.1)
            hparams = {"interpolation": filter}
            theirs = timm.AugmentOp(name, prob=1.0, magnitude=level, hparams=hparams)
            got = applied([move], image, row)
            if plain_name(name) == "Posterize" and move.parameters(row)["bits"] == 0:
                assert not got.any()  # Pillow 13 refuses to keep no bits
                continue
            assert np.array_equal(got, np.asarray(theirs(image))), (name, level, sign)


@pytest.mark.parametrize(
    "config",
    ["rand-m9-mstd0.5-inc1", "rand-m4-n3-p0.7", "rand-m9-n2-mstd101-mmax8", "rand-m9-n3-tweights"],
)
def test_frequencies(timm, monkeypatch, config):
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  what timm draws from
    theirs = timm.rand_augment_transform(config)
    images = []
    for op in theirs.ops:
        spy_on(monkeypatch, op, images)
    for _ in range(6000):
        images.append([])
        theirs(Image.new("RGB", (3, 2)))
    ours = recorded(monkeypatch, timm_augment, T.RandAugment.from_timm(config), 12_000)
    drawn = [
        [entry for entry in turns if entry[0] != "nothing"] for turns in zip(*ours, strict=True)
    ]

    assert_same_frequencies(
        [tuple(name for name, _ in image) for image in drawn],
        [tuple(name for name, _ in image) for image in images],
    )
    assert_same_distribution(arguments(drawn, "Rotate"), arguments(images, "Rotate"))
    assert_same_distribution(arguments(drawn, "Solarize"), arguments(images, "Solarize"))


def spy_on(monkeypatch, op, images):
    def record(image, *level, **_):
        images[-1].append((plain_name(op.name), float(level[0]) if level else 0.0))
        return image

    monkeypatch.setattr(op, "aug_fn", record)


def arguments(images, name):
    return np.array([round(value, 4) for image in images for n, value in image if n == name])


def plain_name(name):
    return name.removesuffix("Increasing").removesuffix("Rel")


def test_filters_are_chosen_evenly():
    op = T.RandAugment.from_timm("rand-m9-p1.0")
    from drawn import batch

    moves = batch(op, 20_000)
    filters = np.concatenate(
        [m.values(Effect.AFFINE, "filter")[m.effect == Effect.AFFINE] for m in moves]
    )

    assert set(filters) == {2, 3}
    assert abs((filters == 2).mean() - 0.5) < 4.5 * 0.5 / np.sqrt(len(filters))
