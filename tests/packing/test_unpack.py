"""The original files come back."""

import io
import json
import tarfile

import numpy as np
import PIL.Image
import pytest

from packing.samples import ListSource, image_file, mixed_source
from penstock.errors import PackError
from penstock.packing import records
from penstock.packing.items import LABEL, PackItem
from penstock.packing.pack import pack
from penstock.packing.unpack import COLUMNS_FILE, unpack
from penstock.packing.verify import verify

pytestmark = pytest.mark.usefixtures("fake_codec")


def pixels(data):
    return np.asarray(PIL.Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize("shards", [1, 2])
def test_a_folder(tmp_path, shards):
    source = mixed_source()
    pack(source, tmp_path / "a.pen", shards=shards)
    unpacked = unpack(tmp_path / "a.pen", tmp_path / "out")

    assert (unpacked.files, unpacked.identical, unpacked.pixels, unpacked.lossy) == (6, 4, 2, 0)
    for item in source.listed:
        data = (tmp_path / "out" / item.name).read_bytes()
        if item.name.endswith(".png"):
            np.testing.assert_array_equal(pixels(data), pixels(item.data))
        else:
            assert data == item.data
    lines = [json.loads(line) for line in (tmp_path / "out" / COLUMNS_FILE).open()]
    assert [line["file"] for line in lines] == [item.name for item in source.listed]
    assert lines[2]["columns"]["boxes"] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_tar(tmp_path):
    source = mixed_source()
    pack(source, tmp_path / "a.pen")
    unpack(tmp_path / "a.pen", tmp_path / "a.tar", format="tar")

    with tarfile.open(tmp_path / "a.tar") as tar:
        names = tar.getnames()
        assert names[:3] == ["000000000.jpg", "000000000.cls", "000000000.json"]
        assert tar.extractfile("000000000.jpg").read() == source.listed[0].data
        assert tar.extractfile("000000001.cls").read() == b"1"
        assert json.load(tar.extractfile("000000005.json"))["file"] == "class1/5.jpeg"


def test_endings_follow_the_content(tmp_path):
    items = [
        PackItem("a.bmp", image_file(0, format="BMP")),
        PackItem("b.png", image_file(1)),  # a JPEG with a false name: comes back as it was
    ]
    pack(ListSource(items), tmp_path / "a.pen")
    unpack(tmp_path / "a.pen", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.bmp.png", "b.png"]

    pack(ListSource(items), tmp_path / "b.pen", quality=80)
    unpacked = unpack(tmp_path / "b.pen", tmp_path / "lossy")
    assert sorted(path.name for path in (tmp_path / "lossy").iterdir()) == [
        "a.bmp.jpg",
        "b.png.jpg",
    ]
    assert unpacked.lossy == 2


def test_what_is_there_is_not_overwritten(tmp_path):
    pack(mixed_source(), tmp_path / "a.pen")
    for format in ("tar", "folder"):
        with pytest.raises(PackError, match="exists already"):
            unpack(tmp_path / "a.pen", tmp_path, format=format)
    with pytest.raises(PackError, match="format"):
        unpack(tmp_path / "a.pen", tmp_path / "out", format="zip")


def test_a_file_that_is_not_the_original_is_found(tmp_path, monkeypatch):
    """As a faulty version might write it: all checksums are right, and all images decode."""
    encode = records.encode_jpeg
    monkeypatch.setattr(records, "encode_jpeg", lambda _: encode(image_file(1)))
    item = PackItem("a.jpg", image_file(0), {"label": 0})
    pack(ListSource([item], (LABEL,)), tmp_path / "a.pen")

    with pytest.raises(
        PackError, match=r"sample 0 \(a\.jpg\): the file rebuilt .* not the original"
    ):
        unpack(tmp_path / "a.pen", tmp_path / "out")
    assert verify(tmp_path / "a.pen", deep=True).intact
    (problem,) = verify(tmp_path / "a.pen", originals=True).problems
    assert "not the original" in problem


def test_a_target_named_tar_is_a_tar(tmp_path):
    pack(mixed_source(), tmp_path / "a.pen")
    unpack(tmp_path / "a.pen", tmp_path / "files.tar")

    assert tarfile.is_tarfile(tmp_path / "files.tar")
