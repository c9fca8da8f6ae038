"""What frameworks tell a loader's sampler about epochs, and which epoch the loader runs then."""

import numpy as np
import pytest

from penstock import Loader, LoaderError
from penstock import transforms as T
from penstock.loading.told import Told


def make(folder):
    transform = T.Compose([T.RandomResizedCrop(8), T.RandomHorizontalFlip()])
    return Loader(folder, transform=transform, batch_size=5, output="numpy", shuffle=True, seed=3)


def epoch_of(folder, epoch, start=0):
    loader = make(folder)
    loader.set_epoch(epoch)
    return list(loader)[start:]


def same(ours, theirs):
    return len(ours) == len(theirs) and all(
        np.array_equal(a, b)
        for mine, other in zip(ours, theirs, strict=True)
        for a, b in zip(mine, other, strict=True)
    )


def test_an_epoch_never_comes_twice_but_if_it_is_told_twice():
    told = Told()
    assert told.begin(0, counted=0) == 0
    assert told.begin(0, counted=1) == 0, "tried out before"
    assert told.begin(1, counted=3) == 3, "run through three times in one epoch"
    assert told.begin(9, counted=4) == 9


def test_a_new_loader_runs_the_epoch_that_it_is_told(folder):
    loader = make(folder)
    loader.sampler.set_epoch(7)
    assert loader.epoch == 7
    assert same(list(loader), epoch_of(folder, 7))
    assert loader.epoch == 8


def test_what_was_only_tried_out_is_run_again(folder):
    loader = make(folder)
    loader.sampler.set_epoch(0)
    next(iter(loader))
    loader.batch_sampler.sampler.set_epoch(0)
    assert same(list(loader), epoch_of(folder, 0))


def test_the_place_in_an_epoch_is_kept_when_that_epoch_is_told(folder):
    loader = make(folder)
    loader.sampler.set_epoch(2)
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    for told in (2, 0):  # some frameworks count from 0 again after a restart
        resumed = make(folder)
        resumed.load_state_dict(state)
        resumed.sampler.set_epoch(told)
        assert same(list(resumed), epoch_of(folder, 2, start=1))
        resumed.sampler.set_epoch(told + 1)
        assert same(list(resumed), epoch_of(folder, 3))


def test_the_place_in_an_epoch_that_was_cut_short_is_left(folder):
    """The framework ended it there, and goes on with the next."""
    loader = make(folder)
    loader.sampler.set_epoch(2)
    next(iter(loader))
    resumed = make(folder)
    resumed.load_state_dict(loader.state_dict())
    resumed.sampler.set_epoch(3)
    assert same(list(resumed), epoch_of(folder, 3))


def test_the_place_in_a_second_run_through_the_data_is_kept(folder):
    loader = make(folder)
    loader.sampler.set_epoch(0)
    list(loader)
    next(iter(loader))  # the framework says nothing in between
    state = loader.state_dict()
    resumed = make(folder)
    resumed.load_state_dict(state)
    resumed.sampler.set_epoch(0)
    assert same(list(resumed), epoch_of(folder, 1, start=1))
    left = make(folder)
    left.load_state_dict(state)
    left.sampler.set_epoch(1)
    assert same(list(left), epoch_of(folder, 2))


def test_only_epochs_can_be_told(folder):
    with pytest.raises(LoaderError, match=r"Loader.sampler.set_epoch: epoch must be .* got -1"):
        make(folder).sampler.set_epoch(-1)
