"""Samplers for torch's DataLoader, which need no torch themselves."""

import subprocess
import sys

import numpy as np
import pytest

import penstock as ps
from penstock.errors import LoaderError

SIZES = np.random.default_rng(0).integers(30, 300, (60, 2))
LABELS = np.arange(60) % 7 // 3
MAKERS = {
    "buckets": lambda **options: ps.BucketBatches([(64, 64), (32, 64)]).bind(
        SIZES, batch_size=4, **options
    ),
    "balanced": lambda **options: ps.ClassBalanced().bind(LABELS, **options),
    "repeated": lambda **options: ps.RepeatedAugmentation(selected_round=0).bind(60, **options),
    "weighted": lambda **options: ps.Weighted(np.arange(60)).bind(60, **options),
    "weighted once": lambda **options: ps.Weighted(np.arange(60), False, 40).bind(60, **options),
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


def test_repr_says_what_an_epoch_has(make):
    sampler = make(seed=2)
    sampler.set_epoch(3)

    said = repr(sampler)
    assert said.startswith(f"{type(sampler).__name__}(")
    assert sampler.describe() in said
    assert "epoch 3 comes next" in said


def test_an_iteration_is_an_epoch(make):
    sampler = make(seed=2)
    first, second = list(sampler), list(sampler)

    assert len(first) == len(second) == len(sampler)
    assert first != second
    assert sampler.epoch == 2
    sampler.set_epoch(1)
    assert list(sampler) == second
    assert list(make(seed=3)) != first


def test_looking_at_an_iterator_begins_nothing(make):
    sampler = make()
    iter(sampler)
    assert sampler.epoch == 0


@pytest.mark.parametrize("world_size", [1, 2])
def test_it_goes_on_from_anywhere(make, world_size):
    whole = list(make(rank=0, world_size=world_size))
    sampler = make(rank=0, world_size=world_size)
    states = [sampler.state_dict()] + [sampler.state_dict() for _ in sampler]

    for done, state in enumerate(states[:-1]):
        other = make(rank=0, world_size=world_size)
        other.load_state_dict(state)
        assert other.state_dict() == state
        assert list(other) == whole[done:]
    assert (states[-1]["epoch"], states[-1]["items"]) == (1, 0)


def test_a_state_outlives_a_break(make):
    sampler = make()
    for number, _ in enumerate(sampler):
        if number == 2:
            break
    assert sampler.state_dict()["epoch"] == 0
    assert sampler.state_dict()["items"] == 3


def test_another_sampler_s_state_is_refused(make):
    with pytest.raises(LoaderError, match="the state was saved with seed=9"):
        make(seed=1).load_state_dict(make(seed=9).state_dict())


def test_ranks_are_found_as_a_loader_finds_them(make, monkeypatch):
    sampler = make()
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")

    assert list(sampler) == list(make(rank=1, world_size=2))
    assert "rank 1 of 2 (RANK, WORLD_SIZE)" in sampler.describe()


def test_drop_last_leaves_out_what_does_not_divide():
    lengths = [
        len(list(ps.ClassBalanced().bind(LABELS, rank=0, world_size=7, drop_last=drop)))
        for drop in (False, True)
    ]
    assert lengths == [9, 8]


def test_epochs_are_whole_numbers(make):
    with pytest.raises(LoaderError, match="must be a whole number from 0"):
        make().set_epoch(-1)


def test_they_feed_a_data_loader(make):
    torch_data = pytest.importorskip("torch.utils.data")
    sampler = make(seed=4)
    expected = list(make(seed=4))
    if isinstance(expected[0], list):
        loader = torch_data.DataLoader(list(range(60)), batch_sampler=sampler)
    else:
        loader = torch_data.DataLoader(list(range(60)), sampler=sampler, batch_size=None)

    assert len(loader) == len(expected)
    assert [np.asarray(batch).tolist() for batch in loader] == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stateful_data_loader_goes_on_exactly(make, workers):
    """It asks ahead with workers, and still resumes after what was delivered."""
    stateful = pytest.importorskip("torchdata.stateful_dataloader")

    def loader():
        sampler = make(seed=4)
        if isinstance(next(iter(make())), list):
            return stateful.StatefulDataLoader(
                list(range(60)), batch_sampler=sampler, num_workers=workers
            )
        return stateful.StatefulDataLoader(
            list(range(60)), sampler=sampler, batch_size=5, num_workers=workers
        )

    whole = [np.asarray(batch).tolist() for batch in loader()]
    first = loader()
    walk = iter(first)
    for _ in range(3):
        next(walk)
    state = first.state_dict()
    del walk
    second = loader()
    second.load_state_dict(state)

    assert [np.asarray(batch).tolist() for batch in second] == whole[3:]


def test_no_torch_is_imported():
    code = (
        "import sys, penstock as ps\n"
        "list(ps.BucketBatches([(8, 8)]).bind([[9, 9]] * 5))\n"
        "list(ps.ClassBalanced().bind([0, 1, 1]))\n"
        "ps.k_fold([0, 0, 1, 1], 2, seed=0)\n"
        "assert not {'torch', 'torchvision'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_torchvision_folder_says_its_sizes_and_labels(folder):
    datasets = pytest.importorskip("torchvision.datasets")
    dataset = datasets.ImageFolder(folder)
    buckets = ps.BucketBatches([(64, 64), (32, 64)])

    assert list(buckets.bind(dataset, batch_size=3)) == list(buckets.bind(folder, batch_size=3))
    assert list(ps.ClassBalanced().bind(dataset)) == list(ps.ClassBalanced().bind(folder))
