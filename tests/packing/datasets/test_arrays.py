"""HDF5 and LMDB."""

import io

import numpy as np
import pytest
from PIL import Image

from dataset_samples import image_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset

h5py = pytest.importorskip("h5py")
lmdb = pytest.importorskip("lmdb")


def pixels(item):
    return np.asarray(Image.open(io.BytesIO(item.data)))


@pytest.mark.parametrize(("part", "count"), [("train", 209), ("test", 50)])
def test_real_hdf5(outside_folder, part, count):
    path = outside_folder / "formats" / "hdf5" / f"{part}_catvnoncat.h5"
    source = open_dataset(path)
    items = list(source.items())
    with h5py.File(path) as file:
        images, labels = file[f"{part}_set_x"][:], file[f"{part}_set_y"][:]

    assert source.length == len(items) == count
    assert source.classes == ("non-cat", "cat")
    assert [item.columns["label"] for item in items] == labels.tolist()
    np.testing.assert_array_equal([pixels(item) for item in items], images)


def test_hdf5_forms(tmp_path):
    rng = np.random.default_rng(0)
    planes = rng.integers(0, 256, (3, 3, 6, 8), np.uint8)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["images"] = planes
        file["labels"] = np.array([[1], [0], [2]], np.uint8)
        file["pose"] = np.arange(6, dtype=">f4").reshape(3, 2)
        encoded = file.create_dataset("other/files", 3, h5py.vlen_dtype(np.uint8))
        for row in range(3):
            encoded[row] = np.frombuffer(image_bytes(), np.uint8)

    with pytest.raises(SourceError, match="images, other/files"):
        open_dataset(tmp_path / "a.h5")
    source = open_dataset(tmp_path / "a.h5", split="images")
    items = list(source.items(1))
    files = list(open_dataset(tmp_path / "a.h5", split="other/files").items())

    assert [int(item.columns["label"]) for item in items] == [0, 2]
    assert items[0].columns["pose"].tolist() == [2, 3]
    assert source.columns[1].dtype == "float32"
    np.testing.assert_array_equal(pixels(items[0]), planes[1].transpose(1, 2, 0))
    assert files[0].data == image_bytes()


def test_hdf5_without_images(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.zeros((4, 8, 8, 3), np.float32)

    with pytest.raises(SourceError, match=r"no images in it, but x float32\(4, 8, 8, 3\)"):
        open_dataset(tmp_path / "a.h5")
    (tmp_path / "b.h5").write_bytes((tmp_path / "a.h5").read_bytes()[:200])
    with pytest.raises(SourceError, match=r"b\.h5: HDF5 cannot read it"):
        open_dataset(tmp_path / "b.h5")


def test_real_caffe_datum(outside_folder):
    """The pixels lie in the last 196,608 bytes before the label, blue plane first."""
    path = outside_folder / "formats" / "lmdb" / "caffe_datum_train_lmdb"
    with lmdb.open(str(path), readonly=True, lock=False) as handle, handle.begin() as transaction:
        values = [value for _, value in transaction.cursor()]
    source = open_dataset(path)
    items = list(source.items())

    assert source.length == len(items) == 12
    for item, value in zip(items, values, strict=True):
        planes = np.frombuffer(value[-4 - 3 * 256 * 256 : -4], np.uint8).reshape(3, 256, 256)
        np.testing.assert_array_equal(pixels(item), planes[::-1].transpose(1, 2, 0))
        assert item.columns["label"] == value[-3]
    assert {item.columns["label"] for item in items} == {0, 1}
    assert [item.name for item in source.items(11)] == [items[11].name]


def test_real_encoded_images(outside_folder):
    path = outside_folder / "formats" / "lmdb" / "mmcv_demo.lmdb"
    source = open_dataset(path)
    (item,), (again,) = source.items(), open_dataset(path).items()

    assert item == again
    assert item.name == "baboon.png"
    assert pixels(item).shape == (120, 125, 3)
    assert source.columns == ()


@pytest.fixture
def environment(tmp_path):
    def write(**values):
        with lmdb.open(str(tmp_path / "db")) as handle, handle.begin(write=True) as transaction:
            for key, value in values.items():
                transaction.put(key.encode(), value)
        return tmp_path / "db"

    return write


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"\x80\x04K\x01.", "pickled"),
        (b"hello, world", "damaged|neither"),
        (b"\x08\x03\x10\x02\x18\x02\x22\x03abc", "3 bytes for"),
        (b"\x08\xff\xff\xff\xff\x0f\x10\xff\xff\xff\xff\x0f", "0 bytes for"),
    ],
)
def test_wrong_values_are_named(environment, value, message):
    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(environment(key=value)).items())
    assert "entry 0 (b'key')" in str(caught.value)


def test_not_an_environment(tmp_path):
    (tmp_path / "data.mdb").write_bytes(b"nothing")

    with pytest.raises(SourceError, match="LMDB cannot open it"):
        open_dataset(tmp_path)
