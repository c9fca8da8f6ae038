"""Frameworks tell samplers which epoch begins; the loader and its data set hear of it."""

import pytest

from penstock import LoaderError
from penstock import transforms as T

torch = pytest.importorskip("torch")

from torch.utils.data import DistributedSampler, Subset  # noqa: E402 (optional)
from torch.utils.data import RandomSampler as TorchRandom  # noqa: E402 (the same)
from torch.utils.data import SequentialSampler as TorchSequential  # noqa: E402 (the same)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)

RANDOM = T.Compose([T.RandomResizedCrop(8), T.RandomHorizontalFlip()])


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=RANDOM, seed=5)


def same(ours, theirs):
    return len(ours) == len(theirs) and all(
        torch.equal(a, b)
        for mine, other in zip(ours, theirs, strict=True)
        for a, b in zip(mine, other, strict=True)
    )


def epoch_of(dataset, epoch, **options):
    loader = DataLoader(dataset, 5, **options)
    loader.set_epoch(epoch)
    return list(loader)


def shared(dataset):
    return DistributedSampler(dataset, num_replicas=1, rank=0)


def test_samplers_are_of_torchs_kinds(dataset):
    assert isinstance(DataLoader(dataset, shuffle=True).sampler, TorchRandom)
    assert isinstance(DataLoader(dataset).sampler, TorchSequential)
    own = shared(dataset)
    assert DataLoader(dataset, sampler=own).sampler is own


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("after_iter", [False, True])
@pytest.mark.parametrize("sampler", [None, shared])
def test_a_new_loader_runs_the_epoch_that_its_sampler_is_told(
    dataset, sampler, after_iter, workers
):
    """Lightning tells it after it has made the iterator of the first epoch."""

    def make():
        mine = None if sampler is None else sampler(dataset)
        return DataLoader(dataset, 5, sampler=mine, num_workers=workers)

    loader, expected = make(), make()
    if after_iter:
        iterator = iter(loader)
        loader.sampler.set_epoch(4)
    else:
        loader.sampler.set_epoch(4)
        iterator = iter(loader)
    expected.set_epoch(4)
    assert same(list(iterator), list(expected))
    assert loader.epoch == 5


def test_what_was_only_tried_out_is_run_again(dataset):
    loader = DataLoader(dataset, 5)
    for _ in range(2):
        loader.sampler.set_epoch(0)
        came = next(iter(loader))
        assert same([came], epoch_of(dataset, 0)[:1])


@pytest.mark.parametrize("sampler", [None, shared])
def test_the_place_is_kept_within_its_epoch_and_left_for_the_next(dataset, sampler):
    def make():
        mine = None if sampler is None else sampler(dataset)
        return DataLoader(dataset, 5, sampler=mine)

    loader = make()
    list(loader)
    loader.sampler.set_epoch(1)
    iterator = iter(loader)
    next(iterator)
    state, rest = loader.state_dict(), list(iterator)
    loader.sampler.set_epoch(2)
    following = list(loader)
    for told, expected in ((1, rest), (0, rest), (2, following)):
        for tells_first in (True, False):
            resumed = make()
            resumed.load_state_dict(state)
            if tells_first:
                resumed.sampler.set_epoch(told)
            iterator = iter(resumed)
            if not tells_first and told:  # nothing begins to count anew after the iterator is made
                resumed.sampler.set_epoch(told)
            assert same(list(iterator), expected)
            assert resumed.epoch == (3 if told == 2 else 2)


def test_a_random_order_goes_on_after_an_epoch_that_was_cut_short(dataset):
    """The next epoch has the order that it would have had."""
    torch.manual_seed(1)
    loader = DataLoader(dataset, 5, shuffle=True)
    loader.sampler.set_epoch(0)
    next(iter(loader))
    state = loader.state_dict()
    loader.sampler.set_epoch(1)
    following = list(loader)
    torch.manual_seed(7)
    resumed = DataLoader(dataset, 5, shuffle=True)
    resumed.load_state_dict(state)
    iterator = iter(resumed)
    resumed.sampler.set_epoch(1)
    assert same(list(iterator), following)


def test_the_end_of_an_epoch_goes_on_with_the_next(dataset):
    def make():
        return DataLoader(dataset, 5, sampler=shared(dataset))

    loader = make()
    loader.sampler.set_epoch(0)
    list(loader)
    state = loader.state_dict()
    loader.sampler.set_epoch(1)
    following = list(loader)
    resumed = make()
    resumed.load_state_dict(state)
    resumed.sampler.set_epoch(1)
    assert same(list(resumed), following)


def test_runs_through_the_data_within_an_epoch_are_counted(dataset):
    loader = DataLoader(dataset, 5)
    loader.sampler.set_epoch(0)
    for epoch in (0, 1):
        assert same(list(loader), epoch_of(dataset, epoch))
    loader.sampler.set_epoch(1)
    assert same(list(loader), epoch_of(dataset, 2)), "no epoch comes twice"


def test_the_data_set_hears_of_it(dataset):
    """Accelerate tells the data set itself only if no sampler can be told."""
    loader = DataLoader(Subset(Subset(dataset, range(9)), range(3)), shuffle=True)
    loader.sampler.set_epoch(6)
    assert dataset.epoch == 6
    with pytest.raises(LoaderError, match=r"RandomSampler.set_epoch: epoch must be .* got -1"):
        loader.sampler.set_epoch(-1)
