"""Rules of the planner: an exact one changes no byte of any image."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.planner.rules import EXACT
from penstock.planner.rules.rule import rewrite_moves
from penstock.reference.pipeline import run_moves
from penstock.transforms.moves import out_sizes
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


@settings(max_examples=300, deadline=None)
@given(pipeline=pipelines, batch=batches, seed=seeds)
def test_exact_rules_change_no_byte(pipeline, batch, seed):
    sizes, moves = draw(pipeline, batch, seed)
    planned, _ = rewrite_moves(moves, sizes, EXACT)

    for row, size in enumerate(batch):
        image = make_image(size, row)
        expected = np.asarray(run_moves(image, moves, row))
        np.testing.assert_array_equal(np.asarray(run_moves(image, planned, row)), expected)
    after, expected_sizes = out_sizes(planned, sizes), out_sizes(moves, sizes)
    np.testing.assert_array_equal(after.height, expected_sizes.height)
    np.testing.assert_array_equal(after.width, expected_sizes.width)
