import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock._core import StepColumn
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.planner.plan import as_written
from penstock.reference.pipeline import run_moves, run_steps_reference
from penstock.transforms.moves import out_sizes
from strategies import image_sizes, make_image, pipelines, seeds

batches = st.lists(image_sizes, min_size=1, max_size=5)


def draw(pipeline, batch, seed, first_sample=0):
    """The sizes of a batch and the moves drawn for it."""
    sizes = Sizes(*np.array(batch, dtype=np.int64).T)
    samples = np.arange(first_sample, first_sample + len(batch))
    try:
        return sizes, as_written(pipeline).segments[0].sample(seed, 0, samples, sizes)
    except TransformError:  # a resize to a shorter side of nothing
        assume(condition=False)
        raise


@settings(max_examples=600, deadline=None)
@given(pipeline=pipelines, batch=batches, seed=seeds)
def test_steps_do_what_the_moves_say(pipeline, batch, seed):
    """Fusing changes no pixel, for no sample of a batch."""
    sizes, moves = draw(pipeline, batch, seed)
    steps = lower(moves, sizes)
    expected_sizes = out_sizes(moves, sizes)

    for row, size in enumerate(batch):
        image = make_image(size, row)
        expected = np.asarray(run_moves(image, moves, row))
        own_steps = steps.table[row, : steps.counts[row]]

        np.testing.assert_array_equal(np.asarray(run_steps_reference(own_steps, image)), expected)
        whole_row = run_steps_reference(steps.table[row], image)
        np.testing.assert_array_equal(np.asarray(whole_row), expected)
        assert steps.out_sizes[row] == expected_sizes[row]
        assert (expected_sizes[row].height, expected_sizes[row].width) == expected.shape[:2]


@settings(max_examples=200, deadline=None)
@given(pipeline=pipelines, batch=batches, seed=seeds)
def test_every_part_of_a_step_fits_the_one_before(pipeline, batch, seed):
    """What the core relies on: boxes within the padded image, windows within the resized one."""
    sizes, moves = draw(pipeline, batch, seed)
    steps = lower(moves, sizes)

    assert steps.table.dtype == np.int32
    assert steps.table.flags.c_contiguous
    assert steps.counts.min() >= 1
    assert steps.table.shape == (len(batch), steps.counts.max(), len(StepColumn))
    height, width = sizes.height, sizes.width
    for step in steps.table.transpose(1, 2, 0):
        height = step[StepColumn.PAD_TOP] + height + step[StepColumn.PAD_BOTTOM]
        width = step[StepColumn.PAD_LEFT] + width + step[StepColumn.PAD_RIGHT]
        assert np.all(step[: StepColumn.CROP_LEFT + 1] >= 0)
        assert np.all(step[StepColumn.CROP_TOP] + step[StepColumn.CROP_HEIGHT] <= height)
        assert np.all(step[StepColumn.CROP_LEFT] + step[StepColumn.CROP_WIDTH] <= width)
        resized = step[StepColumn.FILTER] >= 0
        same = (step[StepColumn.RESIZE_HEIGHT] == step[StepColumn.CROP_HEIGHT]) & (
            step[StepColumn.RESIZE_WIDTH] == step[StepColumn.CROP_WIDTH]
        )
        assert np.array_equal(resized, ~same)
        window_height, window_width = step[StepColumn.WINDOW_HEIGHT], step[StepColumn.WINDOW_WIDTH]
        assert np.all(step[[StepColumn.WINDOW_TOP, StepColumn.WINDOW_LEFT]] >= 0)
        assert np.all(np.minimum(window_height, window_width) >= 1)
        assert np.all(step[StepColumn.WINDOW_TOP] + window_height <= step[StepColumn.RESIZE_HEIGHT])
        assert np.all(step[StepColumn.WINDOW_LEFT] + window_width <= step[StepColumn.RESIZE_WIDTH])
        height, width = window_height, window_width


@settings(max_examples=100, deadline=None)
@given(pipeline=pipelines, batch=batches, seed=seeds)
def test_a_sample_is_treated_the_same_in_any_batch(pipeline, batch, seed):
    sizes, moves = draw(pipeline, batch, seed)
    together = lower(moves, sizes)

    for row, size in enumerate(batch):
        own_sizes, own_moves = draw(pipeline, [size], seed, first_sample=row)
        alone = lower(own_moves, own_sizes)
        own_steps = together.table[row, : together.counts[row]]
        np.testing.assert_array_equal(own_steps, alone.table[0])
