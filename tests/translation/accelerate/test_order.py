"""Samples and order: every sampler that has an equivalent, rank by rank and epoch by epoch."""

import pytest
from PIL import Image

from penstock.errors import LoaderError, TranslationError
from tests.translation.accelerate.reading import accelerate


@pytest.fixture(scope="module")
def numbered(tv, folder):
    """A Dataset whose labels say which sample it is."""

    class Numbered(tv.data.Dataset):
        def __init__(self):
            self.files = sorted(str(path) for path in folder.rglob("*.jpg"))
            self.transform = tv.v1.Compose([tv.v1.Resize((4, 4)), tv.v1.PILToTensor()])

        def __len__(self):
            return len(self.files)

        def __getitem__(self, index):
            return self.transform(Image.open(self.files[index]).convert("RGB")), index

    return Numbered()


def labels(loader):
    return [label for _, batch in loader for label in batch.tolist()]


def test_sequential(tv, numbered):
    loader = accelerate(tv.data.DataLoader(numbered, batch_size=4))

    assert labels(loader) == list(range(23))
    assert labels(loader) == list(range(23))


def test_shuffled(tv, numbered):
    loader = accelerate(tv.data.DataLoader(numbered, batch_size=4, shuffle=True), seed=1)
    first, second = labels(loader), labels(loader)

    assert sorted(first) == sorted(second) == list(range(23))
    assert first != second
    loader.set_epoch(0)
    assert labels(loader) == first


def test_a_subset_sampler(tv, numbered):
    chosen = [3, 1, 4, 15, 9, 2, 6]
    sampler = tv.data.SubsetRandomSampler(chosen)
    loader = accelerate(tv.data.DataLoader(numbered, sampler=sampler, batch_size=3))

    assert sorted(labels(loader)) == sorted(chosen)
    assert len(loader) == 3


def test_a_subset_with_a_sampler_of_its_own(tv, numbered):
    subset = tv.data.Subset(numbered, [5, 6, 7, 8])
    sampler = tv.data.SubsetRandomSampler([0, 3])
    loader = accelerate(tv.data.DataLoader(subset, sampler=sampler))

    assert sorted(labels(loader)) == [5, 8]


@pytest.mark.parametrize("drop_last", [False, True])
def test_ranks(tv, numbered, drop_last):
    """Without shuffling, the very samples of each rank; 23 samples for 3 ranks."""
    for rank in range(3):
        sampler = tv.data.DistributedSampler(
            numbered, num_replicas=3, rank=rank, shuffle=False, drop_last=drop_last
        )
        theirs = tv.data.DataLoader(numbered, 2, sampler=sampler, drop_last=drop_last)
        ours = accelerate(theirs)

        assert len(ours) == len(theirs)
        assert labels(ours) == labels(theirs)


def test_shuffled_ranks_share_all_samples(tv, numbered):
    taken = []
    for rank in range(2):
        sampler = tv.data.DistributedSampler(numbered, num_replicas=2, rank=rank)
        taken += labels(accelerate(tv.data.DataLoader(numbered, sampler=sampler)))

    assert len(taken) == 24
    assert set(taken) == set(range(23))


def test_ranks_that_drop_other_samples(tv, numbered):
    """Eight samples a rank in batches of 4 are two batches; the loader would have seven samples."""
    sampler = tv.data.DistributedSampler(numbered, num_replicas=3, rank=0, drop_last=False)
    loader = tv.data.DataLoader(numbered, 4, sampler=sampler, drop_last=True)
    with pytest.raises(TranslationError, match="8 samples for each rank become 7 here"):
        accelerate(loader)
    loader = tv.data.DataLoader(numbered, 5, sampler=sampler, drop_last=True)
    assert len(accelerate(loader)) == len(loader) == 1


def test_a_plain_batch_sampler(tv, numbered):
    batches = tv.data.BatchSampler(tv.data.SequentialSampler(numbered), 5, drop_last=True)
    loader = accelerate(tv.data.DataLoader(numbered, batch_sampler=batches))

    assert [len(batch) for _, batch in loader] == [5, 5, 5, 5]


def test_samplers_of_fewer_samples(tv, numbered):
    """What a sampler was made for need not be the Dataset."""
    for sampler in (tv.data.SequentialSampler(range(5)), range(5), [0, 1, 2, 3, 4]):
        theirs = tv.data.DataLoader(numbered, batch_size=2, sampler=sampler)
        assert labels(accelerate(theirs)) == labels(theirs) == [0, 1, 2, 3, 4]
    theirs = tv.data.DataLoader(numbered, sampler=tv.data.RandomSampler(range(5)))
    assert sorted(labels(accelerate(theirs))) == [0, 1, 2, 3, 4]


def test_a_list_of_positions(tv, numbered):
    """In its order, samples that are there twice too, every epoch the same."""
    theirs = tv.data.DataLoader(numbered, batch_size=2, sampler=(7, 3, 7, 20), drop_last=True)
    ours = accelerate(theirs)

    assert labels(ours) == labels(theirs) == [7, 3, 7, 20]
    assert labels(ours) == [7, 3, 7, 20]
    assert ours.describe_sampling() == "all 4 samples"


def test_batches_of_a_list(tv, numbered):
    batches = tv.data.BatchSampler([9, 8, 2], 2, drop_last=False)
    theirs = tv.data.DataLoader(numbered, batch_sampler=batches)

    assert [each.tolist() for _, each in accelerate(theirs)] == [[9, 8], [2]]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("batch_size", [1, 5, 23, 40])
def test_sizes_of_batches(tv, numbered, batch_size, drop_last):
    theirs = tv.data.DataLoader(numbered, batch_size, drop_last=drop_last)
    ours = accelerate(theirs)

    assert len(ours) == len(theirs)
    assert [each.tolist() for _, each in ours] == [each.tolist() for _, each in theirs]


def test_a_generator_is_not_used(tv, numbered):
    """Orders come from `seed`; the generator stays where it was."""
    generator = tv.torch.Generator().manual_seed(3)
    before = generator.get_state()
    theirs = tv.data.DataLoader(numbered, shuffle=True, generator=generator)
    first, second = (labels(accelerate(theirs, seed=5)) for _ in range(2))

    assert first == second
    assert tv.torch.equal(generator.get_state(), before)


def test_a_weighted_sampler(tv, numbered):
    weights = [0.0] * 23
    weights[4], weights[9] = 1.0, 3.0
    sampler = tv.data.WeightedRandomSampler(weights, 400)
    loader = accelerate(tv.data.DataLoader(numbered, sampler=sampler, batch_size=50))
    drawn = labels(loader)

    assert len(loader) == 8
    assert len(drawn) == 400
    assert set(drawn) == {4, 9}
    assert 250 < drawn.count(9) < 350


def test_a_weighted_sampler_without_replacement(tv, numbered):
    weights = [1.0, 2.0, 3.0, 0.0, 5.0]
    sampler = tv.data.WeightedRandomSampler(weights, 4, replacement=False)
    loader = accelerate(tv.data.DataLoader(numbered, sampler=sampler))

    assert sorted(labels(loader)) == [0, 1, 2, 4]


def test_a_random_sampler_of_another_number(tv, numbered):
    few = tv.data.DataLoader(numbered, sampler=tv.data.RandomSampler(numbered, num_samples=5))
    many = tv.data.DataLoader(numbered, sampler=tv.data.RandomSampler(numbered, num_samples=50))
    again = tv.data.RandomSampler(numbered, replacement=True, num_samples=500)
    anew = tv.data.DataLoader(numbered, sampler=again)

    assert len(set(labels(accelerate(few)))) == 5
    assert {labels(accelerate(many)).count(sample) for sample in range(23)} == {2, 3}
    drawn = labels(accelerate(anew))
    assert len(drawn) == 500
    assert {drawn.count(sample) for sample in range(23)} - {21, 22}, "not in rounds"


class Backwards:
    """A sampler of a user's own, which changes from epoch to epoch."""

    def __init__(self, count):
        self.count = count
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.count

    def __iter__(self):
        yield from range(self.count - 1 + self.epoch, -1 + self.epoch, -1)


def test_a_sampler_of_ones_own(tv, numbered):
    sampler = Backwards(5)
    theirs = tv.data.DataLoader(numbered, sampler=sampler, batch_size=2)
    ours = accelerate(theirs)
    assert ours.describe_sampling() == "what your Backwards yields"
    for epoch in range(3):
        sampler.set_epoch(epoch)

        assert labels(ours) == labels(theirs)
        assert len(ours) == len(theirs)


def test_a_sampler_of_ones_own_cannot_be_resumed_in_the_midst(tv, numbered):
    loader = accelerate(tv.data.DataLoader(numbered, sampler=Backwards(5)))
    next(iter(loader))
    with pytest.raises(LoaderError, match="their order is that of your Backwards"):
        loader.load_state_dict(loader.state_dict())
    list(loader)
    loader.load_state_dict(loader.state_dict())


def test_a_sampler_that_does_not_keep_its_word(tv, numbered):
    for yielded, message in (([1, 2, 3], "yields 3 samples"), ([1, 99, 2, 3], "sample 99; they")):
        sampler = Backwards(4)
        sampler.__class__ = type("Odd", (Backwards,), {"__iter__": lambda _, y=yielded: iter(y)})
        loader = accelerate(tv.data.DataLoader(numbered, sampler=sampler))
        with pytest.raises(LoaderError, match=message):
            list(loader)
