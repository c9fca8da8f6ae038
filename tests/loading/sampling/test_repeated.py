"""Repeated augmentation: timm's numbers, and new draws for every copy."""

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T
from penstock.errors import LoaderError


def bound(rank=0, world_size=1, *, data=1000, shuffle=False, indices=None, **options):
    return ps.RepeatedAugmentation(**options).bind(
        data, rank=rank, world_size=world_size, shuffle=shuffle, indices=indices, seed=4
    )


@pytest.mark.parametrize("world_size", [1, 2, 3, 8])
@pytest.mark.parametrize("repeats", [1, 2, 3, 1.5, 2.3])
@pytest.mark.parametrize(
    ("selected_round", "selected_ratio", "length"),
    [(256, 0, 1000), (0, 0, 1000), (0, 0, 77), (10, 0, 77), (256, 2, 1000), (0, 0.1, 50)],
)
def test_the_lists_are_those_of_timm(world_size, repeats, selected_round, selected_ratio, length):
    samplers = pytest.importorskip("timm.data.distributed_sampler")
    options = {"selected_round": selected_round, "selected_ratio": selected_ratio}
    for rank in {0, 1 % world_size, world_size - 1}:
        theirs = samplers.RepeatAugSampler(
            range(length), world_size, rank, shuffle=False, num_repeats=repeats, **options
        )
        ours = bound(rank, world_size, data=length, repeats=repeats, **options)

        expected = list(theirs)
        assert list(ours) == expected
        assert len(ours) == len(expected)


def test_each_rank_sees_another_copy_of_the_same_samples():
    ranks = [list(bound(rank, 3, shuffle=True)) for rank in range(3)]
    keys = [
        bound(rank, 3, shuffle=True)._selection.epoch(0).at(np.arange(rank, 765, 3)).keys
        for rank in range(3)
    ]

    assert ranks[0] == ranks[1] == ranks[2]
    assert len(set(ranks[0])) == len(ranks[0]) == 256
    assert [set((each >> 32).tolist()) for each in keys] == [{0}, {1}, {2}]


@pytest.mark.parametrize("repeats", [3, 2.5])
def test_every_copy_has_a_key_of_its_own(repeats):
    sampler = bound(repeats=repeats, shuffle=True, indices=[5, 9, 5, 7], selected_round=0)
    picked = sampler._selection.epoch(0).at(np.arange(10))

    assert len(set(picked.keys.tolist())) == 10
    assert set(picked.samples.tolist()) == {5, 7, 9}


def test_epochs_differ():
    sampler = bound(shuffle=True)
    first, second = list(sampler), list(sampler)

    assert first != second
    assert len(first) == 768


def test_it_goes_on_with_other_ranks():
    """Positions are the same for any number of ranks."""
    whole = list(bound(shuffle=True))
    sampler = bound(1, 2, shuffle=True)
    walk = iter(sampler)
    for _ in range(90):
        next(walk)
    parts = []
    for rank in range(3):
        other = bound(rank, 3, shuffle=True)
        other.load_state_dict(sampler.state_dict())
        parts.append(list(other))

    assert np.stack(parts, axis=1).reshape(-1).tolist() == whole[180:]


def test_in_a_loader_copies_are_augmented_anew(folder):
    def loader(**options):
        return ps.Loader(
            folder,
            transform=T.RandomResizedCrop(8),
            batch_size=6,
            output="numpy",
            sampling=ps.RepeatedAugmentation(3, selected_round=0),
            **options,
        )

    batches = [(images.copy(), labels) for images, labels in loader()]
    images = np.concatenate([images for images, _ in batches])
    source = ps.open_data(folder)

    assert len(images) == 23
    labels = np.concatenate([labels for _, labels in batches])
    np.testing.assert_array_equal(labels, source.labels[np.repeat(np.arange(8), 3)[:23]])
    assert len({image.tobytes() for image in images}) == 23
    first = next(iter(ps.Loader(folder, transform=T.RandomResizedCrop(8), output="numpy")))[0]
    np.testing.assert_array_equal(images[0], first[0])
    ranks = [
        np.concatenate([images.copy() for images, _ in loader(rank=rank, world_size=2)])
        for rank in range(2)
    ]
    together = np.stack(ranks, axis=1).reshape(-1, *images.shape[1:])
    np.testing.assert_array_equal(together[:23], images)


def test_a_loader_resumes_with_other_ranks(folder):
    def loader(rank, world_size):
        return ps.Loader(
            folder,
            transform=T.RandomResizedCrop(8),
            batch_size=2,
            shuffle=True,
            output="numpy",
            rank=rank,
            world_size=world_size,
            sampling=ps.RepeatedAugmentation(3, selected_round=4),
        )

    whole = np.concatenate([images.copy() for images, _ in loader(0, 1)])
    before = loader(0, 2)
    walk = iter(before)
    next(walk)
    rest = []
    for rank in range(2):
        other = loader(rank, 2)
        other.load_state_dict(before.state_dict())
        rest.append(np.concatenate([images.copy() for images, _ in other]))
    alone = loader(0, 1)
    alone.load_state_dict(before.state_dict())

    np.testing.assert_array_equal(np.stack(rest, axis=1).reshape(-1, 3, 8, 8), whole[4:])
    np.testing.assert_array_equal(np.concatenate([i.copy() for i, _ in alone]), whole[4:])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ps.RepeatedAugmentation(0.5), "repeats must be from 1 on"),
        (lambda: ps.RepeatedAugmentation("3"), "repeats must be from 1 on"),
        (lambda: ps.RepeatedAugmentation(selected_round=-1), "selected_round must be"),
        (lambda: ps.RepeatedAugmentation(selected_ratio=-1), "selected_ratio must be"),
        (lambda: bound(data=255), "has none left. Lower selected_round"),
    ],
)
def test_what_cannot_work_is_refused(make, message):
    with pytest.raises(LoaderError, match=message):
        make()


def test_a_loader_refuses_another_length(folder):
    with pytest.raises(LoaderError, match="samples_per_epoch=5 does not go with Repeated"):
        ps.Loader(folder, sampling=ps.RepeatedAugmentation(), samples_per_epoch=5)
