"""MixUp.timm against timm's Mixup: images, labels, boxes and distributions, in all modes.

Only timm's one file is loaded, since the package asks for many others.
"""

from __future__ import annotations

import numpy as np
import pytest

from penstock import transforms as T
from penstock._core import Element, MixKind
from penstock.geometry import Size
from penstock.loading.mix import mix_native, soften
from penstock.rng import BATCH_STREAM, Draws
from penstock.transforms.mixing import timm_box
from statistics_of_draws import assert_same_distribution, assert_same_frequencies
from timm_modules import timm_module

CLASSES = 5
COUNT = 8
SIZE = Size(40, 60)
PASTE = MixKind.PASTE
MODES = ["batch", "pair", "elem"]


@pytest.fixture(scope="module")
def timm(torchvision):
    return timm_module("mixup")


OPTIONS = {
    "either": {"mixup_alpha": 0.8, "cutmix_alpha": 1.0, "prob": 0.8},
    "mixup": {"mixup_alpha": 0.3},
    "cutmix": {"mixup_alpha": 0.0, "cutmix_alpha": 0.5},
    "uncorrected": {"mixup_alpha": 0.0, "cutmix_alpha": 0.5, "correct_lam": False},
    "minmax": {"mixup_alpha": 0.0, "cutmix_minmax": (0.2, 0.8), "label_smoothing": 0.0},
    "minmax or mixup": {"cutmix_minmax": (0.2, 0.8), "prob": 0.9, "correct_lam": False},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OPTIONS)
def test_images_and_labels_for_the_same_draws(timm, monkeypatch, name, mode):
    """Timm's own call, told our shares and boxes, gives the same batch and the same labels."""
    import torch

    options = OPTIONS[name] | {"mode": mode, "num_classes": CLASSES}
    ours, theirs = T.MixUp.timm(**options), timm.Mixup(**options)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, COUNT)
    for epoch in range(25):
        images = rng.normal(0, 1.3, (COUNT, 3, 40, 60)).astype(np.float32)
        draws = Draws(2, epoch, np.arange(COUNT), BATCH_STREAM)
        mixing = ours.sample(draws, SIZE)
        rows = {"batch": 1, "pair": COUNT // 2, "elem": COUNT}[mode]
        share, is_cut = ours._draw_shares(draws.branch(0, slice(0, rows)))
        drawn = (float(share[0]), bool(is_cut[0])) if mode == "batch" else (share, is_cut)
        tell_timm(monkeypatch, timm, theirs, drawn, mixing.box[:rows][mixing.kind[:rows] == PASTE])
        tensor = torch.from_numpy(images.copy())
        expected, expected_labels = theirs(tensor, torch.from_numpy(labels))

        mix_native(images, np.arange(COUNT), mixing, Element.FLOAT32, "chw")
        np.testing.assert_array_equal(images, expected.numpy())
        np.testing.assert_array_equal(soften(labels, mixing, ours), expected_labels.numpy())


def tell_timm(monkeypatch, timm, theirs, drawn, boxes):
    """Make it draw what we drew; it asks for boxes in the order of images."""
    name = "_params_per_batch" if theirs.mode == "batch" else "_params_per_elem"
    monkeypatch.setattr(theirs, name, lambda *_: drawn)
    left = iter(boxes.tolist())

    def box_and_share(shape, lam, ratio_minmax, correct_lam, count=None):
        top, start, height, width = next(left)
        if correct_lam or ratio_minmax is not None:
            lam = 1.0 - height * width / float(shape[-2] * shape[-1])
        return (top, top + height, start, start + width), lam

    monkeypatch.setattr(timm, "cutmix_bbox_and_lam", box_and_share)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [Size(1, 1), Size(1, 9), Size(40, 61), Size(224, 224)], ids=str)
def test_boxes_for_the_same_share_and_centre(timm, monkeypatch, size, dtype):
    """In the precision that each mode has."""
    rng = np.random.default_rng(1)
    shares = np.array([0.0, 1.0, *rng.random(300)], dtype=dtype)
    for share in shares:
        y, x = int(rng.integers(size.height)), int(rng.integers(size.width))
        centre = iter([y, x])
        monkeypatch.setattr(np.random, "randint", lambda *_, centre=centre, **__: next(centre))
        expected = timm.rand_bbox((3, size.height, size.width), share)

        box = timm_box(np.array([share]), np.array([y]), np.array([x]), size)
        top, left, height, width = box[0].tolist()
        assert (top, top + height, left, left + width) == tuple(int(edge) for edge in expected)


@pytest.mark.parametrize("name", ["cutmix", "minmax"])
def test_boxes_have_timms_distribution(timm, name):
    np.random.seed(0)  # noqa: NPY002  timm draws from NumPy's global generator
    ours = T.MixUp.timm(**OPTIONS[name], mode="elem")
    theirs = timm.Mixup(**OPTIONS[name], mode="elem")
    lam, _ = theirs._params_per_elem(4000)
    shape, minmax = (3, SIZE.height, SIZE.width), theirs.cutmix_minmax
    drawn = [timm.cutmix_bbox_and_lam(shape, share, ratio_minmax=minmax) for share in lam]
    edges = np.array([box for box, _ in drawn])
    mixing = ours.sample(Draws(0, 0, np.arange(4000), BATCH_STREAM), SIZE)
    top, left, height, width = mixing.box.T

    for ours_edge, theirs_edge in zip(
        (top, top + height, left, left + width), edges.T, strict=True
    ):
        assert_same_distribution(ours_edge, theirs_edge)
    assert_same_distribution(mixing.own, np.array([share for _, share in drawn], np.float32))


@pytest.mark.parametrize("mode", ["batch", "elem"])
def test_shares_and_kinds_have_timms_distribution(timm, mode):
    np.random.seed(1)  # noqa: NPY002  timm draws from NumPy's global generator
    options = {"mixup_alpha": 0.3, "cutmix_alpha": 2.0, "prob": 0.6, "switch_prob": 0.3}
    ours = T.MixUp.timm(**options, mode=mode)
    theirs = timm.Mixup(**options, mode=mode)
    if mode == "elem":
        share, is_cut = theirs._params_per_elem(4000)
    else:
        share, is_cut = np.array([theirs._params_per_batch() for _ in range(4000)]).T
    draws = Draws(0, 0, np.arange(4000), BATCH_STREAM)
    our_share, our_cut = ours._draw_shares(draws)

    for cut in (False, True):
        mixed, expected = (our_share < 1) & (our_cut == cut), (share < 1) & (is_cut == cut)
        assert_same_distribution(our_share[mixed], share[expected])
    kinds, expected_kinds = (
        np.where(shares < 1, 1 + (cuts != 0), 0)
        for shares, cuts in ((our_share, our_cut), (share, is_cut))
    )
    assert_same_frequencies(kinds.tolist(), expected_kinds.tolist())
