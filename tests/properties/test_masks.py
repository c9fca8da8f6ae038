"""The core moves masks as Pillow does, whatever the moves, sizes and numbers of objects."""

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from penstock import transforms as T
from penstock._core import Engine
from penstock.errors import DecodeError, TransformError
from penstock.geometry import Size, Sizes
from penstock.loading.part_targets import move_by_reference, start_moving
from penstock.packing.mask_runs import decode_runs, encode_runs
from penstock.planner.plan import as_written
from strategies import geometric_ops, image_sizes, seeds

warps = st.sampled_from(
    [
        T.RandomRotation(180),
        T.RandomRotation(90, expand=True),
        T.RandomRotation((90, 90)),
        T.RandomAffine(30, (0.2, 0.2), (0.5, 1.5), 20),
        T.RandomPerspective(0.6, p=1.0),
        T.ElasticTransform(30.0, 0.5),
        T.RandomZoomOut(p=1.0),
        T.RandAugment(num_ops=2, magnitude=14),
        T.AugMix(),
    ]
)
pipelines = st.lists(st.one_of(geometric_ops, warps), min_size=1, max_size=4).map(T.Compose)
counts = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def engine():
    return Engine(2, 1)


def moved_by_core(engine, masks, wanted, moves, sizes, fill):
    moving = start_moving(engine, 0, masks, wanted, moves, sizes, fill)
    assert moving.engine_part.wait(30)
    assert not moving.engine_part.unreadable.any()
    return moving.moved


def blobs(rng, count, size):
    """Masks with long and short runs, whole and empty ones among them."""
    noise = rng.random((count, *size)) < rng.random((count, 1, 1))
    if rng.random() < 0.5:
        noise = np.repeat(noise[:, : size[0] // 2 + 1], 2, axis=1)[:, : size[0]]
    return noise


@settings(deadline=None, max_examples=250)
@given(
    pipeline=pipelines, objects=counts, size=image_sizes, seed=seeds, fill=st.sampled_from([0, 255])
)
def test_masks_move_as_pillow_moves_them(engine, pipeline, objects, size, seed, fill):
    rng = np.random.default_rng(seed)
    given_sizes = [size if row % 2 else size[::-1] for row in range(len(objects))]
    sizes = Sizes(*np.array(given_sizes, dtype=np.int64).T)
    segment = as_written(pipeline).segments[0]
    try:
        moves = segment.sample(seed, 0, np.arange(len(objects)), sizes)
    except TransformError:  # an image is too small for it
        reject()
    drawn = [blobs(rng, count, one) for count, one in zip(objects, given_sizes, strict=True)]
    runs = [
        np.frombuffer(encode_runs(stack, len(stack), Size(*one)), np.uint8)
        if len(stack)
        else np.zeros((0, *one), np.uint8)
        for stack, one in zip(drawn, given_sizes, strict=True)
    ]
    some = [np.flatnonzero(rng.random(count) < 0.7) for count in objects]
    levels = [rng.integers(0, 256, (1, *one), np.uint8) for one in given_sizes]
    wide = [rng.integers(0, 65_536, (1, *one), np.uint16) for one in given_sizes]
    first = [np.zeros(1, np.int64)] * len(objects)
    for masks, wanted, outside in (
        (runs, some, 0),
        ([stack.astype(np.uint8) for stack in drawn], some, 0),
        (levels, first, fill),
        (wide, first, 1000 + fill),
    ):
        expected = move_by_reference(masks, wanted, moves, sizes, outside)
        for got, one in zip(
            moved_by_core(engine, masks, wanted, moves, sizes, outside), expected, strict=True
        ):
            assert got.dtype == one.dtype
            np.testing.assert_array_equal(got, one)


@given(count=st.integers(1, 5), size=image_sizes, seed=seeds)
def test_run_lengths_give_the_masks_back(count, size, seed):
    masks = blobs(np.random.default_rng(seed), count, size)
    encoded = encode_runs(masks, count, Size(*size))

    np.testing.assert_array_equal(decode_runs(encoded), masks)


@given(count=st.integers(1, 3), size=image_sizes, seed=seeds)
def test_damaged_run_lengths_are_refused_or_give_masks(engine, count, size, seed):
    rng = np.random.default_rng(seed)
    encoded = bytearray(encode_runs(blobs(rng, count, size), count, Size(*size)))
    encoded[rng.integers(16, len(encoded))] = rng.integers(0, 256)
    cut = bytes(encoded[: rng.integers(16, len(encoded) + 1)])
    sizes = Sizes(np.array([size[0]]), np.array([size[1]]))
    try:
        expected = decode_runs(cut)
    except DecodeError:
        expected = None
    moving = start_moving(engine, 0, [np.frombuffer(cut, np.uint8)], [np.array([0])], (), sizes, 0)
    assert moving.engine_part.wait(30)
    if expected is None:
        # A plain reader looks at all masks, the core at those that are wanted.
        return
    if not moving.engine_part.unreadable.any():
        np.testing.assert_array_equal(moving.moved[0][0], expected[0])
