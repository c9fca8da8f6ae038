import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock as ps
from penstock.errors import LoaderError
from penstock.loading.sampler import Shard
from penstock.loading.sampling.asked import Asked
from penstock.loading.sampling.facts import facts_of


def selection(length, sampling, *, indices=None, ranks=1, seed=0, labels=None):
    data = np.zeros(length, np.int64) if labels is None else labels
    asked = Asked(facts_of(data, "test"), indices, None, True, seed, 8, world_size=ranks)
    return sampling.select(asked)


def all_samples(chosen, epoch=0):
    return chosen.epoch(epoch).at(np.arange(len(chosen))).samples


@given(st.integers(1, 300), st.integers(1, 9), st.integers(1, 40), st.integers(1, 5))
def test_every_sample_comes_once(length, blocks, block_samples, ranks):
    chosen = selection(length, ps.WindowShuffle(blocks, block_samples), ranks=ranks)

    for epoch in (0, 7):
        np.testing.assert_array_equal(np.sort(all_samples(chosen, epoch)), np.arange(length))


@given(st.lists(st.integers(0, 99), min_size=1, max_size=80), st.integers(1, 4))
def test_listed_samples_come_as_often_as_they_are_listed(listed, blocks):
    chosen = selection(100, ps.WindowShuffle(blocks, 10), indices=np.array(listed))
    picked = chosen.epoch(3).at(np.arange(len(chosen)))

    assert sorted(picked.samples.tolist()) == sorted(listed)
    assert len(np.unique(picked.keys)) == len(listed)


def test_a_window_has_no_more_blocks_than_asked_for():
    chosen = selection(1000, ps.WindowShuffle(4, 10))
    samples = all_samples(chosen).reshape(-1, 40)

    for window in samples:
        assert len(np.unique(window // 10)) == 4
        assert not np.array_equal(window, np.sort(window))


def test_epochs_and_seeds_differ_and_places_do_not_depend_on_what_was_asked_before():
    chosen = selection(1000, ps.WindowShuffle(4, 10))
    order = chosen.epoch(1)
    every = order.at(np.arange(1000)).samples

    assert not np.array_equal(every, all_samples(chosen, 2))
    assert not np.array_equal(
        every, all_samples(selection(1000, ps.WindowShuffle(4, 10), seed=1), 1)
    )
    some = np.array([999, 3, 500])
    np.testing.assert_array_equal(order.at(some).samples, every[some])


def test_ranks_read_different_blocks():
    chosen = selection(1000, ps.WindowShuffle(4, 10), ranks=2)
    order = chosen.epoch(0)
    blocks = [
        set((order.at(Shard(1000, rank, 2).positions(0, 500)).samples // 10).tolist())
        for rank in range(2)
    ]
    assert len(blocks[0] & blocks[1]) <= 1


def test_the_figure_of_quality_is_worse_for_small_windows():
    labels = np.arange(4000) // 100
    told = [
        selection(4000, ps.WindowShuffle(blocks, 20), labels=labels).describe()
        for blocks in (2, 200)
    ]

    def figures(text):
        words = text.replace(",", "").split()
        return [float(words[place + 1]) for place, word in enumerate(words) if word == "has"]

    few, many = map(figures, told)
    assert few[0] < many[0] == pytest.approx(few[1], rel=0.1)
    assert "different classes on average" in told[0]


def test_what_cannot_be_is_refused():
    with pytest.raises(LoaderError, match="shuffle=True"):
        asked = Asked(facts_of(10, "test"), None, None, False, 0)
        ps.WindowShuffle(2, 5).select(asked)
    with pytest.raises(LoaderError, match="block_samples=64"):
        selection(10, ps.WindowShuffle())
    with pytest.raises(LoaderError, match="blocks must be a whole number"):
        ps.WindowShuffle(0)
