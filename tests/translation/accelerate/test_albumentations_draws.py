"""Albumentations: what is drawn depends on seed, epoch and sample, and as often as `p` says."""

import random

import numpy as np
import pytest

from tests.translation.accelerate.reading import accelerate

cv2 = pytest.importorskip("cv2")
A = pytest.importorskip("albumentations")

RANDOM = [
    A.Resize(32, 32),
    A.RandomBrightnessContrast(p=0.7),
    A.OneOf([A.GaussNoise(p=1), A.CoarseDropout(p=1), A.Rotate(p=1)], p=0.8),
    A.RandomRotate90(),
]


def images_of(loader):
    import torch

    return torch.cat([batch[0] for batch in loader])


@pytest.mark.parametrize("threads", [1, 3])
def test_draws_depend_on_seed_epoch_and_sample_alone(tv, load_arrays, threads):
    theirs = load_arrays(*RANDOM)
    first = images_of(accelerate(theirs, threads=1, seed=7))
    loader = accelerate(theirs, threads=threads, seed=7)

    assert tv.torch.equal(first, images_of(loader))
    assert not tv.torch.equal(first, images_of(loader))  # the next epoch
    assert not tv.torch.equal(first, images_of(accelerate(theirs, threads=1, seed=8)))


def test_the_users_own_transforms_are_left_alone(load_arrays):
    theirs = load_arrays(*RANDOM)
    before = theirs.dataset.transform.transforms[1].py_random.getstate()
    generator, python_state = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    images_of(accelerate(theirs, threads=2))

    assert theirs.dataset.transform.transforms[1].py_random.getstate() == before
    assert random.getstate() == python_state
    assert np.array_equal(np.random.get_state()[1], generator)  # noqa: NPY002


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_probabilities(tv, load_arrays, p):
    """Native or not, a step happens as often as it should."""
    for step in (A.HorizontalFlip(p=p), A.InvertImg(p=p), A.Transpose(p=p)):
        theirs = load_arrays(A.CenterCrop(8, 8), step)
        plain = images_of(accelerate(load_arrays(A.CenterCrop(8, 8))))
        ours = accelerate(theirs, threads=2)
        images = tv.torch.stack([images_of(ours) for _ in range(20)])
        share = (images != plain).flatten(2).any(dim=2).float().mean()
        assert share == pytest.approx(p, abs=0.08)


def test_a_border_now_and_then(tv, load_arrays):
    """A step that ours has no probability for, in RandomApply."""
    theirs = load_arrays(A.CenterCrop(16, 16), A.Pad(2, p=0.5), A.CenterCrop(16, 16))
    text = str(accelerate(theirs).translation)

    assert "RandomApply(transforms=[Pad(padding=2, fill=(0, 0, 0))])" in text
