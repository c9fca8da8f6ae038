"""Which batches can be had again, what that costs, and what it leaves alone."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

import penstock as ps
from past_batches import CHOICE, CROPS, ENDED, WAYS, make, same
from penstock.errors import LoaderError


@pytest.mark.parametrize(
    "options",
    [{}, {"sampling": ps.RepeatedAugmentation(2, selected_round=0)}, WAYS["buckets"], WAYS["echo"]],
    ids=["plain", "repeated", "buckets", "echo"],
)
def test_other_ranks_are_looked_at(folder, options):
    alone = make(folder, **options)
    for rank in range(3):
        theirs = make(folder, rank=rank, world_size=3, **options)
        list(theirs)
        for step, batch in enumerate(theirs):
            past = alone.batch_at(1, step, rank=rank, world_size=3)
            assert same(past.batch, batch)
            assert (past.rank, past.world_size) == (rank, 3)
            assert same(theirs.batch_at(1, step).batch, batch)
            assert same(
                make(folder, rank=0, world_size=3, **options).batch_at(1, step, rank=rank).batch,
                batch,
            )


@pytest.mark.parametrize("way", ["plain", "buckets", "reuse"])
def test_resumed_loaders_count_from_the_start_of_the_epoch(folder, way):
    options = WAYS[way]
    whole = list(make(folder, **options))
    first = make(folder, **options)
    batches = iter(first)
    next(batches), next(batches)
    resumed = make(folder, **options)
    resumed.load_state_dict(first.state_dict())
    for again in range(2):
        for step, batch in enumerate(whole):
            assert same(resumed.batch_at(0, step).batch, batch)
        if not again:
            assert same(list(resumed), whole[2:])


def test_resumed_with_another_batch_size(folder):
    first = make(folder)
    batches = iter(first)
    next(batches), next(batches), next(batches)  # 12 samples
    resumed = make(folder, batch_size=5)
    resumed.load_state_dict(first.state_dict())
    for again in range(2):
        for step in (0, 1):
            with pytest.raises(LoaderError, match=r"comes before sample 12, .* another batch size"):
                resumed.batch_at(0, step)
        if not again:
            delivered = list(resumed)
        for step, batch in enumerate(delivered if again else []):
            assert same(resumed.batch_at(0, 2 + step).batch, batch)
    assert same(resumed.batch_at(1, 0).batch, next(iter(resumed)))


@dataclass
class CountingSource:
    """Counts which samples are opened."""

    inner: Any
    opened: Counter = field(default_factory=Counter)

    def __getattr__(self, name):
        if name in ("paths", "content"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)

    @property
    def classes(self):
        return self.inner.classes

    @property
    def labels(self):
        return self.inner.labels

    def name(self, index):
        return self.inner.name(index)

    def describe(self):
        return self.inner.describe()

    def open(self, index):
        self.opened[index] += 1
        return self.inner.open(index)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reuse": ps.Echo(2)},
        {"reuse": ps.Reuse(3)},
        {"batch_transform": CHOICE, "transform": ENDED},
    ],
    ids=["plain", "echo", "reuse", "mixed"],
)
def test_only_its_own_samples_are_read(folder, options):
    source = CountingSource(ps.open_image_folder(folder))
    loader = make(source, **{"transform": CROPS, **options})
    past = loader.batch_at(70_000, 3)
    assert source.opened == Counter(past.samples.tolist())
    assert loader.epoch == 0
    if loader.reuse_counts is not None:
        assert loader.reuse_counts.computed == 0


def test_an_iteration_under_way_is_not_disturbed(folder):
    options = {"reuse": ps.Reuse(2), "transform": CROPS}
    expected = list(make(folder, **options))
    loader, delivered = make(folder, **options), []
    for step, batch in enumerate(loader):
        delivered.append(batch)
        assert same(loader.batch_at(0, step).batch, batch)
        loader.batch_at(5, step)
    assert same(delivered, expected)
    assert loader.epoch == 1


def test_any_thread_may_ask(folder):
    loader = make(folder)
    expected = list(make(folder))
    found: dict[int, Any] = {}

    def ask(step):
        found[step] = loader.batch_at(0, step).batch

    threads = [threading.Thread(target=ask, args=(step,)) for step in range(len(expected))]
    for thread in threads:
        thread.start()
    delivered = list(loader)
    for thread in threads:
        thread.join()
    assert same(delivered, expected)
    assert same([found[step] for step in range(len(expected))], expected)


def test_closed_loaders_can_be_asked(folder):
    loader = make(folder)
    first = next(iter(loader))
    loader.close()
    assert same(loader.batch_at(0, 0).batch, first)


@pytest.mark.parametrize(
    ("place", "options", "message"),
    [
        ((0, 6), {}, r"step 6 of epoch 0, but the epoch has 6 steps\. Give one from 0 to 5\."),
        ((0, 5), {"drop_last": True}, r"the epoch has 5 steps"),
        (
            (0, 10**9),
            WAYS["buckets"],
            r"step 1,000,000,000 of .* has \d+ steps",
        ),
        ((0, -1), {}, r"step must be a whole number from 0, got -1"),
        ((-1, 0), {}, r"epoch must be a whole number from 0, got -1"),
        ((True, 0), {}, r"epoch must be a whole number from 0, got True"),
        ((0, 1.0), {}, r"step must be a whole number from 0, got 1\.0"),
        ((1 << 32, 0), {}, r"epoch must be between 0 and 2\*\*32 - 1"),
    ],
)
def test_places_that_are_not_there(folder, place, options, message):
    with pytest.raises(LoaderError, match=message):
        make(folder, **options).batch_at(*place)


def test_ranks_that_are_not_there(folder):
    loader = make(folder)
    with pytest.raises(LoaderError, match=r"world_size=2 alone\. Give rank, too"):
        loader.batch_at(0, 0, world_size=2)
    with pytest.raises(LoaderError, match="rank must be below world_size, got rank 1 of 1"):
        loader.batch_at(0, 0, rank=1)


def test_a_sampler_cannot_be_asked_again(folder):
    torch_data = pytest.importorskip("torch.utils.data")

    class Every(torch_data.Sampler):
        def __len__(self):
            return 5

        def __iter__(self):
            return iter(range(5))

    torchvision = pytest.importorskip("torchvision")
    dataset = torchvision.datasets.ImageFolder(
        folder,
        transform=torchvision.transforms.Compose(
            [torchvision.transforms.Resize((9, 9)), torchvision.transforms.ToTensor()]
        ),
    )
    own = ps.accelerate(torch_data.DataLoader(dataset, batch_size=2, sampler=Every()))
    with pytest.raises(LoaderError, match="that of a sampler, which cannot be asked again"):
        own.batch_at(0, 0)
    loader = ps.accelerate(torch_data.DataLoader(dataset, batch_size=2, shuffle=True))
    batches = list(loader)
    past = loader.batch_at(0, 3)
    assert same(past.batch, batches[3])
    assert past.names[0].endswith(".jpg")
