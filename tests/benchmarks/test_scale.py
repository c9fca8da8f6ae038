"""Files with large indexes are files like others, and changing ranks lose no sample."""

import numpy as np
import pytest

import penstock as ps
from benchmarks.scale import LargeIndex, elastic
from penstock.packing.read import PackFile
from slow_store import pack_photos


@pytest.fixture
def small(tmp_path):
    return PackFile(pack_photos(tmp_path / "small.pen", 8))


def first_images(path, samples):
    with ps.Loader(path, batch_size=len(samples), indices=samples) as loader:
        return next(iter(loader))[0].numpy()


def test_samples_of_a_large_index_are_those_of_the_small_one(small, tmp_path):
    whole = LargeIndex(small, tmp_path / "whole.pen", 5_000, complete=True)
    holes = LargeIndex(small, tmp_path / "holes.pen", 5_000, complete=False)
    chosen = [3, 1_002, 4_999]
    holes.fill(chosen)

    assert whole.samples == holes.samples == 5_000
    expected = first_images(tmp_path / "small.pen", [sample % 8 for sample in chosen])
    for index in (whole, holes):
        np.testing.assert_array_equal(first_images(index.path, chosen), expected)


def test_no_sample_is_lost_when_the_number_of_ranks_changes(small, tmp_path):
    index = LargeIndex(small, tmp_path / "whole.pen", 5_000, complete=True)
    rows = elastic(str(index.path), (3, 2, 3))

    assert rows[-1] == ("never delivered", "0", "")
