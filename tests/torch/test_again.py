"""Batches of a DataLoader again, where seed and samplers say all about them."""

import pytest

import penstock as ps
from past_batches import CROPS, same
from penstock import LoaderError
from penstock import transforms as T

torch = pytest.importorskip("torch")

from torch.utils import data as torch_data  # noqa: E402 (optional)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=CROPS, seed=5)


def shuffled(dataset, **options):
    usual = {"num_replicas": 2, "rank": 1, "seed": 3}
    return torch_data.DistributedSampler(dataset, **{**usual, **options})


def balanced(dataset, **options):
    return ps.ClassBalanced().bind(dataset.source, seed=4, **options)


def buckets(dataset):
    return ps.BucketBatches([(16, 16), (12, 24)]).bind(dataset.source, batch_size=3, seed=4)


# Values that are functions are called with the data set.
WAYS = {
    "in order": {"batch_size": 4},
    "subset": {"batch_size": 2, "subset": [3, 9, 9, 1, 3]},
    "drop last": {"batch_size": 4, "drop_last": True},
    "shuffled": {"batch_size": 4, "sampler": shuffled},
    "listed": {"batch_sampler": [[3, 1], [3, 3, 2]]},
    "balanced": {"batch_size": 4, "sampler": balanced},
    "buckets": {"batch_sampler": buckets},
    "single": {"batch_size": None, "subset": [3, 9, 3]},
    "collated": {"batch_size": 3, "collate_fn": list},
    "workers": {"batch_size": 3, "num_workers": 2, "seed": 8},
}
MAKERS = (shuffled, balanced, buckets)


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("tell", [True, False], ids=["told", "counted"])
def test_what_was_delivered(dataset, options, tell):
    given = {name: one(dataset) if one in MAKERS else one for name, one in options.items()}
    listed = given.pop("subset", None)
    loader = DataLoader(dataset if listed is None else torch_data.Subset(dataset, listed), **given)
    epochs = []
    for epoch in range(3):
        if tell:
            loader.set_epoch(epoch)
        epochs.append(list(loader))
    before = torch.get_rng_state()
    for epoch in (2, 0):
        for step, batch in enumerate(epochs[epoch]):
            past = loader.batch_at(epoch, step)
            assert same(past.batch, batch), (epoch, step)
            assert past.drawn[0][0].op == "RandomResizedCrop"
        with pytest.raises(LoaderError, match=f"the epoch has {len(epochs[epoch])} steps"):
            loader.batch_at(epoch, len(epochs[epoch]))
    assert torch.equal(torch.get_rng_state(), before)
    assert loader.epoch == 3


def test_a_fresh_loader_takes_the_epoch_as_told(dataset):
    run = DataLoader(dataset, batch_size=4, sampler=shuffled(dataset))
    run.set_epoch(7)
    batches = list(run)
    fresh = DataLoader(dataset, batch_size=4, sampler=shuffled(dataset))
    assert same(fresh.batch_at(7, 2).batch, batches[2])


@pytest.mark.parametrize("sampler", [shuffled, balanced])
def test_other_ranks(dataset, sampler):
    own = {"num_replicas": 1, "rank": 0} if sampler is shuffled else {}
    theirs = {"num_replicas": 3} if sampler is shuffled else {"world_size": 3}
    alone = DataLoader(dataset, batch_size=4, sampler=sampler(dataset, **own))
    for rank in range(3):
        loader = DataLoader(dataset, batch_size=4, sampler=sampler(dataset, rank=rank, **theirs))
        for step, batch in enumerate(loader):
            past = alone.batch_at(0, step, rank=rank, world_size=3)
            assert same(past.batch, batch)
            assert (past.rank, past.world_size) == (rank, 3)


def test_mixing(folder):
    ended = T.Compose([CROPS, T.ToDtype("float32", scale=True)])
    loader = DataLoader(
        Dataset(folder, transform=ended),
        batch_size=4,
        seed=2,
        batch_transform=T.MixUp(num_classes=3),
    )
    batches = list(loader)
    past = loader.batch_at(0, 1)
    assert same(past.batch, batches[1])
    assert past.drawn[0][-1].op == "MixUp"
    assert past.drawn[0][-1].drawn[0]["partner"] == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shuffle": True, "seed": 1}, r"that of RandomSampler, .*DistributedSampler\(dataset"),
        ({}, r"what torch's generator gave .* Give the DataLoader a seed="),
        (
            {"seed": 1, "sampler": torch_data.WeightedRandomSampler([1.0] * 23, 23)},
            r"that of WeightedRandomSampler, which may draw",
        ),
    ],
    ids=["shuffle", "no seed", "weighted"],
)
def test_what_cannot_be_had_again(folder, options, message):
    loader = DataLoader(Dataset(folder, transform=CROPS), batch_size=4, **options)
    with pytest.raises(LoaderError, match=message):
        loader.batch_at(0, 0)


def test_ranks_where_there_are_none(dataset):
    with pytest.raises(LoaderError, match="does not share samples among ranks"):
        DataLoader(dataset, batch_size=4).batch_at(0, 0, rank=1, world_size=2)
