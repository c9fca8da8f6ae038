"""What augmentations draw: the same for a sample whatever its batch, inside containers too."""

import dataclasses
import json
import re
import sys

import numpy as np
import pytest

from drawn import applied, batch, effects_of
from penstock import transforms as T
from penstock._core import Effect
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


def test_a_compose_inside_counts_as_a_list():
    parts = [T.Grayscale(), T.RandomInvert(0.5)]
    written = batch(T.RandomApply(parts), 50)
    composed = batch(T.RandomApply([T.Compose(parts)]), 50)

    for one, other in zip(written, composed, strict=True):
        assert one.effect.tolist() == other.effect.tolist()


def test_a_choice_may_be_a_compose():
    op = T.RandomChoice([T.Compose([T.Grayscale(), T.RandomInvert(1.0)]), T.RandomEqualize(1.0)])
    moves = batch(op, 100)
    kinds = {tuple(effect for effect, _ in effects_of(moves, row)) for row in range(100)}

    assert kinds == {(Effect.GRAYSCALE, Effect.INVERT), (Effect.EQUALIZE,)}


def test_the_order_of_a_random_order_changes_no_draw():
    """An op draws from its own branch, so its numbers do not depend on its turn."""
    jitter = T.ColorJitter(brightness=0.5)
    moves = batch(T.RandomOrder([jitter, T.RandomInvert(1.0)]), 40)
    (alone,) = jitter.sample(
        Draws(0, 0, np.arange(40), 0).branch(0), Sizes(np.full(40, 40), np.full(40, 60))
    )

    for row in range(40):
        drawn = dict(effects_of(moves, row))
        assert drawn[Effect.BRIGHTNESS] == alone.parameters(row)


def test_a_kernel_too_large_names_the_image():
    message = (
        "GaussianBlur (step 1): sample 0 is 4x60 here and the kernel, of 9x9, is more than twice"
    )
    with pytest.raises(TransformError, match=re.escape(message)):
        batch(T.GaussianBlur(9), 1, (4, 60))


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


def make_schedule(tmp_path, suffix=".json"):
    path = tmp_path / f"schedule{suffix}"
    stages = [
        {"from_epoch": 0, "ops": []},
        {"from_epoch": 10, "ops": [["Invert", 1.0, 0], ["Equalize", 0.5, 0]]},
    ]
    if suffix == ".json":
        path.write_text(json.dumps({"epochs": 20, "counts": [0.25, 0.75], "stages": stages}))
    else:
        path.write_text(
            "epochs = 20\ncounts = [0.25, 0.75]\n[[stages]]\nfrom_epoch = 0\nops = []\n"
            '[[stages]]\nfrom_epoch = 10\nops = [["Invert", 1.0, 0], ["Equalize", 0.5, 0]]\n'
        )
    return path


def test_a_schedule_is_followed(tmp_path):
    op = T.PopulationBasedAugment(make_schedule(tmp_path))
    (early,) = batch(op, 8000, epoch=9)
    (late,) = batch(op, 8000, epoch=10)

    assert not early.effect.any()
    shares = [(late.effect == e).mean() for e in (Effect.NONE, Effect.INVERT, Effect.EQUALIZE)]
    # Equalize comes first half the time, and then happens half the time; Invert always would.
    np.testing.assert_allclose(shares, [0.25, 0.75 * 0.75, 0.75 * 0.25], atol=0.02)


def test_a_schedule_is_stretched_to_the_training(tmp_path):
    op = T.PopulationBasedAugment(make_schedule(tmp_path), epochs=4)

    assert [len(op.stage_at(epoch).ops) for epoch in range(5)] == [0, 0, 2, 2, 2]
    assert "Invert" in op.describe(2)
    assert "Invert" not in op.describe(1)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML needs Python 3.11")
def test_a_schedule_may_be_toml(tmp_path):
    toml = T.PopulationBasedAugment(make_schedule(tmp_path, ".toml"))
    plain = T.PopulationBasedAugment(make_schedule(tmp_path))

    assert dataclasses.asdict(toml._schedule) == dataclasses.asdict(plain._schedule)


def test_the_example_schedule_grows():
    op = T.PopulationBasedAugment()
    shares = [(batch(op, 2000, epoch=e)[0].effect != 0).mean() for e in (0, 60, 199)]

    assert shares[0] < 0.3
    assert 0.6 < shares[1] <= shares[2] < 0.85
