"""Rules of the planner: an exact one changes no byte of any image."""

import copy
from dataclasses import asdict

import numpy as np
import PIL.Image
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from native import run_natively
from penstock import transforms as T
from penstock._core import Effect
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.planner.draft import Draft, Stage, verify
from penstock.planner.plan import as_written
from penstock.planner.rules import RULES, counting
from penstock.planner.rules.rule import Fidelity, rewrite_moves
from penstock.reference.pipeline import run_moves
from strategies import geometric_ops, image_sizes, make_image, seeds

effects = st.sampled_from([
    T.ColorJitter(0.5, 0.5, 0.5, 0.2),
    T.ColorJitter(brightness=0.5),
    T.RandomInvert(),
    T.RandomGrayscale(0.5),
    T.RandomPosterize(3),
    T.RandomSolarize(100),
    T.RandomAdjustSharpness(2),
    T.RandomAutocontrast(),
    T.RandomEqualize(),
    T.GaussianBlur(3),
    T.GaussianBlur((5, 1), sigma=(0.5, 2)),
    T.RandomRotation(30, interpolation="bilinear"),
    T.RandomRotation(90, expand=True),
    T.RandomAffine(20, (0.2, 0.2), (0.7, 1.4), 10, interpolation="bicubic", fill=(5, 6, 7)),
    T.RandomPerspective(0.5, 0.7, interpolation="bilinear"),
    T.RandAugment(2, 9),
    T.TrivialAugmentWide(),
    T.RandomPhotometricDistort(),
    T.Grayscale(3),
    T.AugMix(),
    # These leave images alone, sometimes or always.
    T.ColorJitter((1, 1), (1, 1), (1, 1), (0, 0)),
    T.RandomInvert(1.0),
    T.RandomPosterize(8, 1.0),
    T.RandomSolarize(256),
    T.RandomRotation((0, 0), interpolation="bilinear"),
    T.RandomAffine(0, interpolation="bicubic"),
    T.RandomErasing(1.0, scale=(0.02, 0.4), value=(3, 4, 5)),
])  # fmt: skip
pipelines = st.lists(st.one_of(geometric_ops, effects), min_size=2, max_size=7).map(T.Compose)
batches = st.lists(image_sizes, min_size=1, max_size=4)


def draw(pipeline, batch, seed):
    sizes = Sizes(*np.array(batch, dtype=np.int64).T)
    try:
        moves = as_written(pipeline).segments[0].sample(seed, 0, np.arange(len(batch)), sizes)
    except TransformError:  # a resize to a shorter side of nothing
        assume(condition=False)
        raise
    return sizes, moves


@pytest.fixture(scope="module", autouse=True)
def _small_images_count_as_large():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "LEAST_BYTES", 1)
        yield


EXACT = [rule for rule in RULES if rule.fidelity == Fidelity.EXACT]


def check_bytes(pipeline, batch, seed, rules):
    sizes, moves = draw(pipeline, batch, seed)
    drawn = copy.deepcopy(moves)
    planned = rewrite_moves(moves, sizes, rules)

    for before, after in zip(drawn, moves, strict=True):  # rules are pure: what is drawn stays
        np.testing.assert_equal(asdict(before), asdict(after))
    for row, size in enumerate(batch):
        image = make_image(size, row)
        expected = np.asarray(run_moves(image, moves, row))
        np.testing.assert_array_equal(np.asarray(run_moves(image, planned, row)), expected)
    nowhere = frozenset()
    written = Draft(tuple(Stage(move, nowhere) for move in moves), sizes)
    verify(Draft(tuple(Stage(move, nowhere) for move in planned), sizes), written)


# The core blurs in float32, the reference in float64.
LEVELS_APART = 1


@settings(max_examples=300, deadline=None)
@given(pipeline=pipelines, batch=batches, seed=seeds)
def test_the_core_runs_planned_moves_as_written_ones(pipeline, batch, seed):
    sizes, moves = draw(pipeline, batch, seed)
    images = [np.asarray(make_image(size, row)) for row, size in enumerate(batch)]
    planned = run_natively(images, rewrite_moves(moves, sizes, EXACT))

    for row, as_was_written in enumerate(run_natively(images, moves)):
        np.testing.assert_array_equal(planned[row], as_was_written)
        expected = np.asarray(run_moves(PIL.Image.fromarray(images[row]), moves, row)).astype(int)
        blurs = any(
            np.isin(getattr(move, "effect", 0), Effect.GAUSSIAN_BLUR).any() for move in moves
        )
        assert np.abs(planned[row] - expected).max() <= (LEVELS_APART if blurs else 0)


@settings(max_examples=300, deadline=None)
@given(pipeline=pipelines, batch=batches, seed=seeds)
def test_exact_rules_together_change_no_byte(pipeline, batch, seed):
    check_bytes(pipeline, batch, seed, EXACT)


@pytest.mark.parametrize("rule", EXACT, ids=lambda rule: rule.name)
@settings(max_examples=60, deadline=None)
@given(pipeline=pipelines, batch=batches, seed=seeds)
def test_an_exact_rule_alone_changes_no_byte(rule, pipeline, batch, seed):
    check_bytes(pipeline, batch, seed, [rule])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_says_what_it_keeps(rule):
    assert len(rule.rewrite.__doc__.strip().splitlines()) > 2, "a summary and a proof"
    assert (rule.bound is not None) == (rule.fidelity == Fidelity.FAST)
