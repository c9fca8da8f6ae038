"""Folds and random parts: partitions, in proportion, with groups whole, the same everywhere."""

import zlib

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T
from penstock.errors import LoaderError

LABELS = np.random.default_rng(3).choice(12, 431, p=np.arange(1, 13) / 78)
GROUPS = np.random.default_rng(4).integers(0, 60, 431)


KNOWN = [2_151_263_391, 1_406_877_378, 2_080_051_990]  # checksums of parts


def assert_partition(parts, count):
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(count))
    assert all((np.diff(part) > 0).all() for part in parts), "ascending"


def assert_in_proportion(parts, labels):
    """Within one sample of each class, and the parts have their own lengths exactly."""
    for part in parts:
        found = np.bincount(labels[part], minlength=labels.max() + 1)
        quota = np.bincount(labels) * len(part) / len(labels)
        assert abs(found - quota).max() <= 1


@pytest.mark.filterwarnings("ignore:Length of split")  # by torch, for what is meant to be empty
@pytest.mark.parametrize(
    "shares", [[0.7, 0.3], [0.6, 0.25, 0.15], [1 / 3] * 3, [1.0], [0.5, 0, 0.5]]
)
@pytest.mark.parametrize("count", [1, 2, 10, 431])
def test_shares_are_rounded_as_torch_does(shares, count):
    torch_data = pytest.importorskip("torch.utils.data")
    ours = ps.random_split(count, shares, seed=0)
    theirs = torch_data.random_split(range(count), shares)

    assert [len(part) for part in ours] == [len(part) for part in theirs]
    assert_partition(ours, count)


@pytest.mark.parametrize("lengths", [[400, 31], [1, 430], [100, 100, 100, 131], [431], [0, 431]])
@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_stratified_parts_have_their_lengths_and_every_class(lengths, seed):
    parts = ps.random_split(LABELS, lengths, seed=seed, stratified=True)

    assert [len(part) for part in parts] == lengths
    assert_partition(parts, 431)
    assert_in_proportion(parts, LABELS)


def test_stratified_parts_of_many_random_data_sets():
    rng = np.random.default_rng(0)
    for seed in range(60):
        labels = rng.integers(0, rng.integers(1, 30), rng.integers(5, 300))
        cuts = np.sort(rng.integers(0, len(labels) + 1, rng.integers(0, 5)))
        lengths = np.diff([0, *cuts, len(labels)]).tolist()
        parts = ps.random_split(labels, lengths, seed=seed, stratified=True)

        assert [len(part) for part in parts] == lengths
        assert_partition(parts, len(labels))
        assert_in_proportion(parts, labels)


@pytest.mark.parametrize("folds", [2, 5, 7, 431])
@pytest.mark.parametrize("stratified", [True, False])
def test_folds(folds, stratified):
    parts = ps.k_fold(LABELS, folds, seed=1, stratified=stratified)

    assert_partition([valid for _, valid in parts], 431)
    assert {len(valid) for _, valid in parts} <= {431 // folds, 431 // folds + 1}
    for train, valid in parts:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, valid])), np.arange(431))
    if stratified:
        assert_in_proportion([valid for _, valid in parts], LABELS)


@pytest.mark.parametrize("stratified", [True, False])
def test_groups_are_never_split(stratified):
    names = np.array([f"patient {group}" for group in GROUPS])
    parts = [
        valid for _, valid in ps.k_fold(LABELS, 5, seed=1, stratified=stratified, groups=names)
    ]

    assert_partition(parts, 431)
    assert sum(len(set(names[part])) for part in parts) == len(set(names))
    assert max(map(len, parts)) - min(map(len, parts)) <= 12, "about equal"
    if stratified:
        shares = np.stack([np.bincount(LABELS[part], minlength=12) for part in parts])
        assert abs(shares - np.bincount(LABELS) / 5).max() <= 6


def test_splits_with_groups():
    parts = ps.random_split(431, [0.8, 0.2], seed=2, groups=GROUPS)

    assert_partition(parts, 431)
    assert not set(GROUPS[parts[0]]) & set(GROUPS[parts[1]])
    assert abs(len(parts[1]) - 86) <= 8


def test_they_depend_on_the_seed_alone():
    first = ps.random_split(1000, [0.5, 0.5], seed=7)[0]

    assert first.tolist() == ps.random_split(1000, [500, 500], seed=7)[0].tolist()
    assert first.tolist() != ps.random_split(1000, [0.5, 0.5], seed=8)[0].tolist()
    # Any machine must find the same parts.
    stratified = np.concatenate(ps.random_split(LABELS, [300, 131], seed=7, stratified=True))
    grouped = np.concatenate([v for _, v in ps.k_fold(LABELS, 3, seed=7, groups=GROUPS)])
    found = [zlib.crc32(part.astype("<i8").tobytes()) for part in (first, stratified, grouped)]
    assert found == KNOWN


def test_every_sample_is_equally_likely_in_a_part():
    times = np.zeros(50)
    for seed in range(600):
        times[ps.random_split(50, [10, 40], seed=seed)[0]] += 1

    assert abs(times - 120).max() < 50, "five standard deviations"


def test_data_of_all_kinds(folder):
    labels = ps.open_data(folder).labels
    expected = ps.k_fold(labels, 3, seed=0)

    class Dataset:
        targets = labels.tolist()

        def __len__(self):
            return len(labels)

    class Names(Dataset):
        labels = np.array(["cat", "dog", "eel"])[np.array(Dataset.targets)].tolist()

    for data in (folder, str(folder), ps.open_data(folder), Dataset(), Names(), labels.tolist()):
        for (train, valid), (other_train, other_valid) in zip(
            ps.k_fold(data, 3, seed=0), expected, strict=True
        ):
            np.testing.assert_array_equal(train, other_train)
            np.testing.assert_array_equal(valid, other_valid)


def test_a_loader_takes_a_part(folder):
    train, valid = ps.random_split(folder, [0.75, 0.25], seed=0, stratified=True)
    loader = ps.Loader(folder, transform=T.Resize((8, 8)), indices=valid, output="numpy")

    assert len(train) + len(valid) == 23
    labels = np.concatenate([labels for _, labels in loader])
    np.testing.assert_array_equal(labels, ps.open_data(folder).labels[valid])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ps.random_split(10, [5, 6], seed=0), "add up to 11. Give numbers of samples"),
        (lambda: ps.random_split(10, [0.5, 0.6], seed=0), "add up to 1.1"),
        (lambda: ps.random_split(10, [-1, 11], seed=0), "must be numbers from 0 on"),
        (lambda: ps.random_split(10, [], seed=0), "must be numbers from 0 on"),
        (lambda: ps.random_split(10, 5, seed=0), "must be a list of numbers"),
        (lambda: ps.random_split(0, [1.0], seed=0), "there must be a sample"),
        (lambda: ps.random_split(None, [1.0], seed=0), "data must be a path"),
        (lambda: ps.random_split(10, [1.0], seed=0, stratified=True), "needs a label for each"),
        (lambda: ps.random_split(10, [1.0], seed=-1), "seed must be between 0"),
        (lambda: ps.k_fold(10, 2, seed=0), "needs a label for each sample"),
        (lambda: ps.k_fold(np.eye(4, dtype=int), 2, seed=0), "several classes at once"),
        (lambda: ps.k_fold(LABELS, 1, seed=0), "folds must be a whole number from 2 on"),
        (lambda: ps.k_fold(LABELS[:3], 4, seed=0), "cannot be 4 folds"),
        (lambda: ps.k_fold(LABELS, 2, seed=0, groups=GROUPS[:5]), "431 whole numbers or texts"),
        (lambda: ps.k_fold(LABELS, 2, seed=0, groups=GROUPS * 0.5), "got float64"),
        (lambda: ps.k_fold(LABELS, 3, seed=0, groups=GROUPS * 0), "gets no sample"),
    ],
)
def test_what_cannot_be_split_is_refused(make, message):
    with pytest.raises(LoaderError, match=message):
        make()
