"""timm's own steps: the pixels of each, for every way that a draw can fall."""

import random

import numpy as np
import pytest
from PIL import Image

from drawn import batch
from penstock.errors import TransformError
from penstock.planner.plan import as_written
from penstock.reference.pipeline import run_reference
from penstock.transforms.policies.timm import TimmAutoAugment, named_ops
from penstock.translation.transforms.read_timm import CropOrPad, ResizeKeepRatio, TrimBorder
from penstock.translation.transforms.translate import translate
from statistics_of_draws import assert_same_distribution, assert_same_frequencies
from strategies import make_image

LEVELS = [0.0, 1.0, 4.0, 7.0, 9.0]


@pytest.fixture(scope="module")
def timm_data(torchvision):
    pytest.importorskip("timm", reason="timm is not installed: see requirements/")
    import timm.data

    return timm.data


def run(transform, image, sample=0):
    return run_reference(as_written(transform), image, seed=3, epoch=0, sample=sample, layout="hwc")


@pytest.mark.parametrize("name", named_ops(0.45))
def test_every_op_of_a_policy(timm_data, monkeypatch, name):
    from timm.data.auto_augment import AugmentOp

    image = make_image((17, 30))
    for level in LEVELS:
        results = []
        for sign in (0.1, 0.9):
            monkeypatch.setattr(random, "random", lambda sign=sign: sign)
            hparams = {"interpolation": Image.BICUBIC, "img_mean": (1, 2, 3)}
            op = AugmentOp(name, 1.0, level, hparams)
            try:
                results.append(np.asarray(op(image)))
            except ValueError:  # Pillow 13 refuses to keep no bits
                results.append(np.zeros((17, 30, 3), np.uint8))
        ours = TimmAutoAugment([[(name, 1.0, level)]], interpolation=Image.BICUBIC, fill=(1, 2, 3))
        got = [run(ours, image, sample) for sample in range(8)]
        assert all(any(np.array_equal(one, result) for result in results) for one in got)
        assert all(any(np.array_equal(one, result) for one in got) for result in results)


@pytest.mark.parametrize("policy", ["v0", "v0r", "original", "originalr"])
def test_policies_are_taken_over(timm_data, policy):
    from timm.data.auto_augment import auto_augment_transform

    theirs = auto_augment_transform(f"{policy}-mstd0.5", {"translate_const": 7})
    ours = translate(theirs).transform.transforms[0]

    assert [[op[0] for op in row] for row in ours.policies] == [
        [op.name for op in row] for row in theirs.policy
    ]
    assert [[op[1:] for op in row] for row in ours.policies] == [
        [(op.prob, op.magnitude) for op in row] for row in theirs.policy
    ]
    assert ours.magnitude_std == 0.5


def test_policies_are_equally_likely():
    policies = [[("Invert", 1.0, 0)], [("Equalize", 1.0, 0)], [("AutoContrast", 0.5, 0)]]
    (move,) = batch(TimmAutoAugment(policies), 6000)
    expected = ["Invert", "Equalize", "AutoContrast", "nothing"]
    names = {0: "nothing"}
    for policy in policies:
        (single,) = batch(TimmAutoAugment([[(policy[0][0], 1.0, 0)]]), 1)
        names[int(single.effect[0])] = policy[0][0]

    assert_same_frequencies(
        [names[int(effect)] for effect in move.effect],
        np.random.default_rng(0).choice(expected, 6000, p=[1 / 3, 1 / 3, 1 / 6, 1 / 6]).tolist(),
    )


def test_ops_that_the_core_has_not():
    with pytest.raises(TransformError, match="timm's Desaturate cannot be done by the core"):
        TimmAutoAugment([[("Desaturate", 1.0, 3)]])


@pytest.mark.parametrize("size", [(20, 31), (41, 24), (7, 50), (12, 9)])
@pytest.mark.parametrize("longest", [0.0, 1.0, 0.4])
def test_resizes_that_keep_the_ratio(timm_data, size, longest):
    from timm.data.transforms import ResizeKeepRatio as Theirs

    image = make_image(size)
    theirs = Theirs((21, 17), longest=longest, interpolation="bicubic")

    ours = translate(theirs).transform
    np.testing.assert_array_equal(run(ours, image), np.asarray(theirs(image)))


@pytest.mark.parametrize("area", [True, False])
def test_random_resizes(timm_data, area):
    from timm.data.transforms import ResizeKeepRatio as Theirs

    random.seed(0)
    changes = ((0.5, 1.2), area, 0.5, (0.8, 1.3))
    image = Image.new("RGB", (200, 120))
    drawn = [Theirs.get_params(image, (224, 224), 0.3, 0.6, *changes) for _ in range(4000)]
    op = ResizeKeepRatio((224, 224), 0.3, "bilinear", 0.6, *changes)
    (move,) = batch(op, 4000, size=(120, 200))

    assert_same_distribution(move.height, np.array([height for height, _ in drawn]))
    assert_same_distribution(move.width, np.array([width for _, width in drawn]))


@pytest.mark.parametrize("size", [(20, 31), (41, 24), (9, 10), (16, 16), (15, 40)])
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_the_middle_cropped_or_padded(timm_data, size, mode):
    from timm.data.transforms import CenterCropOrPad

    image = make_image(size)
    theirs = CenterCropOrPad((16, 16), fill=[5, 6, 7], padding_mode=mode)

    ours = translate(theirs).transform
    np.testing.assert_array_equal(run(ours, image), np.asarray(theirs(image)))


@pytest.mark.parametrize("size", [(8, 9), (5, 8), (5, 4)])
def test_anywhere_cropped_or_padded(timm_data, size):
    """Every place that timm's can take is taken, and no other."""
    from timm.data.transforms import crop_or_pad

    image = make_image(size)
    places = [
        np.asarray(crop_or_pad(image, top, left, 6, 6, fill=(5, 6, 7)))
        for top in between(size[0] - 6)
        for left in between(size[1] - 6)
    ]
    got = [run(CropOrPad((6, 6), (5, 6, 7), anywhere=True), image, sample) for sample in range(120)]

    assert all(any(np.array_equal(one, place) for place in places) for one in got)
    assert all(any(np.array_equal(one, place) for one in got) for place in places)


def between(spare):
    return range(spare + 1) if spare >= 0 else range(spare, 1)


def test_a_trimmed_border(timm_data):
    from timm.data.transforms import TrimBorder as Theirs

    image = make_image((20, 31))
    np.testing.assert_array_equal(run(TrimBorder(3), image), np.asarray(Theirs(3)(image)))
    with pytest.raises(TransformError, match=r"TrimBorder \(step 1\): sample 0 is 20x31 here"):
        run(TrimBorder(10), image)


def test_tensors_of_unscaled_numbers(timm_data):
    from timm.data.transforms import ToTensor
    from torchvision.transforms import Compose

    image = make_image((6, 7))
    ours = translate(Compose([ToTensor()])).transform
    np.testing.assert_array_equal(
        run(ours, image), ToTensor()(image).numpy().transpose(1, 2, 0), strict=True
    )


def test_arrays_have_their_channels_first(timm_data):
    from timm.data.transforms import ToNumpy

    image = make_image((6, 7))
    ours = translate(ToNumpy())
    np.testing.assert_array_equal(run(ours.transform, image), ToNumpy()(image).transpose(1, 2, 0))
