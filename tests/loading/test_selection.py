"""Subsets and weights: which samples an epoch has, drawn by the loader's own keys."""

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T
from penstock.errors import LoaderError
from penstock.loading.options import BatchOptions
from penstock.loading.sampling.facts import facts_of
from penstock.loading.sampling.select import select

ALL = np.arange(1000)


def selection(length=10, *, shuffle=False, seed=0, **options):
    batching = BatchOptions(1, shuffle, seed, drop_last=False, rank=0, world_size=1)
    return select(facts_of(length, "test"), batching, **options)[0]


def epoch(chosen, number=0):
    order = chosen.epoch(number)
    return order.at(np.arange(len(order)))


def test_indices_come_in_their_order_each_as_often_as_listed():
    picked = epoch(selection(indices=[3, 1, 3, 9]))

    assert picked.samples.tolist() == [3, 1, 3, 9]
    assert len(set(picked.keys.tolist())) == 4, "a sample that comes again is augmented anew"
    assert epoch(selection(indices=[3, 1])).keys.tolist() == [3, 1]


@pytest.mark.parametrize("indices", [range(2, 5), slice(2, 5), np.array([2, 3, 4], np.uint8)])
def test_indices_of_other_types(indices):
    assert epoch(selection(indices=indices)).samples.tolist() == [2, 3, 4]


def test_indices_may_be_a_mask():
    mask = np.zeros(10, dtype=bool)
    mask[[2, 7]] = True
    assert epoch(selection(indices=mask)).samples.tolist() == [2, 7]


def test_shuffled_indices_are_all_there_in_another_order_each_epoch():
    chosen = selection(1000, indices=range(100, 200), shuffle=True)
    first, second = epoch(chosen, 0).samples, epoch(chosen, 1).samples

    assert sorted(first) == sorted(second) == list(range(100, 200))
    assert first.tolist() != second.tolist()


def test_weights_with_replacement_have_their_frequencies():
    weights = np.array([0, 1, 0, 3, 6, 0])
    picked = epoch(selection(6, weights=weights, samples_per_epoch=20_000))

    counts = np.bincount(picked.samples, minlength=6)
    expected = weights / weights.sum() * 20_000
    drawn = weights > 0
    assert counts[~drawn].tolist() == [0, 0, 0]
    assert np.sum((counts - expected)[drawn] ** 2 / expected[drawn]) < 18.4  # once in 10,000 seeds
    assert len(np.unique(picked.keys)) == 20_000


def test_weights_without_replacement_are_those_of_drawing_one_after_the_other():
    """First and second of three samples; the probabilities are worked out by hand."""
    seen = np.zeros((3, 3))
    chosen = selection(3, weights=[1, 2, 5], replacement=False, samples_per_epoch=2)
    for number in range(8_000):
        first, second = epoch(chosen, number).samples
        seen[first, second] += 1
    w = np.array([1, 2, 5]) / 8
    expected = np.array([[w[a] * w[b] / (1 - w[a]) * (a != b) for b in range(3)] for a in range(3)])
    possible = expected > 0

    assert not seen[~possible].any()
    chi_square = np.sum((seen - expected * 8_000)[possible] ** 2 / (expected[possible] * 8_000))
    assert chi_square < 25.7  # once in 10,000 seeds


def test_an_epoch_may_be_longer_or_shorter_than_a_pass():
    chosen = selection(7, samples_per_epoch=17, shuffle=True)
    picked = epoch(chosen)

    assert sorted(picked.samples[:7]) == sorted(picked.samples[7:14]) == list(range(7))
    assert picked.samples[:7].tolist() != picked.samples[7:14].tolist()
    assert len(set(picked.keys.tolist())) == 17
    assert len(epoch(selection(7, samples_per_epoch=3)).samples) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"indices": [5, 3, 5], "shuffle": True},
        {"weights": ALL, "samples_per_epoch": 50},
        {"weights": ALL, "samples_per_epoch": 50, "replacement": False},
        {"samples_per_epoch": 2500, "shuffle": True},
    ],
)
def test_positions_may_be_asked_for_in_any_portion(options):
    order = selection(1000, **options).epoch(3)
    whole = order.at(np.arange(len(order)))
    some = np.array([len(order) - 1, 0, 1, 1])

    np.testing.assert_array_equal(order.at(some).samples, whole.samples[some])
    np.testing.assert_array_equal(order.at(some).keys, whole.keys[some])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"indices": [0, 10]}, "indices name sample 10, .* are 0 to 9"),
        ({"indices": [-1]}, "indices name sample -1"),
        ({"indices": []}, "at least one whole number"),
        ({"indices": {1, 2}}, "a list or an array of positions, got a set"),
        ({"indices": [0.5]}, "whole number, got float64"),
        ({"indices": [True, False]}, "2 true or false values for 10 samples"),
        ({"indices": "12"}, "got a str"),
        ({"weights": [1, 2]}, r"shape \(2,\), but there are 10 .* one weight per sample"),
        ({"weights": [1], "indices": [3, 4]}, "one weight per index"),
        ({"weights": [0] * 10}, "all weights are 0"),
        ({"weights": [1] * 9 + [-1]}, r"weight 9 is -1\.0"),
        ({"weights": [1] * 9 + [float("nan")]}, "weight 9 is nan"),
        ({"weights": {0: 1}}, "got a dict"),
        ({"weights": ["a"] * 10}, "cannot be read as numbers"),
        ({"samples_per_epoch": 0}, "whole number from 1 on, got 0"),
        ({"weights": [1] * 3 + [0] * 7, "replacement": False}, "10 samples .* from 3 whose weight"),
        (
            {"weights": [1, 1], "indices": [2, 2], "replacement": False},
            "indices name some several times",
        ),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(LoaderError, match=message):
        selection(**options)


def labels_of(loader):
    return [int(label) for _, labels in loader for label in labels]


def make(folder, **options):
    files = sorted(folder.rglob("*.jpg"))
    common = {"labels": range(len(files)), "transform": T.RandomResizedCrop(16), "output": "numpy"}
    return ps.Loader(files, **{**common, "batch_size": 4, **options})


@pytest.mark.parametrize(
    "options",
    [{"indices": [3, 1, 4, 1, 5]}, {"weights": "some", "samples_per_epoch": 9}],
    ids=["indices", "weights"],
)
def test_ranks_and_resumed_loaders_see_the_same_epoch(folder, options):
    count = len(list(folder.rglob("*.jpg")))
    if "weights" in options:
        options = {**options, "weights": np.arange(count) + 1}
    whole = labels_of(make(folder, seed=5, **options))
    halves = [
        labels_of(make(folder, seed=5, rank=rank, world_size=2, **options)) for rank in (0, 1)
    ]
    joined = [half[i] for i in range(len(halves[0])) for half in halves]
    loader = make(folder, seed=5, **options)
    first = next(iter(loader))[1].tolist()
    again = make(folder, seed=5, threads=1, **options)
    again.load_state_dict(loader.state_dict())

    assert joined[: len(whole)] == whole
    assert first + labels_of(again) == whole


def test_a_state_is_refused_by_another_selection(folder):
    state = make(folder, indices=[0, 1, 2]).state_dict()
    for options in ({"indices": [0, 1, 3]}, {"indices": [0, 1]}, {}):
        with pytest.raises(LoaderError, match="the state was saved with"):
            make(folder, **options).load_state_dict(state)
    old = {key: make(folder).state_dict()[key] for key in ("version", "epoch", "consumed", "seed")}
    old |= {"shuffle": 0, "length": make(folder).state_dict()["length"]}
    make(folder).load_state_dict(old)  # as earlier versions wrote it


def test_repr_says_what_is_chosen(folder):
    assert "2 of " in repr(make(folder, indices=[0, 1]))
    assert "by weight, with replacement" in repr(make(folder, indices=[0, 1], weights=[1, 2]))


def test_a_repeated_sample_is_augmented_anew(folder):
    images = next(iter(make(folder, indices=[2, 2, 2, 2])))[0]
    assert not any((images[0] == other).all() for other in images[1:])


@pytest.mark.parametrize("backend", ["native", "pillow"])
@pytest.mark.parametrize("how", ["indices", "weights"])
def test_only_samples_that_take_part_stand_in_for_others(folder, tmp_path, backend, how):
    """A bad file must not be replaced by one that was set aside for validation."""
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"nothing")
    files = sorted(folder.rglob("*.jpg"))[:6]
    files[1] = bad
    chosen = {"indices": [0, 1, 4]} if how == "indices" else {"weights": [1, 1, 0, 0, 1, 0]}
    loader = ps.Loader(
        files,
        labels=range(6),
        transform=T.Resize((8, 8)),
        on_error="substitute",
        output="numpy",
        backend=backend,
        samples_per_epoch=30,
        **chosen,
    )

    assert set(labels_of(loader)) == {0, 4}
