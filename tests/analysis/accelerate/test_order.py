"""Samples and order: every sampler that has an equivalent, rank by rank and epoch by epoch."""

import pytest
from PIL import Image

import penstock
from penstock.errors import TranslationError


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
    loader = penstock.accelerate(tv.data.DataLoader(numbered, batch_size=4))

    assert labels(loader) == list(range(23))
    assert labels(loader) == list(range(23))


def test_shuffled(tv, numbered):
    loader = penstock.accelerate(tv.data.DataLoader(numbered, batch_size=4, shuffle=True), seed=1)
    first, second = labels(loader), labels(loader)

    assert sorted(first) == sorted(second) == list(range(23))
    assert first != second
    loader.set_epoch(0)
    assert labels(loader) == first


def test_a_subset_sampler(tv, numbered):
    chosen = [3, 1, 4, 15, 9, 2, 6]
    sampler = tv.data.SubsetRandomSampler(chosen)
    loader = penstock.accelerate(tv.data.DataLoader(numbered, sampler=sampler, batch_size=3))

    assert sorted(labels(loader)) == sorted(chosen)
    assert len(loader) == 3


def test_a_subset_with_a_sampler_of_its_own(tv, numbered):
    subset = tv.data.Subset(numbered, [5, 6, 7, 8])
    sampler = tv.data.SubsetRandomSampler([0, 3])
    loader = penstock.accelerate(tv.data.DataLoader(subset, sampler=sampler))

    assert sorted(labels(loader)) == [5, 8]


@pytest.mark.parametrize("drop_last", [False, True])
def test_ranks(tv, numbered, drop_last):
    """Without shuffling, the very samples of each rank; 23 samples for 3 ranks."""
    for rank in range(3):
        sampler = tv.data.DistributedSampler(
            numbered, num_replicas=3, rank=rank, shuffle=False, drop_last=drop_last
        )
        theirs = tv.data.DataLoader(numbered, 2, sampler=sampler, drop_last=drop_last)
        ours = penstock.accelerate(theirs)

        assert len(ours) == len(theirs)
        assert labels(ours) == labels(theirs)


def test_shuffled_ranks_share_all_samples(tv, numbered):
    taken = []
    for rank in range(2):
        sampler = tv.data.DistributedSampler(numbered, num_replicas=2, rank=rank)
        taken += labels(penstock.accelerate(tv.data.DataLoader(numbered, sampler=sampler)))

    assert len(taken) == 24
    assert set(taken) == set(range(23))


def test_ranks_that_drop_other_samples(tv, numbered):
    """Eight samples a rank in batches of 4 are two batches; the loader would have seven samples."""
    sampler = tv.data.DistributedSampler(numbered, num_replicas=3, rank=0, drop_last=False)
    loader = tv.data.DataLoader(numbered, 4, sampler=sampler, drop_last=True)
    with pytest.raises(TranslationError, match="8 samples for each rank become 7 here"):
        penstock.accelerate(loader)
    loader = tv.data.DataLoader(numbered, 5, sampler=sampler, drop_last=True)
    assert len(penstock.accelerate(loader)) == len(loader) == 1


def test_a_plain_batch_sampler(tv, numbered):
    batches = tv.data.BatchSampler(tv.data.SequentialSampler(numbered), 5, drop_last=True)
    loader = penstock.accelerate(tv.data.DataLoader(numbered, batch_sampler=batches))

    assert [len(batch) for _, batch in loader] == [5, 5, 5, 5]
