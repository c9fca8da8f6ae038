"""Every layout goes into a packed file, and its columns come out again."""

import pytest

from dataset_samples import OUTSIDE_SETS, assert_any_order, assert_columns_survive, tar_bytes
from packing.samples import image_file
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset


@pytest.mark.parametrize(("path", "kind", "split"), OUTSIDE_SETS)
def test_columns_survive(outside_folder, tmp_path, path, kind, split):
    source = open_dataset(outside_folder / path, kind, split=split)
    assert_columns_survive(source, tmp_path / "x.pen")


@pytest.mark.parametrize(("path", "kind", "split"), OUTSIDE_SETS)
def test_samples_are_the_same_in_any_order(outside_folder, path, kind, split):
    assert_any_order(open_dataset(outside_folder / path, kind, split=split))


def test_a_sample_that_is_gone_is_named(tmp_path):
    file = tmp_path / "a.tar"
    file.write_bytes(tar_bytes((f"{number}.jpg", image_file(number)) for number in range(3)))
    source = open_dataset(file)
    assert source.at(2).data == image_file(2)
    file.write_bytes(bytes(file.stat().st_size))

    with pytest.raises(SourceError, match=r"a\.tar: sample 2 is no longer there"):
        source.at(2)
