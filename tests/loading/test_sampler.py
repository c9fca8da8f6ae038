from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from penstock.errors import LoaderError
from penstock.loading.sampler import Order, Shard, at_many


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_every_sample_comes_once_whatever_the_length(seed):
    for length in range(1, 301):
        order = Order(length, seed, epoch=length, shuffle=True).at(np.arange(length))
        assert np.array_equal(np.sort(order), np.arange(length)), length


def test_a_billion_samples_start_at_once_and_do_not_repeat():
    length = 10**9
    order = Order(length, seed=1, epoch=2, shuffle=True)
    positions = np.concatenate([np.arange(50_000), np.arange(length - 50_000, length)])

    samples = order.at(positions)

    assert samples.min() >= 0
    assert samples.max() < length
    assert len(np.unique(samples)) == len(positions)


def test_positions_may_be_asked_for_in_any_portion():
    order = Order(1000, seed=5, epoch=0, shuffle=True)
    whole = order.at(np.arange(1000))

    np.testing.assert_array_equal(order.at(np.array([999, 3, 3, 500])), whole[[999, 3, 3, 500]])


def test_without_shuffling_samples_come_in_order():
    positions = np.array([4, 2, 9])
    np.testing.assert_array_equal(Order(10, 0, 0, shuffle=False).at(positions), positions)


def test_epochs_and_seeds_have_orders_of_their_own():
    orders = {
        tuple(Order(50, seed, epoch, shuffle=True).at(np.arange(50)))
        for seed in range(3)
        for epoch in range(3)
    }
    assert len(orders) == 9


@pytest.mark.parametrize(("length", "limit"), [(3, 25.7), (4, 57.1)])
def test_all_orders_of_a_few_samples_are_equally_likely(length, limit):
    """Chi-square over all permutations; the limits are exceeded once in 10,000 seeds."""
    all_orders = list(permutations(range(length)))
    trials = 100 * len(all_orders)
    positions = np.arange(length)
    seen = Counter(tuple(Order(length, 7, e, shuffle=True).at(positions)) for e in range(trials))

    assert sum((seen[order] - 100) ** 2 / 100 for order in all_orders) < limit


def test_neighbours_do_not_stay_together():
    order = Order(100_000, seed=3, epoch=1, shuffle=True).at(np.arange(100_000))
    shifts = np.diff(order)

    assert np.abs(np.corrcoef(order[:-1], order[1:])[0, 1]) < 0.015
    assert np.sum(shifts == 1) < 15  # one is expected


@pytest.mark.parametrize("length", [1, 2, 5, 10, 11, 97])
@pytest.mark.parametrize("world_size", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("drop_last", [False, True])
def test_shards_are_those_of_torch(length, world_size, drop_last):
    distributed = pytest.importorskip("torch.utils.data.distributed")
    for rank in range(world_size):
        theirs = distributed.DistributedSampler(
            range(length), world_size, rank, shuffle=False, drop_last=drop_last
        )
        ours = Shard(length, rank, world_size, drop_last)

        assert len(ours) == len(theirs)
        assert ours.positions(0, len(ours)).tolist() == list(theirs)


def test_a_shard_ends_with_the_epoch():
    shard = Shard(10, rank=1, world_size=2)

    assert shard.positions(3, 100).tolist() == [7, 9]
    assert shard.positions(5, 100).tolist() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, 1), "at least one sample"),
        ((5, 0, 0), "world_size must be at least 1, got 0"),
        ((5, 3, 3), "rank must be between 0 and world_size - 1 = 2, got 3"),
        ((5, -1, 3), "got -1"),
    ],
)
def test_impossible_shards_are_refused(arguments, message):
    with pytest.raises(LoaderError, match=message):
        Shard(*arguments)


def test_an_empty_order_is_refused():
    with pytest.raises(LoaderError, match="at least one sample, got 0"):
        Order(0, 0, 0, shuffle=True)


def test_many_orders_at_once_are_the_orders_one_by_one():
    rng = np.random.default_rng(0)
    lengths = np.concatenate([[1, 2, 3, 4, 9, 10**9], rng.integers(1, 5000, 300)])
    turns = rng.integers(0, 1 << 41, len(lengths))
    positions = (rng.random(len(lengths)) * lengths).astype(np.int64)
    found = at_many(positions, lengths, turns, seed=9, epoch=4)

    expected = [
        int(Order(length, 9, 4, True, turn).at(np.array([position]))[0])
        for length, turn, position in zip(
            lengths.tolist(), turns.tolist(), positions.tolist(), strict=True
        )
    ]
    assert found.tolist() == expected
