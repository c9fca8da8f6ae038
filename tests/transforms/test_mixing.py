"""Transforms of batches: their arguments, who is mixed with whom, and what is drawn how often."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from penstock import TransformError
from penstock import transforms as T
from penstock._core import MixKind
from penstock.geometry import Size
from penstock.rng import BATCH_STREAM, Draws
from penstock.transforms.batch_op import read_batch_op
from penstock.transforms.mixing import draw_weights

SIZE = Size(20, 30)


def mixing_of(op, count=6, epoch=0):
    """What is drawn for one batch."""
    return read_batch_op(op).sample(Draws(1, epoch, np.arange(7, 7 + count), BATCH_STREAM), SIZE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.MixUp(alpha=0), "MixUp: alpha must be a number greater than 0"),
        (lambda: T.CutMix(alpha=-1), "CutMix: alpha must be a number greater than 0, got -1"),
        (lambda: T.CutMix(num_classes=0), "num_classes must be an integer between 1"),
        (lambda: T.MixUp.timm(mixup_alpha=0), "both 0"),
        (lambda: T.MixUp.timm(mode="half"), "mode must be 'batch', 'pair' or 'elem', got 'half'"),
        (lambda: T.MixUp.timm(prob=1.5), "prob must be a number between 0 and 1, got 1.5"),
        (lambda: T.MixUp.timm(cutmix_minmax=(0.5, 0.5)), "two shares of the image's sides"),
        (lambda: T.MixUp.timm(label_smoothing=-0.1), "label_smoothing must be"),
        (lambda: T.Compose([T.Pad(1), T.MixUp()]), r"Give it as Loader\(batch_transform="),
        (lambda: T.RandomChoice([T.MixUp(), T.Pad(1)]), "works on whole batches"),
        (lambda: T.RandomApply([T.CutMix()]), "works on whole batches"),
        (lambda: T.Compose([T.RandomChoice([T.MixUp()])]), "works on whole batches"),
        (lambda: read_batch_op(T.Pad(1)), "does not work on batches"),
        (lambda: read_batch_op(T.RandomChoice([T.Pad(1)])), "does not work on batches"),
        (
            lambda: read_batch_op(T.RandomChoice([T.MixUp(num_classes=3), T.CutMix()])),
            "different num_classes: 3, None",
        ),
        (lambda: T.RandomChoice([T.MixUp(), T.CutMix()], p=[1]), "p has 1 numbers for 2"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(TransformError, match=message):
        make()


@pytest.mark.parametrize(
    "text",
    [
        "MixUp()",
        "CutMix(alpha=0.5, num_classes=9)",
        "MixUp.timm(cutmix_alpha=1.0, mode='pair')",
        "RandomChoice(transforms=[MixUp(num_classes=3), CutMix(num_classes=3)], p=[1, 3])",
    ],
)
def test_they_print_as_the_call_that_makes_them(text):
    names = {name: getattr(T, name) for name in T.__all__}
    op = eval(text, names)  # noqa: S307

    assert repr(op) == text
    assert pickle.loads(pickle.dumps(op)) == op  # noqa: S301


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_torchvision_mixes_with_the_image_before(count):
    for op in (T.MixUp(), T.CutMix()):
        mixing = mixing_of(op, count)

        assert mixing.partner.tolist() == np.roll(np.arange(count), 1).tolist()
        assert len({*mixing.own.tolist()}) == len({*map(tuple, mixing.box.tolist())}) == 1


@pytest.mark.parametrize("mode", ["batch", "pair", "elem"])
def test_timm_mixes_from_both_ends(mode):
    """One draw for all, for two that are mixed with each other, or for each."""
    mixing = mixing_of(T.MixUp.timm(0.8, 1.0, mode=mode), 8)
    shares, boxes = mixing.own.tolist(), mixing.box.tolist()

    assert mixing.partner.tolist() == list(range(8))[::-1]
    assert len(set(shares)) == {"batch": 1, "pair": 4, "elem": 8}[mode]
    if mode == "pair":
        assert (shares, boxes) == (shares[::-1], boxes[::-1])


def test_pairs_need_an_even_number():
    with pytest.raises(TransformError, match="even number of images, but a batch has 5"):
        mixing_of(T.MixUp.timm(mode="pair"), 5)


def test_no_room_between_min_and_max():
    with pytest.raises(TransformError, match="in an image of 20x30"):
        mixing_of(T.MixUp.timm(cutmix_minmax=(0.5, 0.51)))


@pytest.mark.parametrize("mode", ["batch", "elem"])
def test_what_happens_how_often(mode):
    """Nothing with 1 - prob; else CutMix with switch_prob."""
    op = T.MixUp.timm(0.8, 1.0, prob=0.7, switch_prob=0.25, mode=mode)
    epochs, count = (4000, 2) if mode == "batch" else (2, 4000)
    kinds = np.concatenate([mixing_of(op, count, epoch).kind for epoch in range(epochs)])

    for kind, expected in {MixKind.NONE: 0.3, MixKind.PASTE: 0.175, MixKind.BLEND: 0.525}.items():
        assert abs((kinds == kind).mean() - expected) < 0.035


def test_a_choice_is_drawn_for_each_batch():
    """By its weights, and each of the two draws as often as it pleases."""
    choice = T.RandomChoice([T.MixUp(), T.CutMix(), T.MixUp()], p=[1, 3, 0])
    kinds = [mixing_of(choice, 3, epoch).kind for epoch in range(2000)]

    assert all(len({*kind.tolist()}) == 1 for kind in kinds)
    assert abs(np.mean([kind[0] == MixKind.PASTE for kind in kinds]) - 0.75) < 0.045


@pytest.mark.parametrize("alpha", [1e-4, 0.01, 0.2, 0.8, 1.0, 3.0, 50.0])
def test_shares_have_the_moments_of_beta(alpha):
    """Mean 1/2 and variance 1 / (8 alpha + 4), also where gamma variates would be too small."""
    shares = draw_weights(Draws(0, 0, np.arange(40_000), 0), alpha, 2)
    variance = 1 / (8 * alpha + 4)

    np.testing.assert_allclose(shares.sum(axis=0), 1)
    assert abs(shares[0].mean() - 0.5) < 5 * np.sqrt(variance / 40_000)
    assert abs(shares[0].var() / variance - 1) < 0.05
