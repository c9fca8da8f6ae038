"""Classes equally often: exact counts, every epoch, on any number of ranks."""

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T
from penstock.errors import LoaderError

LABELS = np.random.default_rng(2).permutation(np.repeat([0, 1, 2, 5], [500, 60, 7, 1]))


def bound(rank=0, world_size=1, *, data=LABELS, seed=1, indices=None, drop_last=False, **options):
    return ps.ClassBalanced(**options).bind(
        data, seed=seed, rank=rank, world_size=world_size, indices=indices, drop_last=drop_last
    )


def epoch(sampler, number=0):
    sampler.set_epoch(number)
    return np.array(list(sampler))


def counts(samples, labels=LABELS):
    return np.bincount(labels[samples], minlength=6)[[0, 1, 2, 5]]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("samples_per_epoch", [None, 40, 1001])
def test_every_class_comes_equally_often(number, samples_per_epoch):
    found = counts(epoch(bound(samples_per_epoch=samples_per_epoch), number))

    assert found.sum() == (samples_per_epoch or 568)
    assert found.max() - found.min() <= 1


def test_power_says_how_far():
    as_they_are = counts(epoch(bound(power=0)))
    roots = counts(epoch(bound(power=0.5, samples_per_epoch=10_000)))
    expected = np.sqrt([500, 60, 7, 1])

    assert as_they_are.tolist() == [500, 60, 7, 1]
    assert abs(roots - 10_000 * expected / expected.sum()).max() < 1


def test_within_a_class_none_comes_again_before_all_have_come():
    times = np.bincount(epoch(bound(samples_per_epoch=400)), minlength=568)

    for label in (0, 1, 2, 5):
        of_class = times[label == LABELS]
        assert of_class.max() - of_class.min() <= 1


def test_what_does_not_divide_goes_round_over_the_epochs():
    """Two samples for four classes: each class has one in half of the epochs."""
    sampler = bound(samples_per_epoch=2)
    total = sum(counts(epoch(sampler, number)) for number in range(400))

    assert total.sum() == 800
    assert abs(total - 200).max() < 50, "five standard deviations"


def test_epochs_and_seeds_differ():
    first = epoch(bound(), 0)

    assert first.tolist() != epoch(bound(), 1).tolist()
    assert first.tolist() != epoch(bound(seed=2), 0).tolist()
    assert first.tolist() == epoch(bound(), 0).tolist()
    assert set(np.abs(np.diff(LABELS[first]))) > {0}, "classes are mixed"


@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_the_ranks_share_one_epoch(world_size):
    whole = epoch(bound())
    parts = [epoch(bound(rank, world_size)) for rank in range(world_size)]
    together = np.stack(parts, axis=1).reshape(-1)

    np.testing.assert_array_equal(together[:568], whole)
    np.testing.assert_array_equal(together[568:], whole[: len(together) - 568])


def test_it_goes_on_from_anywhere_with_other_ranks_too():
    whole = epoch(bound())
    sampler = bound(0, 2)
    walk = iter(sampler)
    for _ in range(100):
        next(walk)
    parts = []
    for rank in range(4):
        other = bound(rank, 4)
        other.load_state_dict(sampler.state_dict())
        parts.append(list(other))

    np.testing.assert_array_equal(np.stack(parts, axis=1).reshape(-1), whole[200:])


def test_indices_restrict():
    chosen = np.flatnonzero(LABELS < 2)
    found = counts(epoch(bound(indices=chosen)))

    assert found.tolist() == [280, 280, 0, 0]


def test_keys_differ_for_every_coming():
    sampler = bound(indices=np.concatenate([np.arange(568), np.arange(568)]))
    picked = sampler._selection.epoch(0).at(np.arange(len(sampler)))

    assert len(np.unique(picked.keys)) == len(sampler)
    np.testing.assert_array_equal(picked.keys & 0xFFFFFFFF, picked.samples)


def test_a_million_samples_take_little_memory():
    labels = np.random.default_rng(0).integers(0, 1000, 1_000_000)
    sampler = bound(data=labels)
    selection = sampler._selection

    assert selection.members.nbytes == 4_000_000
    assert selection.times is None
    assert max(selection.sizes.nbytes, selection.quotas.nbytes) == 8000
    assert len(sampler) == 1_000_000
    assert counts(np.array([next(iter(sampler))]), labels % 6).sum() <= 1


def test_in_a_loader(folder):
    """23 images in three classes: 8, 8 and 7."""

    def run(**options):
        loader = ps.Loader(
            folder,
            transform=T.RandomResizedCrop(8),
            batch_size=5,
            output="numpy",
            sampling=ps.ClassBalanced(samples_per_epoch=30),
            **options,
        )
        return loader, [(images.copy(), labels) for images, labels in loader]

    loader, batches = run(threads=1)
    labels = np.concatenate([labels for _, labels in batches])
    assert np.bincount(labels).tolist() == [10, 10, 10]
    assert "30 samples in an epoch, 10 of each of 3 classes" in repr(loader)
    for (images, labels), (others, other_labels) in zip(batches, run(threads=3)[1], strict=True):
        np.testing.assert_array_equal(images, others)
        np.testing.assert_array_equal(labels, other_labels)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ps.ClassBalanced(power=1.5), "power must be between 0"),
        (lambda: ps.ClassBalanced(power="1"), "power must be a number"),
        (lambda: bound(samples_per_epoch=0), "samples_per_epoch must be a whole number from 1"),
        (lambda: bound(data=100), "needs a label for each sample"),
        (lambda: bound(data=np.zeros((5, 3), int)), "labels of shape \\(3,\\)"),
        (lambda: bound(data=np.zeros(5)), "are float64"),
        (lambda: bound(data=np.array([0, -1])), "sample 1 has label -1, which is no class"),
    ],
)
def test_what_cannot_be_balanced_is_refused(make, message):
    with pytest.raises(LoaderError, match=message):
        make()


def test_lengths_that_disagree_are_refused(folder):
    with pytest.raises(LoaderError, match="Say it once"):
        ps.Loader(folder, sampling=ps.ClassBalanced(samples_per_epoch=3), samples_per_epoch=4)


def test_data_without_labels_are_refused(folder):
    files = sorted(str(path) for path in folder.rglob("*.jpg"))
    with pytest.raises(LoaderError, match=r"needs a label for each sample, but .* has none"):
        ps.Loader(files, sampling=ps.ClassBalanced())
