"""An epoch counts, and starts its threads, when its first batch is asked for."""

import threading

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T


@pytest.fixture
def loader(folder):
    return ps.Loader(
        folder, transform=T.RandomResizedCrop(8), batch_size=4, shuffle=True, output="numpy"
    )


def ours():
    return [thread for thread in threading.enumerate() if thread.name.startswith("penstock")]


def test_looking_at_a_loader_counts_nothing(loader):
    before = set(ours())  # of other tests; they may end at any time
    iter(loader)
    iter(loader)

    assert loader.epoch == 0
    assert set(ours()) <= before
    assert loader.state_dict()["epoch"] == 0


def test_the_first_batch_begins_the_epoch(loader):
    iterator = iter(loader)
    loader.set_epoch(5)
    next(iterator)

    assert loader.epoch == 6
    assert loader.state_dict()["epoch"] == 5


def test_iterators_begun_after_each_other_are_epochs_after_each_other(loader, folder):
    first, second = iter(loader), iter(loader)
    later, earlier = next(second)[0], next(first)[0]
    again = ps.Loader(
        folder, transform=T.RandomResizedCrop(8), batch_size=4, shuffle=True, output="numpy"
    )

    np.testing.assert_array_equal(later, next(iter(again))[0])
    np.testing.assert_array_equal(earlier, next(iter(again))[0])


def test_an_iterator_that_was_closed_before_it_began_is_empty(loader):
    iterator = iter(loader)
    iterator.close()

    assert list(iterator) == []
    assert loader.epoch == 0
