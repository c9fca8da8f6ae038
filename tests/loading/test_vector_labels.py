"""Labels that are numbers, vectors or multi-hot come through packing as what they are."""

import json

import numpy as np
import pytest

from dataset_samples import image_bytes, tar_bytes
from penstock import Loader, pack
from penstock import transforms as T
from penstock.errors import TransformError

IMAGES = [image_bytes(value=value) for value in (10, 20, 30)]
HOT = [[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]


def write_parquet(path, label, kind):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"image": IMAGES, "label": pa.array(label, kind(pa))}), path)
    return path


def write_hdf5(path, label):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["images"] = np.zeros((3, 6, 8, 3), np.uint8)
        file["labels"] = label
    return path


def write_tar(path, labels):
    members = []
    for number, (image, label) in enumerate(zip(IMAGES, labels, strict=True)):
        text = json.dumps({"label": label}).encode()
        members += [(f"{number}.jpg", image), (f"{number}.json", text)]
    path.write_bytes(tar_bytes(members))
    return path


WRITERS = {
    "parquet, fixed size": (
        lambda folder: write_parquet(
            folder / "a.parquet", HOT, lambda pa: pa.list_(pa.float32(), 4)
        ),
        np.array(HOT, np.float32),
    ),
    "parquet, lists of one length": (
        lambda folder: write_parquet(folder / "a.parquet", HOT, lambda pa: pa.list_(pa.int64())),
        np.array(HOT),
    ),
    "parquet, numbers": (
        lambda folder: write_parquet(folder / "a.parquet", [0.5, 1, 2], lambda pa: pa.float32()),
        np.array([0.5, 1, 2]),
    ),
    "hdf5": (
        lambda folder: write_hdf5(folder / "a.h5", np.array(HOT, np.uint8)),
        np.array(HOT, np.uint8),
    ),
    "webdataset, lists": (lambda folder: write_tar(folder / "a.tar", HOT), np.array(HOT)),
    "webdataset, numbers": (
        lambda folder: write_tar(folder / "a.tar", [0.5, 1, 2.25]),
        np.array([0.5, 1, 2.25]),
    ),
}


@pytest.mark.parametrize("layout", WRITERS)
def test_labels_are_those_of_the_data(tmp_path, layout):
    write, expected = WRITERS[layout]
    pack(write(tmp_path), tmp_path / "a.pen", progress=False)
    options = {"batch_size": 3, "output": "numpy"}
    ((_, labels),) = Loader(tmp_path / "a.pen", **options)
    ((_, column),) = Loader(tmp_path / "a.pen", columns=["label"], **options)

    assert labels.dtype == column.dtype == expected.dtype
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(column, expected)


def test_lists_of_different_lengths_are_a_column(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", [[1], [], [3, 4]], lambda pa: pa.list_(pa.int64()))
    pack(path, tmp_path / "a.pen", progress=False)
    ((_, values),) = Loader(
        tmp_path / "a.pen", batch_size=3, columns=["label_field"], output="numpy"
    )

    assert [value.tolist() for value in values] == [[1], [], [3, 4]]


def test_vectors_cannot_be_mixed(tmp_path):
    pack(write_tar(tmp_path / "a.tar", HOT), tmp_path / "a.pen", progress=False)
    transform = T.ToDtype("float32", scale=True)

    with pytest.raises(TransformError, match=r"there are integer labels of 4 numbers"):
        Loader(tmp_path / "a.pen", transform=transform, batch_transform=T.MixUp(num_classes=4))
