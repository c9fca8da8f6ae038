"""A loader that was saved goes on with exactly the batches that would have come."""

import io

import pytest

from penstock import LoaderError
from penstock import transforms as T

torch = pytest.importorskip("torch")

from torch.utils.data import (  # noqa: E402 (optional)
    DistributedSampler,
    RandomSampler,
    Subset,
    WeightedRandomSampler,
)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)

RANDOM = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip()])


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=RANDOM)


def same(one, other):
    return len(one) == len(other) and all(
        torch.equal(a, b)
        for x, y in zip(one, other, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def through_a_file(state):
    """As a checkpoint keeps it."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def generator():
    return torch.Generator().manual_seed(9)


class Stateful:
    """A sampler that says how it stands, and draws from a generator of its own over all epochs."""

    def __init__(self, length):
        self.length = length
        self.generator_ = torch.Generator().manual_seed(4)
        self.left = []

    def __len__(self):
        return self.length

    def __iter__(self):
        if not self.left:
            drawn = torch.randint(self.length, (self.length,), generator=self.generator_)
            self.left = drawn.tolist()
        while self.left:
            yield self.left.pop(0)

    def state_dict(self):
        return {"left": list(self.left), "generator": self.generator_.get_state()}

    def load_state_dict(self, state):
        self.left = list(state["left"])
        self.generator_.set_state(state["generator"])


KINDS = {
    "in order": dict,
    "shuffled": lambda: {"shuffle": True},
    "by a generator": lambda: {"shuffle": True, "generator": generator()},
    "by the sampler's generator": lambda: {
        "sampler": RandomSampler(range(23), generator=generator())
    },
    "with replacement": lambda: {
        "sampler": RandomSampler(range(23), replacement=True, num_samples=30)
    },
    "by weight": lambda: {"sampler": WeightedRandomSampler(torch.ones(23), 30)},
    "persistent": lambda: {"shuffle": True, "num_workers": 2, "persistent_workers": True},
    "distributed": lambda: {"sampler": DistributedSampler(range(23), 2, 1)},
    "stateful": lambda: {"sampler": Stateful(23)},
    "seeded": lambda: {"shuffle": True, "seed": 3},
    "batches": lambda: {"batch_sampler": [[1, 2], [3], [4, 5, 6], [1, 1], [7], [8], [9]]},
}


def make(dataset, kind):
    options = KINDS[kind]()
    size = {} if "batch_sampler" in options else {"batch_size": 4}
    return DataLoader(dataset, **size, **options)


@pytest.mark.parametrize("epochs_before", [0, 2])
@pytest.mark.parametrize("batches", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_next_batches_are_those_that_would_have_come(dataset, kind, batches, epochs_before):
    """In the rest of the epoch, and in the next two; training draws random numbers, too."""

    def train(loader, epochs):
        came = []
        for _ in range(epochs):
            for batch in loader:
                came.append(batch)
                torch.rand(3)
        return came

    torch.manual_seed(0)
    loader = make(dataset, kind)
    train(loader, epochs_before)
    iterator = iter(loader)
    for _ in range(batches):
        next(iterator)
        torch.rand(3)
    state = through_a_file(loader.state_dict())
    rest = []
    for batch in iterator:
        rest.append(batch)
        torch.rand(3)
    expected = rest + train(loader, 2)

    torch.manual_seed(77)
    other = make(dataset, kind)
    other.load_state_dict(state)
    assert other.epoch == epochs_before
    assert same(train(other, 3), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_at_the_end_of_an_epoch_the_next_one_comes(dataset, kind):
    torch.manual_seed(0)
    loader = make(dataset, kind)
    count = len(list(loader))
    state = through_a_file(loader.state_dict())
    expected = list(loader) + list(loader)

    torch.manual_seed(77)
    other = make(dataset, kind)
    other.load_state_dict(state)
    assert other.epoch == 1
    assert same(list(other) + list(other), expected)
    assert len(expected) == 2 * count


def test_after_a_break_it_can_be_saved_and_saved_again(dataset):
    loader = make(dataset, "shuffled")
    torch.manual_seed(3)
    whole = list(loader)
    torch.manual_seed(3)
    loader = make(dataset, "shuffled")
    for _ in loader:
        break
    second = make(dataset, "shuffled")
    second.load_state_dict(loader.state_dict())
    assert second.state_dict()["batches"] == 1, "before it goes on, it stands where it was"
    next(iter(second))
    third = make(dataset, "shuffled")
    third.load_state_dict(second.state_dict())
    assert same(list(third), whole[2:])


@pytest.mark.parametrize("kind", ["shuffled", "stateful"])
def test_saved_twice_in_an_epoch_that_was_gone_on_with(dataset, kind):
    torch.manual_seed(0)
    loader = make(dataset, kind)
    whole, states = [], []
    for batch in loader:
        whole.append(batch)
        states.append(loader.state_dict())
    for place in (0, 3):
        other = make(dataset, kind)
        other.load_state_dict(states[place])
        again = []
        for batch in other:
            again.append(batch)
            if len(again) == 1:
                later = other.state_dict()
        assert same(again, whole[place + 1 :])
        last = make(dataset, kind)
        last.load_state_dict(later)
        assert same(list(last), whole[place + 2 :])


def test_the_skipped_batches_are_not_read(folder, monkeypatch):
    dataset = Dataset(folder, transform=RANDOM, plan=False)  # a planner looks at some samples
    loader = make(dataset, "shuffled")
    iterator = iter(loader)
    next(iterator)
    next(iterator)
    other = make(dataset, "shuffled")
    other.load_state_dict(loader.state_dict())
    loader.close()  # or it goes on to read its next batch
    read = []
    paths = type(dataset.source).paths
    monkeypatch.setattr(
        type(dataset.source), "paths", lambda s, i: read.extend(i.tolist()) or paths(s, i)
    )
    assert len(list(other)) == 4
    assert len(read) == 23 - 8


def test_set_epoch_keeps_the_place_in_the_same_epoch_only(dataset):
    loader = make(dataset, "in order")
    next(iter(loader))
    other = make(dataset, "in order")
    other.load_state_dict(loader.state_dict())
    other.set_epoch(0)
    assert len(list(other)) == 5
    other.load_state_dict(loader.state_dict())
    other.set_epoch(2)
    assert len(list(other)) == 6


def test_states_of_other_loaders_are_refused_by_name(dataset):
    state = make(dataset, "shuffled").state_dict()
    others = {
        "seed": DataLoader(dataset, 4, shuffle=True, seed=1),
        "length": DataLoader(Subset(dataset, range(20)), 4, shuffle=True),
        "batch_size": DataLoader(dataset, 5, shuffle=True),
        "drop_last": DataLoader(dataset, 4, shuffle=True, drop_last=True),
        "sampler": DataLoader(dataset, 4),
    }
    for name, other in others.items():
        with pytest.raises(LoaderError, match=f"saved with {name}=.*would not go on"):
            other.load_state_dict(state)
    with pytest.raises(LoaderError, match="a dictionary is needed, got NoneType"):
        other.load_state_dict(None)
    with pytest.raises(LoaderError, match="state version None"):
        make(dataset, "shuffled").load_state_dict({})
    other = make(dataset, "by a generator")
    other.load_state_dict(state)
    with pytest.raises(LoaderError, match="saved with generators"):
        iter(other)


def test_a_sampler_that_became_shorter_is_refused(dataset):
    loader = DataLoader(dataset, batch_sampler=[[1], [2], [3]])
    iterator = iter(loader)
    next(iterator)
    next(iterator)
    other = DataLoader(dataset, batch_sampler=[[1]])
    other.load_state_dict(loader.state_dict())
    with pytest.raises(LoaderError, match="lists only 1 now"):
        iter(other)


def test_samplers_of_torchdata(dataset):
    samplers = pytest.importorskip("torchdata.stateful_dataloader.sampler")

    def loader():
        sampler = samplers.StatefulDistributedSampler(dataset, 2, 0, shuffle=True, seed=1)
        return DataLoader(dataset, 3, sampler=sampler, seed=2)

    def drawn():
        sampler = samplers.RandomSampler(dataset, generator=generator())
        batches = samplers.BatchSampler(sampler, 3, drop_last=False)
        return DataLoader(dataset, batch_sampler=batches, seed=2)

    for make_one in (loader, drawn):
        one = make_one()
        iterator = iter(one)
        next(iterator)
        state = through_a_file(one.state_dict())
        expected = list(iterator)
        other = make_one()
        other.load_state_dict(state)
        assert same(list(other), expected)
        assert len(expected) > 2
        end = one.state_dict()
        expected = list(one)
        other = make_one()
        other.load_state_dict(end)
        assert same(list(other), expected)
        assert len(expected) > 2


def test_another_number_of_ranks_is_refused_within_an_epoch(dataset):
    """Their shares are others, so that samples would come twice, and others not at all."""

    def make(ranks):
        sampler = torch.utils.data.DistributedSampler(dataset, num_replicas=ranks, rank=0)
        return DataLoader(dataset, 4, sampler=sampler)

    saved = make(2)
    iterator = iter(saved)
    next(iterator)
    with pytest.raises(LoaderError, match=r"saved with ranks=2, this loader has ranks=3"):
        make(3).load_state_dict(saved.state_dict())
    list(iterator)
    other = make(3)
    other.load_state_dict(saved.state_dict())
    assert other.epoch == 1


def test_the_state_of_another_rank_leaves_torchs_generator_alone(dataset):
    """Frameworks load what rank 0 saved on all ranks; these must not draw the same from then on."""

    def make(rank):
        sampler = torch.utils.data.DistributedSampler(dataset, num_replicas=2, rank=rank)
        return DataLoader(dataset, 4, sampler=sampler, seed=3)

    loaders = [make(rank) for rank in (0, 1)]
    iterators = [iter(loader) for loader in loaders]
    for iterator in iterators:
        next(iterator)
    state = loaders[0].state_dict()
    rests = [list(iterator) for iterator in iterators]
    for rank in (0, 1):
        torch.manual_seed(40)
        resumed = make(rank)
        resumed.load_state_dict(state)
        came = list(resumed)
        assert len(came) == len(rests[rank]) == 2
        assert all(
            torch.equal(a, b)
            for mine, other in zip(came, rests[rank], strict=True)
            for a, b in zip(mine, other, strict=True)
        )
        is_put_back = torch.equal(torch.get_rng_state(), state["now"])
        assert is_put_back == (rank == 0)
