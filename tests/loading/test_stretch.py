"""Samples of several batches are made ready together: nothing that they become depends on it."""

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import transforms as T
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.loading import share
from penstock.loading.selection import Picked
from penstock.loading.stretch import MOST_IN_STRETCH, Stretch
from penstock.packing.shards import open_packed
from penstock.planner.lower import lower
from penstock.planner.plan import as_written
from penstock.transforms.moves import out_sizes

COUNT = 61
SMALL = 57  # the sample that is too small for a crop of 48


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """JPEGs of many sizes, one of them much smaller than the others."""
    folder, random = tmp_path_factory.mktemp("photos"), np.random.default_rng(8)
    (folder / "only").mkdir()
    for number in range(COUNT):
        height, width = (20, 30) if number == SMALL else random.integers(50, 90, 2)
        pixels = random.integers(0, 256, (height // 8 + 1, width // 8 + 1, 3), dtype=np.uint8)
        image = Image.fromarray(pixels).resize((int(width), int(height)))
        image.save(folder / "only" / f"{number:04d}.jpg", quality=92)
    target = tmp_path_factory.mktemp("packed") / "photos.pen"
    penstock.pack(folder, target)
    return target


PIPELINES = {
    "crop": [T.RandomResizedCrop(32), T.RandomHorizontalFlip()],
    "effects": [T.RandomResizedCrop(32), T.RandAugment(3, 9), T.RandomVerticalFlip()],
    "erased": [T.Resize((40, 40)), T.Normalize((0.5,) * 3, (0.2,) * 3), T.RandomErasing(p=0.7)],
    "before and after": [T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.RandomRotation(20), T.Resize((9, 9))],
    "a function": [T.RandomResizedCrop(32), lambda image: image.rotate(90), T.Resize((20, 24))],
    "nothing to do": [T.Resize((64, 64))],
}


def _batches(packed, steps, **options):
    loader = penstock.Loader(
        packed, transform=T.Compose(steps), seed=3, shuffle=True, output="numpy", **options
    )
    return [(images.copy(), labels.copy()) for _ in range(2) for images, labels in loader]


@pytest.mark.parametrize("fidelity", ["exact", "fast"])
@pytest.mark.parametrize("steps", PIPELINES.values(), ids=PIPELINES)
def test_batches_do_not_depend_on_stretches(packed, monkeypatch, steps, fidelity):
    together = _batches(packed, steps, batch_size=5, threads=2, fidelity=fidelity)
    monkeypatch.setattr(share, "MOST_IN_STRETCH", 1)
    alone = _batches(packed, steps, batch_size=5, threads=1, fidelity=fidelity)

    assert len(together) == len(alone) == 2 * 13
    for (images, labels), (expected, expected_labels) in zip(together, alone, strict=True):
        np.testing.assert_array_equal(images, expected)
        np.testing.assert_array_equal(labels, expected_labels)


def test_an_error_comes_with_the_batch_that_has_it(packed):
    """Not with the first batch of the stretch, although that is when it is noticed."""
    loader = penstock.Loader(
        packed, batch_size=4, transform=T.RandomCrop(48), threads=1, output="numpy"
    )
    delivered = 0
    with pytest.raises(TransformError, match="20x30"):
        for _images, _labels in loader:
            delivered += 1

    assert delivered == SMALL // 4


def test_a_sample_beyond_the_limit_is_left_out_alone(packed):
    """One that is too large counts for itself, and not for those beside it."""
    options = {"batch_size": 8, "transform": T.Resize((16, 16)), "threads": 1, "output": "numpy"}
    every = penstock.Loader(packed, **options)
    limit = 70 * 70
    some = penstock.Loader(packed, pixel_limit=limit, on_error="skip", **options)
    sizes = [open_packed(packed).sample(number) for number in range(COUNT)]
    fits = np.array([one.height * one.width <= limit for one in sizes])
    assert 0 < fits.sum() < COUNT

    expected = np.concatenate([images for images, _ in every])[fits]
    np.testing.assert_array_equal(np.concatenate([images for images, _ in some]), expected)


def test_batches_are_put_into_stretches():
    samples = np.arange(3000)
    ends = [*range(100, 3000, 100), 3000]
    picked = list(share._in_stretches(Picked(samples, samples + 7), ends))

    assert [len(one.samples) for one in picked] == [100] * 30
    for one in picked:
        some = slice(one.first, one.first + 100)
        np.testing.assert_array_equal(one.stretch.samples[some], one.samples)
        np.testing.assert_array_equal(one.stretch.keys[some], one.keys)
        assert len(one.stretch.samples) <= MOST_IN_STRETCH
    assert len({id(one.stretch) for one in picked}) == 3


def test_a_batch_larger_than_a_stretch_is_one():
    samples = np.arange(2 * MOST_IN_STRETCH)
    picked = list(share._in_stretches(Picked(samples, samples), [len(samples) - 1, len(samples)]))

    assert [(len(one.stretch.samples), one.first) for one in picked] == [
        (len(samples) - 1, 0),
        (1, 0),
    ]


@pytest.mark.parametrize("error", [TransformError, IndexError, OSError])
def test_what_cannot_be_made_ready_is_tried_once(error):
    """A number that the data set does not have is an IndexError, as a sampler may give it."""
    tries = []

    def make(stretch):
        tries.append(stretch)
        raise error("one of these samples is too small.")

    stretch = Stretch(np.arange(4), np.arange(4))

    assert stretch.ready(0, 2, make) is None
    assert stretch.ready(2, 4, make) is None
    assert tries == [stretch]


@pytest.mark.parametrize("name", ["crop", "effects", "erased", "before and after"])
def test_steps_between_are_those_that_are_picked(name):
    """A slice of steps without a copy, against the way by masks."""
    plan = as_written(T.Compose(PIPELINES[name]))
    random = np.random.default_rng(1)
    sizes = Sizes(random.integers(40, 90, 12), random.integers(40, 90, 12))
    keys = np.arange(12)
    segment = plan.segments[0]
    moves = segment.sample(3, 1, keys, sizes)
    finishing = segment.sample_finishing(3, 1, keys, out_sizes(moves, sizes))
    steps = lower(moves, sizes, finishing)
    for begin, end in ((0, 12), (0, 1), (5, 9), (11, 12)):
        some, picked = steps.between(begin, end), steps.pick(np.arange(begin, end))
        np.testing.assert_array_equal(some.table, picked.table)
        np.testing.assert_array_equal(some.counts, picked.counts)
        np.testing.assert_array_equal(some.effects.heads, picked.effects.heads)
        np.testing.assert_array_equal(some.effects.numbers, picked.effects.numbers)
        np.testing.assert_array_equal(some.effects.counts, picked.effects.counts)
        np.testing.assert_array_equal(some.out_sizes.height, picked.out_sizes.height)
