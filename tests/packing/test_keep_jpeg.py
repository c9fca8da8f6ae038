"""`keep_jpeg`: the container without the codec."""

import numpy as np
import pytest

from packing.samples import ListSource, image_file
from penstock.errors import DecodeError, PackError
from penstock.loading.loader import Loader
from penstock.packing.inspect import inspect
from penstock.packing.items import LABEL, PackItem
from penstock.packing.pack import pack
from penstock.packing.shards import open_packed
from penstock.packing.unpack import unpack
from penstock.packing.verify import verify


def photos():
    items = [
        PackItem(f"{number}.jpg", image_file(number, (24, 32)), {"label": number})
        for number in range(4)
    ]
    return ListSource([*items, PackItem("4.png", image_file(4, (24, 32), format="PNG"),
                                        {"label": 4})], (LABEL,))  # fmt: skip


def test_every_jpeg_is_stored_as_it_is_and_comes_back(tmp_path):
    source = photos()
    summary = pack(source, tmp_path / "a.pen", keep_jpeg=True)
    unpack(tmp_path / "a.pen", tmp_path / "out")

    assert summary.storages == {"jpeg": 4, "dct": 0, "raw": 1}
    for item in source.listed[:4]:
        assert (tmp_path / "out" / item.name).read_bytes() == item.data
    assert verify(tmp_path / "a.pen", deep=True).intact
    assert verify(tmp_path / "a.pen", originals=True).intact


def test_it_is_not_lossy_and_nothing_is_odd(tmp_path):
    summary = pack(photos(), tmp_path / "a.pen", keep_jpeg=True)

    assert summary.settings == ("keep_jpeg",)
    assert not summary.lossy
    assert not open_packed(tmp_path / "a.pen").lossy
    assert "stored as: 4 jpeg, 1 raw; JPEGs are kept as they are, as asked for" in summary.lines()
    assert list(inspect(tmp_path / "a.pen").odd) == ["raw: PNG, RGB"]


def test_with_a_quality_the_new_jpegs_are_kept(tmp_path):
    summary = pack(photos(), tmp_path / "a.pen", keep_jpeg=True, quality=50)

    assert summary.lossy
    assert summary.storages == {"jpeg": 5, "dct": 0, "raw": 0}


def test_batches_are_those_of_tiles(tmp_path):
    pack(photos(), tmp_path / "tiles.pen")
    pack(photos(), tmp_path / "kept.pen", keep_jpeg=True)
    batches = [
        next(iter(Loader(tmp_path / name, batch_size=5, output="numpy", threads=1)))
        for name in ("tiles.pen", "kept.pen")
    ]
    np.testing.assert_array_equal(batches[0][0], batches[1][0])
    np.testing.assert_array_equal(batches[0][1], batches[1][1])


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    source = ListSource([PackItem("cut.jpg", image_file(0, (64, 64))[:400])])
    with pytest.raises(DecodeError, match=r"cut\.jpg: Pillow cannot decode it"):
        pack(source, tmp_path / "a.pen", keep_jpeg=True)


def test_resume_asks_for_the_same(tmp_path):
    pack(photos(), tmp_path / "a.pen", keep_jpeg=True)

    assert pack(photos(), tmp_path / "a.pen", keep_jpeg=True, resume=True).samples == 5
    with pytest.raises(PackError, match="settings"):
        pack(photos(), tmp_path / "a.pen", resume=True)
