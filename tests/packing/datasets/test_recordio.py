import struct

import numpy as np
import pytest

from dataset_samples import image_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.annotations import OUTSIDE
from penstock.packing.datasets.recordio import INDEX_DIFFERS, MAGIC_BYTES, NO_IMAGE, PADDING

JPEG = image_bytes(height=10, width=20)


def framed(record, flag=0):
    padding = -len(record) % 4
    return MAGIC_BYTES + struct.pack("<I", flag << 29 | len(record)) + record + bytes(padding)


def record(image=JPEG, label=0.0, labels=(), identity=0):
    header = struct.pack("<IfQQ", len(labels), label, identity, 0)
    return header + struct.pack(f"<{len(labels)}f", *labels) + image


@pytest.fixture
def rec(tmp_path):
    def write(*records):
        path = tmp_path / "x.rec"
        path.write_bytes(b"".join(records))
        return path

    return write


@pytest.mark.parametrize("name", ["benz_train", "darknet_dog_val"])
def test_real_boxes_are_those_of_the_list(outside_folder, name):
    """The .lst has the same numbers as text, with width and height before them."""
    folder = outside_folder / "formats" / "recordio"
    source = open_dataset(folder / f"{name}.rec")
    items = list(source.items())
    lines = (folder / f"{name}.lst").read_text().splitlines()

    assert source.length == len(items) == len(lines)
    for item, line in zip(items, lines, strict=True):
        _, _, _, width, height, *objects = line.split("\t")[:-1]
        rows = np.array(objects, float).reshape(-1, 5)
        scale = [float(width), float(height)] * 2
        assert item.columns["box_labels"].tolist() == rows[:, 0].tolist()
        np.testing.assert_allclose(item.columns["boxes"], rows[:, 1:] * scale, rtol=1e-5, atol=1e-3)
        assert item.data.startswith(b"\xff\xd8")


def test_real_oddities(outside_folder):
    folder = outside_folder / "formats" / "recordio"
    benz = open_dataset(folder / "benz_train.rec")
    dog = open_dataset(folder / "darknet_dog_val.rec")
    first, *_ = list(benz.items())

    assert first.name == "Mercedes/mercedes/1.jpg"
    assert first.columns["boxes"].tolist() == [[5, 5, 560, 550]]  # in 438 rows
    assert benz.findings.count(OUTSIDE) == 2
    assert [item.name for item in dog.items()] == [f"{i:08d}.jpg" for i in range(4)]


def test_labels(rec):
    whole = open_dataset(rec(framed(record(label=3.0)), framed(record(label=1.0))))
    assert [item.columns["label"] for item in whole.items()] == [3, 1]
    assert whole.columns[0].dtype == "int64"
    parts = open_dataset(rec(framed(record(label=0.5))))
    assert [item.columns["label"] for item in parts.items()] == [0.5]
    vectors = open_dataset(rec(framed(record(labels=[1.0, 0.0, 7.0]))))
    assert [item.columns["label_vector"].tolist() for item in vectors.items()] == [[1, 0, 7]]


def test_boxes_with_more_numbers_and_padding(rec):
    objects = [2, 6, 1, 0.1, 0.2, 0.5, 1.0, 9, -1, -1, -1, -1, -1, -1]
    source = open_dataset(rec(framed(record(labels=objects))))
    (item,) = source.items()

    np.testing.assert_allclose(item.columns["boxes"], [[2, 2, 10, 10]], atol=1e-5)
    assert item.columns["box_extra"].tolist() == [[9]]
    assert source.findings.count(PADDING) == 1


def test_records_that_were_split_at_the_magic_number(rec):
    image = JPEG + MAGIC_BYTES + b"tail"
    whole = record(image)
    cut = whole.index(MAGIC_BYTES)
    source = open_dataset(rec(framed(whole[:cut], 1), framed(whole[cut + 4 :], 3)))

    assert [item.data for item in source.items()] == [image]


def test_index_records_and_index_files(rec, tmp_path):
    path = rec(framed(record(b"", labels=[1.0, 2.0])), framed(record(label=4.0)))
    (tmp_path / "x.idx").write_text("0\t0\n")
    source = open_dataset(path)

    assert [item.columns["label"] for item in source.items()] == [4]
    assert source.findings.count(NO_IMAGE) == 1
    assert source.findings.count(INDEX_DIFFERS) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"abcdefgh", "no RecordIO mark"),
        (framed(b"short"), "too few"),
        (framed(struct.pack("<IfQQ", 2**31, 0, 0, 0)), "announces 2,147,483,648 labels"),
        (framed(record(), 3), "out of order"),
        (framed(record(), 1), "cut short"),
        (framed(record())[:-8], "cut short"),
        (framed(record(labels=[2, 5, 0, float("nan"), 0, 0, 0])), "finite"),
        (b"", "no image"),
    ],
)
def test_wrong_files_are_named(rec, content, message):
    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(rec(content)).items())
    assert "x.rec" in str(caught.value)


def test_damage_is_never_more_than_an_error(rec):
    whole = framed(record(labels=[2, 5, 1, 0.1, 0.2, 0.5, 1.0]))
    rng = np.random.default_rng(0)
    for _ in range(500):
        damaged = bytearray(whole)
        for position in rng.integers(0, 60, 3):
            damaged[position] = rng.integers(256)
        try:
            list(open_dataset(rec(bytes(damaged))).items())
        except SourceError as error:
            assert "x.rec" in str(error)
