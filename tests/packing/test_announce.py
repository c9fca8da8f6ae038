"""Rows of a large index are asked for before they are looked up; that changes no answer."""

import numpy as np

from packing.samples import ListSource, image_file
from penstock.packing import read
from penstock.packing.items import PackItem
from penstock.packing.pack import pack
from penstock.packing.ranges import places_of
from penstock.packing.read import PackFile


def test_only_the_first_rows_of_a_large_index_are_announced(tmp_path, monkeypatch):
    pack(ListSource([PackItem(f"{i}.jpg", image_file(i)) for i in range(9)]), tmp_path / "a.pen")
    samples = np.array([8, 0, 3])
    expected = places_of(PackFile(tmp_path / "a.pen"), samples)
    assert PackFile(tmp_path / "a.pen")._left_to_announce == 0

    monkeypatch.setattr(read, "_LARGE_INDEX_BYTES", 1)
    monkeypatch.setattr(read, "_MOST_ANNOUNCED", 5)
    file = PackFile(tmp_path / "a.pen")
    for left in (2, -1, -1):
        file.announce(samples)
        assert file._left_to_announce == left
        assert np.array_equal(places_of(file, samples).offset, expected.offset)


def test_places_outside_a_file_are_left_out(tmp_path):
    pack(ListSource([PackItem("a.jpg", image_file(0))]), tmp_path / "a.pen")
    file = PackFile(tmp_path / "a.pen")
    file._file.will_need(np.array([-1, -(2**62), 0, 10**6, 2**62, 2**63 - 1]))
    file._file.will_need(np.empty(0, np.int64))
    assert file.sample(0).name == "a.jpg"
