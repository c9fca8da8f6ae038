"""What augmentations draw: the same for a sample whatever its batch, inside containers too."""

import re

import numpy as np
import pytest

from drawn import applied, batch
from penstock import transforms as T
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.reference.pipeline import run_moves
from penstock.rng import Draws
from penstock.transforms.moves import out_sizes
from strategies import make_image

AUGMENTATIONS = [
    T.ColorJitter(0.4, 0.4, 0.4, 0.1),
    T.ColorJitter(),
    T.RandomPhotometricDistort(),
    T.Grayscale(),
    T.RandomGrayscale(),
    T.RandomInvert(),
    T.RandomPosterize(4),
    T.RandomSolarize(128),
    T.RandomEqualize(),
    T.RandomAutocontrast(),
    T.RandomAdjustSharpness(2),
    T.GaussianBlur(3),
    T.GaussianNoise(),
    T.RandomRotation(40, expand=True),
    T.RandomAffine(10, (0.1, 0.1), (0.5, 2), 5),
    T.RandomPerspective(),
    T.ElasticTransform(sigma=0.2),
    T.RandomErasing(value="random"),
    T.RandomApply([T.RandomCrop(4), T.ColorJitter(0.5)]),
    T.RandomChoice([T.Pad(3), T.Resize((9, 11)), T.RandomRotation(90, expand=True)]),
    T.RandomOrder([T.RandomHorizontalFlip(), T.RandomCrop(5), T.RandomErasing()]),
    T.RandAugment(),
    T.RandAugment(flavor="tpu"),
    T.RandAugment.from_timm("rand-m9-mstd0.5-inc1"),
    T.RandAugment.from_timm("rand-m9-n4-tweights-mstd101"),
    T.AutoAugment(),
    T.TrivialAugmentWide(),
    T.AugMix(alpha=0.5),
    T.PopulationBasedAugment(),
]
SAMPLES = np.array([3, 10_000_000_000, 17, 4, 25, 8, 99, 1])
SIZES = Sizes(
    np.array([12, 8, 31, 7, 20, 6, 6, 40]),
    np.array([9, 8, 17, 30, 20, 6, 25, 7]),
)


def at(rows):
    return Sizes(SIZES.height[rows], SIZES.width[rows])


@pytest.mark.parametrize("op", AUGMENTATIONS, ids=repr)
def test_a_sample_fares_the_same_in_any_batch(op):
    """Pixels are compared: containers may arrange the same moves otherwise."""
    together = op.sample(Draws(5, 60, SAMPLES, 2), SIZES)
    some = np.array([6, 1, 4])
    fewer = op.sample(Draws(5, 60, SAMPLES[some], 2), at(some))

    for place, row in enumerate(some.tolist()):
        image = make_image((SIZES.height[row], SIZES.width[row]), seed=row)
        assert np.array_equal(applied(fewer, image, place), applied(together, image, row))
    assert out_sizes(fewer, at(some)).height.tolist() == [
        out_sizes(together, SIZES).height[row] for row in some
    ]


@pytest.mark.parametrize("op", AUGMENTATIONS, ids=repr)
def test_sizes_are_told_as_they_become(op):
    moves = op.sample(Draws(1, 60, SAMPLES, 0), SIZES)
    sizes = out_sizes(moves, SIZES)

    for row in range(len(SAMPLES)):
        image = make_image((SIZES.height[row], SIZES.width[row]))
        result = run_moves(image, moves, row)
        assert (sizes.height[row], sizes.width[row]) == (result.height, result.width)


@pytest.mark.parametrize("op", AUGMENTATIONS, ids=repr)
def test_an_empty_batch_is_no_trouble(op):
    nothing = Sizes(np.empty(0, np.int64), np.empty(0, np.int64))
    moves = op.sample(Draws(0, 0, np.empty(0, np.int64), 0), nothing)

    assert len(out_sizes(moves, nothing)) == 0


@pytest.mark.parametrize("op", AUGMENTATIONS, ids=repr)
def test_one_pixel_is_no_trouble(op):
    crops = any(isinstance(inner, T.RandomCrop) for inner in getattr(op, "transforms", ()))
    blurs = isinstance(op, (T.GaussianBlur, T.ElasticTransform))
    if crops or blurs:
        with pytest.raises(TransformError, match=r"\(step 1\)"):
            batch(op, 8, (1, 1))
        return
    moves = batch(op, 8, (1, 1), epoch=60)
    for row in range(8):
        applied(moves, make_image((1, 1)), row)


def test_a_kernel_too_large_names_the_image():
    message = (
        "GaussianBlur (step 1): sample 0 is 4x60 here and the kernel, of 9x9, is more than twice"
    )
    with pytest.raises(TransformError, match=re.escape(message)):
        batch(T.GaussianBlur(9), 1, (4, 60))
