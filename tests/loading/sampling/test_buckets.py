"""Batches of one bucket each: which samples, on which rank, in which epoch."""

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T
from penstock.errors import LoaderError, PenstockError
from penstock.geometry import Sizes

BUCKETS = [(64, 64), (48, 96), (96, 48), (40, 120)]
SIZES = np.random.default_rng(0).integers(30, 300, (211, 2))


def bound(rank=0, world_size=1, *, data=SIZES, buckets=BUCKETS, batch_size=4, seed=5, **options):
    settings = {
        name: options.pop(name)
        for name in ("small", "pixels", "tokens", "patch_size")
        if name in options
    }
    return ps.BucketBatches(buckets, **settings).bind(
        data, batch_size=batch_size, seed=seed, rank=rank, world_size=world_size, **options
    )


def epochs(world_size, count=1, **options):
    """Batches by epoch, rank and step."""
    samplers = [bound(rank, world_size, **options) for rank in range(world_size)]
    return [[list(sampler) for sampler in samplers] for _ in range(count)]


def bucket_of(sizes, buckets=BUCKETS):
    """The nearest ratio on a logarithmic scale; there are no ties in these sizes."""
    ratios = np.log([width / height for height, width in buckets])
    own = np.log(sizes[:, 1] / sizes[:, 0])
    return abs(own[:, None] - ratios).argmin(axis=1)


NUMBERS = bucket_of(SIZES)


@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("shuffle", [True, False])
def test_all_ranks_together_have_every_sample(world_size, shuffle):
    """Once each, but for the few that make the last step of a bucket divide among the ranks."""
    (ranks,) = epochs(world_size, shuffle=shuffle)
    counts = np.bincount([i for rank in ranks for batch in rank for i in batch], minlength=211)
    rests = np.bincount(NUMBERS) % (4 * world_size)

    assert len({len(rank) for rank in ranks}) == 1
    assert counts.min() == 1
    assert counts.sum() - 211 == (-rests % world_size).sum()
    said = ps.BucketBatches(BUCKETS).bind(SIZES, batch_size=4, rank=0, world_size=world_size)
    twice = counts.sum() - 211
    assert (f"{twice} come twice" in said.describe()) == bool(twice)


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_at_each_step_all_ranks_have_one_bucket_and_equal_batches(world_size):
    (ranks,) = epochs(world_size)
    seen = set()
    for step in zip(*ranks, strict=True):
        assert len({NUMBERS[i] for batch in step for i in batch}) == 1
        assert len({len(batch) for batch in step}) == 1
        seen.add(int(NUMBERS[step[0][0]]))

    assert seen == set(range(4))


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_drop_last_leaves_out_what_does_not_fill_a_step(world_size):
    (ranks,) = epochs(world_size, drop_last=True)
    flat = [i for rank in ranks for batch in rank for i in batch]
    rests = np.bincount(NUMBERS) % (4 * world_size)

    assert {len(batch) for rank in ranks for batch in rank} == {4}
    assert len(flat) == len(set(flat)) == 211 - rests.sum()
    sampler = bound(0, world_size, drop_last=True)
    assert f"{rests.sum()} left over in each epoch" in sampler.describe()
    assert len(sampler) == len(ranks[0])


def test_a_bucket_smaller_than_the_ranks_still_gives_each_a_batch():
    sizes = np.array([[64, 64]] * 9 + [[48, 96]])
    ranks = [list(bound(rank, 3, data=sizes, shuffle=False)) for rank in range(3)]

    # Buckets follow each other by height; the lone sample comes three times.
    assert ranks == [[[9], [0, 3, 6]], [[9], [1, 4, 7]], [[9], [2, 5, 8]]]


def test_the_ranks_share_what_one_rank_would_have_in_larger_batches():
    (alone,), (three,) = epochs(1, batch_size=12), epochs(3, batch_size=4)

    for step, large in enumerate(alone[0]):
        small = [rank[step] for rank in three]
        dealt = [one for row in zip(*small, strict=True) for one in row]
        assert dealt[: len(large)] == large


def test_epochs_differ_and_can_be_had_again():
    first, second = epochs(2, count=2)
    again = bound(1, 2)
    again.set_epoch(1)

    assert first != second
    assert list(again) == second[1]
    assert [NUMBERS[batch[0]] for batch in first[0]] != [NUMBERS[batch[0]] for batch in second[0]]
    assert list(bound(seed=6)) != list(bound(seed=5))


def test_without_shuffling_samples_come_in_order_bucket_after_bucket():
    batches = list(bound(shuffle=False))
    order = [NUMBERS[batch[0]] for batch in batches]

    assert sorted(set(order), key=order.index) == [3, 1, 0, 2], "by height, then width"
    assert order == sorted(order, key=[3, 1, 0, 2].index)
    for number in range(4):
        own = [i for batch in batches for i in batch if NUMBERS[i] == number]
        assert own == np.flatnonzero(number == NUMBERS).tolist()


@pytest.mark.parametrize("world_size", [1, 2])
def test_an_epoch_goes_on_from_any_batch(world_size):
    whole = list(bound(1 % world_size, world_size))
    sampler = bound(1 % world_size, world_size)
    states = [sampler.state_dict()] + [sampler.state_dict() for _ in sampler]

    for done, state in enumerate(states[:-1]):
        other = bound(1 % world_size, world_size)
        other.load_state_dict(state)
        assert list(other) == whole[done:]
        assert other.epoch == 1
    assert states[-1]["epoch"] == 1
    assert states[-1]["items"] == 0
    assert all(isinstance(value, int) for value in states[3].values())


def test_another_number_of_ranks_goes_on_where_the_steps_are_the_same():
    """Six ranks with batches of 2 take in a step what two ranks with batches of 6 take."""
    before = bound(0, 2, batch_size=6)
    walk = iter(before)
    for _ in range(5):
        next(walk)
    state = before.state_dict()
    (whole,) = epochs(2, batch_size=6)
    resumed = []
    for rank in range(6):
        other = bound(rank, 6, batch_size=2)
        other.load_state_dict(state)
        resumed.append(list(other))

    assert len(resumed[0]) == len(whole[0]) - 5
    for step in range(len(resumed[0])):
        expected = {i for rank in whole for i in rank[step + 5]}
        found = {i for rank in resumed for i in rank[step]}
        # A last step of a bucket may need more samples to divide among six.
        assert found == expected if len(expected) == 12 else found >= expected


def test_other_steps_go_on_from_the_start_of_an_epoch_only():
    before = bound(0, 2)
    walk = iter(before)
    next(walk)
    after = bound(0, 3)
    after.load_state_dict(before.state_dict())
    with pytest.raises(LoaderError, match="batch_size times world_size"):
        list(after)
    list(walk)
    after.load_state_dict(before.state_dict())
    assert len(list(after)) == len(after)


@pytest.mark.parametrize("options", [{"buckets": BUCKETS[:3]}, {"seed": 6}, {"data": SIZES[:210]}])
def test_a_state_of_something_else_is_refused(options):
    with pytest.raises(LoaderError, match="the state was saved with"):
        bound(**options).load_state_dict(bound().state_dict())


def test_indices_restrict_and_repeat():
    chosen = [3, 100, 3, 7, 9, 3]
    flat = sorted(i for batch in bound(indices=chosen) for i in batch)

    assert flat == sorted(chosen)
    picked = bound(indices=chosen)._selection.epoch(0).at(np.arange(6))
    assert len(set(picked.keys.tolist())) == 6, "a sample that comes again is augmented anew"
    np.testing.assert_array_equal(picked.keys & 0xFFFFFFFF, picked.samples)


def test_a_budget_of_pixels_gives_small_buckets_larger_batches():
    buckets = [(64, 64), (16, 64), (128, 32)]
    batches = list(bound(buckets=buckets, pixels=16_384, batch_size=1))
    numbers, sizes = bucket_of(SIZES, buckets), {0: 4, 1: 16, 2: 4}

    for number, most in sizes.items():
        lengths = [len(batch) for batch in batches if numbers[batch[0]] == number]
        assert set(lengths[:-1]) <= {most, np.count_nonzero(numbers == number) % most}
        assert max(lengths) == min(most, np.count_nonzero(numbers == number))


def test_a_budget_of_tokens():
    one = np.array([[64, 64]] * 40)
    batches = list(bound(data=one, buckets=[(64, 64)], tokens=100, patch_size=16, batch_size=1))

    assert {len(batch) for batch in batches} == {6, 4}, "16 tokens each; 40 = 6 * 6 + 4"


def test_buckets_by_tokens_are_the_sizes_of_the_transform():
    sampling = ps.BucketBatches.by_tokens(16, 49)
    sampler = sampling.bind(SIZES, batch_size=8)
    out = T.ResizeToTokens(16, 49).sizing.out_sizes(Sizes(*SIZES.T))
    flat = []
    for batch in sampler:
        assert len(set(zip(out.height[batch], out.width[batch], strict=True))) == 1
        flat += batch
    assert sorted(flat) == list(range(211))


def test_small_images():
    sizes = np.array([[64, 64], [63, 63], [200, 64], [64, 63]])
    buckets = [(64, 64)]
    kept = [i for batch in bound(data=sizes, buckets=buckets) for i in batch]
    left = bound(data=sizes, buckets=buckets, small="leave out")

    assert sorted(kept) == [0, 1, 2, 3]
    assert sorted(i for batch in left for i in batch) == [0, 2]
    assert "2 left out as too small" in left.describe()
    with pytest.raises(LoaderError, match="sample 1 is 63x63, smaller than its bucket 64x64, and "):
        bound(data=sizes, buckets=buckets, small="raise")
    with pytest.raises(LoaderError, match="none of 1 samples is left: 1 are smaller"):
        bound(data=sizes[1:2], buckets=buckets, small="leave out")


def test_a_million_samples_take_little_memory():
    sizes = np.random.default_rng(1).integers(200, 4000, (1_000_000, 2))
    sampling = ps.BucketBatches.by_area(512 * 512)
    sampler = sampling.bind(sizes, batch_size=64, rank=3, world_size=8)
    table, order = sampler._selection.table, sampler._selection.epoch(0)

    assert table.members.nbytes == 4_000_000
    assert table.times is None
    assert order.starts.nbytes + order.buckets.nbytes + order._in_bucket.nbytes < 50_000
    walk = iter(sampler)
    assert len(next(walk)) == len(next(walk)) == 64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ps.BucketBatches([]), "at least one"),
        (lambda: ps.BucketBatches(BUCKETS, small="drop"), "small must be one of 'keep'"),
        (lambda: ps.BucketBatches(BUCKETS, pixels=9, tokens=9, patch_size=1), "Give one of them"),
        (lambda: ps.BucketBatches(BUCKETS, tokens=9), "give both or neither"),
        (lambda: ps.BucketBatches(BUCKETS, patch_size=16), "give both or neither"),
        (lambda: ps.BucketBatches(BUCKETS, pixels=0), "pixels must be a whole number from 1"),
        (lambda: bound(pixels=100, batch_size=1), "one image of bucket 96x48 has 4,608 pixels|40x"),
        (lambda: bound(pixels=10_000), "batch_size=4 and pixels=10000 both say"),
        (lambda: bound(batch_size=0), "batch_size must be a whole number"),
        (lambda: bound(batch_size=1000, drop_last=True), "leaves no batch"),
        (lambda: bound(data=100), "needs the sizes of all images"),
        (lambda: bound(data=np.zeros((5, 2), int)), "sample 0 is 0x0, which is no image"),
        (lambda: bound(data=object()), "data must be a path"),
        (lambda: bound(indices=[300]), "indices name sample 300"),
        (lambda: bound(2, 2), "rank must be"),
    ],
)
def test_what_cannot_work_is_refused(make, message):
    with pytest.raises(PenstockError, match=message):
        len(list(make()))
