"""The loader is torch's own kind: its order, its random numbers, its samplers; made natively."""

import warnings

import numpy as np
import pytest

from penstock import Loader, LoaderError, open_image_folder
from penstock import transforms as T
from torch_samples import RANDOM, same_kinds

torch = pytest.importorskip("torch")

from torch.utils import data as torch_data  # noqa: E402 (optional)
from torch.utils.data import (  # noqa: E402 (the same)
    BatchSampler,
    RandomSampler,
    Subset,
    WeightedRandomSampler,
)
from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (the same)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=RANDOM, seed=5)


def epochs_of(loader, count=3):
    """All batches of some epochs, and how torch's generator stands after each."""
    torch.manual_seed(0)
    epochs = []
    for epoch in range(count):
        if type(loader) is TorchLoader:  # ours counts by itself
            loader.dataset.set_epoch(epoch)
        epochs.append((list(loader), torch.get_rng_state()))
    return epochs


def generator():
    return torch.Generator().manual_seed(9)


@pytest.mark.parametrize(
    "options",
    [
        dict,
        lambda: {"shuffle": True},
        lambda: {"shuffle": True, "drop_last": True},
        lambda: {"shuffle": True, "generator": generator()},
        lambda: {"shuffle": True, "num_workers": 2},
        lambda: {"shuffle": True, "num_workers": 1, "persistent_workers": True},
        lambda: {"sampler": RandomSampler(range(23), num_samples=11, generator=generator())},
        lambda: {"sampler": [3, 1, 2, -1]},
        lambda: {"collate_fn": lambda samples: [label for _, label in samples]},
    ],
)
def test_order_and_random_numbers_are_torchs(dataset, options):
    """The same batches, epoch after epoch, and the same draws from torch's generator."""
    theirs = epochs_of(TorchLoader(dataset, batch_size=4, **options()))
    ours = epochs_of(DataLoader(dataset, batch_size=4, **options()))
    assert same_kinds([batches for batches, _ in ours], [batches for batches, _ in theirs])
    assert same_kinds([state for _, state in ours], [state for _, state in theirs])


def test_it_is_torchs_own_kind(dataset):
    loader = DataLoader(dataset, 4, shuffle=True, num_workers=2, drop_last=True)
    theirs = TorchLoader(dataset, 4, shuffle=True, num_workers=2, drop_last=True)
    assert isinstance(loader, TorchLoader)
    assert isinstance(loader.sampler, RandomSampler)
    assert isinstance(loader.batch_sampler, BatchSampler)
    assert loader.batch_sampler.sampler is loader.sampler
    names = [
        *("batch_size", "num_workers", "collate_fn", "drop_last", "generator", "pin_memory"),
        *("prefetch_factor", "persistent_workers", "timeout", "worker_init_fn"),
        *("multiprocessing_context", "dataset"),
    ]
    assert {n: getattr(loader, n) for n in names} == {n: getattr(theirs, n) for n in names}
    assert len(loader) == len(theirs) == 5


def test_no_process_is_started_and_no_warning_given(dataset):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader = DataLoader(
            dataset,
            4,
            num_workers=64,
            persistent_workers=True,
            worker_init_fn=lambda _: pytest.fail("there are no workers"),
            multiprocessing_context="spawn",
            timeout=5,
        )
        next(iter(loader))
    assert torch.multiprocessing.active_children() == []


def test_draws_without_a_seed_follow_torchs(folder):
    """Repeated by torch.manual_seed, whatever the order and the sizes of batches."""
    dataset = Dataset(folder, transform=RANDOM)
    loader = DataLoader(dataset, 23)
    torch.manual_seed(2)
    (first,), (second,) = list(loader), list(loader)
    torch.manual_seed(2)
    assert same_kinds(list(loader), [first])
    assert not same_kinds(first, second)
    torch.manual_seed(2)
    backwards = DataLoader(dataset, 7, sampler=range(22, -1, -1))
    images = torch.cat([images for images, _ in backwards])
    assert same_kinds(images.flip(0), first[0])


def test_persistent_workers_draw_anew_in_every_epoch(folder):
    """torch draws no new seed for them, and neither do we."""
    loader = DataLoader(
        Dataset(folder, transform=RANDOM), 23, num_workers=1, persistent_workers=True
    )
    first, second, third = list(loader), list(loader), list(loader)
    assert not same_kinds(first, second)
    assert not same_kinds(second, third)


def test_a_schedule_over_the_training_is_followed(folder):
    transform = T.Compose([T.Resize((24, 24)), T.PopulationBasedAugment(epochs=4)])
    torch.manual_seed(0)
    loader = DataLoader(Dataset(folder, transform=transform), 23)
    loader.set_epoch(3)
    late = list(loader)
    torch.manual_seed(0)
    loader.set_epoch(0)
    assert not same_kinds(list(loader), late)


@pytest.mark.parametrize("epoch", [0, 4])
def test_draws_with_a_seed_are_a_loaders(folder, epoch):
    ours = DataLoader(Dataset(folder, transform=RANDOM), 4, seed=3)
    loader = Loader(folder, transform=RANDOM, batch_size=4, seed=3)
    ours.set_epoch(epoch)
    loader.set_epoch(epoch)
    for _ in range(2):
        assert same_kinds(list(ours), [list(batch) for batch in loader])
    assert ours.epoch == loader.epoch == epoch + 2


def test_a_sample_that_comes_again_is_drawn_anew(folder):
    loader = DataLoader(Dataset(folder, transform=RANDOM, seed=2), 1, sampler=[4, 4])
    expected = Loader(folder, transform=RANDOM, seed=2, indices=[4, 4], batch_size=1)
    first, second = loader
    assert same_kinds([first, second], [list(batch) for batch in expected])
    assert not same_kinds(first, second)


def test_subsets(dataset):
    inner = Subset(dataset, range(20, 0, -1))
    outer = Subset(inner, [3, 0, 19])
    for subset in (inner, outer, torch_data.random_split(dataset, [20, 3])[1]):
        ours, theirs = DataLoader(subset, 2, shuffle=True), TorchLoader(subset, 2, shuffle=True)
        torch.manual_seed(1)
        expected = list(theirs)
        torch.manual_seed(1)
        assert same_kinds(list(ours), expected)


@pytest.mark.parametrize("form", [str, open_image_folder, lambda f: sorted(f.rglob("*.jpg"))])
def test_data_sets_may_be_given_as_to_a_loader(make_folder, form):
    root = make_folder(images=4, sides=(40, 41))
    loader = DataLoader(form(root), 2, seed=1, threads=1)
    assert isinstance(loader.dataset, Dataset)
    assert loader.dataset.seed == 1
    assert len(list(loader)) == 2


class Other(torch_data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index


class OwnSubset(Subset):
    def __getitem__(self, index):
        return 0

    def __getitems__(self, indices):
        return [0 for _ in indices]


def test_other_datasets_are_refused(dataset):
    others = [Other(), OwnSubset(dataset, [1]), torch_data.ConcatDataset([dataset]), 5]
    for other in others:
        with pytest.raises(LoaderError, match=r"cannot be made natively.*penstock\.accelerate"):
            DataLoader(other)


def test_samplers_of_all_kinds(dataset):
    weights = torch.ones(23)
    for sampler in (WeightedRandomSampler(weights, 9), np.arange(9), torch.arange(9)):
        assert sum(len(labels) for _, labels in DataLoader(dataset, 4, sampler=sampler)) == 9
    batches = [[1, 2, 3], [4], [5, 6]]
    loader = DataLoader(dataset, batch_sampler=batches)
    assert [len(labels) for _, labels in loader] == [3, 1, 2]
    assert loader.batch_size is None


def test_what_a_sampler_does_wrong_comes_in_its_turn(dataset):
    def failing():
        yield from range(6)
        raise ZeroDivisionError

    came = []
    with pytest.raises(ZeroDivisionError):
        came.extend(DataLoader(dataset, 2, sampler=failing()))
    assert len(came) == 3
    loader = DataLoader(dataset, batch_sampler=[[1], [23]])
    iterator = iter(loader)
    assert len(next(iterator)) == 2
    with pytest.raises(IndexError, match="lists sample 23 of 23"):
        next(iterator)
    for wrong, message in (([[]], "without samples"), ([["a"]], "must list whole numbers")):
        with pytest.raises(LoaderError, match=message):
            next(iter(DataLoader(dataset, batch_sampler=wrong)))


def test_set_epoch_tells_the_samplers(dataset):
    class Told(RandomSampler):
        epoch = None

        def set_epoch(self, epoch):
            self.epoch = epoch

    sampler = Told(dataset)
    loader = DataLoader(dataset, 4, sampler=sampler)
    loader.set_epoch(3)
    assert (sampler.epoch, loader.epoch) == (3, 3)
    with pytest.raises(LoaderError, match="set_epoch: epoch must be"):
        loader.set_epoch(-1)


def test_repr_says_what_it_is(dataset):
    said = repr(DataLoader(dataset, 4, shuffle=True, threads=3))
    assert "batch_size=4, RandomSampler, threads=3, draws from seed=5" in said


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_what_is_no_number_of_threads_is_refused(dataset, threads):
    with pytest.raises(LoaderError, match="threads must be a whole number from 1 on"):
        DataLoader(dataset, 4, threads=threads)
