import collections
import csv
import re
import struct

import numpy as np
import pytest

from dataset_samples import image_bytes, tf_framed
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.layout_source import FROM_0
from penstock.packing.datasets.tfrecord import BACKGROUND

pytest.importorskip("google_crc32c")
JPEG = image_bytes(height=10, width=20)


def message(number, content):
    """A length-delimited field of fewer than 2**14 bytes."""
    length = len(content)
    return bytes([number << 3 | 2, length & 127 | 128, length >> 7]) + content


def feature(value):
    if isinstance(value[0], bytes):
        return message(1, b"".join(message(1, blob) for blob in value))
    if isinstance(value[0], float):
        return message(2, message(1, struct.pack(f"<{len(value)}f", *value)))
    return message(3, message(1, bytes(value)))


def example(**features):
    entries = (
        message(1, message(1, name.replace("__", "/").encode()) + message(2, feature(value)))
        for name, value in features.items()
    )
    return message(1, b"".join(entries))


def box(**changes):
    sides = {"xmin": [0.1], "ymin": [0.2], "xmax": [0.5], "ymax": [1.0], **changes}
    return {f"image__object__bbox__{side}": value for side, value in sides.items()}


@pytest.fixture
def record_file(tmp_path):
    def write(*records, name="x.tfrecord"):
        path = tmp_path / name
        path.write_bytes(b"".join(tf_framed(record) for record in records))
        return path

    return write


def test_real_classification(outside_folder):
    """Labels read again by searching the file for the feature's name."""
    folder = outside_folder / "formats" / "tfrecord"
    path = folder / "flowers_validation_00001-of-00005.tfrecord"
    source = open_dataset(path)
    items = list(source.items())
    found = re.findall(rb"image/class/label\x12.\x1a.\x0a\x01(.)", path.read_bytes(), re.DOTALL)

    assert source.classes == ("daisy", "dandelion", "roses", "sunflowers", "tulips")
    assert len(items) == source.length == 70
    assert [item.columns["label"] for item in items] == [byte[0] for byte in found]
    assert len({item.name for item in items}) == 70
    assert all(item.data.startswith(b"\xff\xd8") for item in items)


def test_real_boxes_are_those_of_the_csv(outside_folder):
    folder = outside_folder / "formats" / "tfrecord"
    expected = collections.defaultdict(list)
    with (folder / "raccoon_test_labels.csv").open() as lines:
        for row in csv.DictReader(lines):
            corners = [float(row[side]) for side in ("xmin", "ymin", "xmax", "ymax")]
            expected[row["filename"]].append(corners)
    source = open_dataset(folder, split="raccoon_test")
    items = list(source.items())

    assert source.box_classes == ("raccoon",)
    assert {item.name for item in items} == set(expected)
    for item in items:
        np.testing.assert_allclose(item.columns["boxes"], expected[item.name], atol=1e-3)
        assert set(item.columns["box_labels"].tolist()) == {0}


def test_real_boxes_with_names_in_the_records(outside_folder):
    source = open_dataset(outside_folder / "formats" / "tfrecord" / "od115522_test.tfrecord")
    first, *rest = source.items()

    assert len(rest) == 11
    assert [source.box_classes[label] for label in first.columns["box_labels"]] == [
        "person",
        "street",
    ]
    np.testing.assert_allclose(
        first.columns["boxes"], [[134, 34, 211, 82], [19, 116, 96, 276]], atol=1e-3
    )


def test_label_map(outside_folder):
    folder = outside_folder / "formats" / "layouts" / "tf_detection_api_dataset"
    source = open_dataset(folder, split="train")
    (item,) = source.items()

    assert source.box_classes == tuple(f"label_{i}" for i in range(10))
    assert item.columns["boxes"].tolist() == [[0, 4, 4, 12], [0, 4, 4, 8]]
    assert item.columns["box_labels"].tolist() == [2, 3]
    assert source.findings.count(BACKGROUND) == 1
    assert open_dataset(folder / "test.tfrecord").columns == ()


def test_label_map_in_folders_of_splits(outside_folder):
    source = open_dataset(
        outside_folder / "formats" / "layouts" / "roboflow_dataset" / "tfrecord", split="val"
    )
    (item,) = source.items()

    np.testing.assert_allclose(item.columns["boxes"], [[0, 0, 1, 2], [0, 0, 9, 1]], atol=1e-5)
    assert [source.box_classes[label] for label in item.columns["box_labels"]] == [
        "label_0",
        "label_1",
    ]


def test_other_features_become_columns(record_file):
    extra = {"image__object__is_crowd": [1], "note": [b"hi"], "score": [0.5, 0.25]}
    path = record_file(
        example(image__encoded=[JPEG], image__object__class__label=[2], **box(), **extra),
        example(image__encoded=[JPEG]),
    )
    source = open_dataset(path)
    first, second = source.items()

    assert {c.name: c.kind for c in source.columns[2:]} == {
        "object_is_crowd": "ragged",
        "note": "bytes",
        "score": "ragged",
    }
    np.testing.assert_allclose(first.columns["boxes"], [[2, 2, 10, 10]], atol=1e-5)
    assert first.columns["note"] == b"hi"
    assert first.columns["score"].tolist() == [0.5, 0.25]
    assert second.columns["boxes"].shape == (0, 4)
    assert second.columns["object_is_crowd"].dtype == np.int64
    assert [item.name for item in source.items(1)] == ["00000001.jpg"]


@pytest.mark.parametrize(("numbers", "stored", "told"), [([1, 3], [0, 2], 0), ([0, 3], [0, 3], 2)])
def test_boxes_count_from_1_unless_there_is_a_0(record_file, numbers, stored, told):
    """The Detection API leaves 0 to the background; who uses it for a class counts from there."""
    source = open_dataset(
        record_file(
            *(
                example(image__encoded=[JPEG], image__object__class__label=[number], **box())
                for number in numbers
            )
        )
    )

    assert [item.columns["box_labels"].tolist() for item in source.items()] == [[n] for n in stored]
    assert source.findings.count(FROM_0) == told


def test_labels_that_are_only_text(record_file):
    texts = [b"dog", b"cat", b"dog"]
    source = open_dataset(
        record_file(*(example(image__encoded=[JPEG], image__class__text=[t]) for t in texts))
    )

    assert source.classes == ("cat", "dog")
    assert [item.columns["label"] for item in source.items()] == [1, 0, 1]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (example(pixels=[b"raw"]), "no feature image/encoded"),
        (example(image__encoded=[JPEG], image__object__class__label=[1], **box(xmin=[0.1, 0.2])),
         "left, top, right and bottom"),
        (example(image__encoded=[JPEG], **box()), "1 boxes but 0 labels"),
        (example(image__encoded=[JPEG], image__object__class__label=[1],
                 **box(xmin=[float("nan")])), "finite"),
        (example(image__encoded=[JPEG], image__filename=[b"../x.jpg"]), "leads out"),
        (example(image__encoded=[JPEG], image__class__label=[1, 2]), "one label per record"),
        (b"\x0a\x05abc", "a field of 5 bytes"),
        (b"\x0f", "wire type 7"),
        (b"\x80" * 11, "does not end"),
    ],
)  # fmt: skip
def test_wrong_records_are_named(record_file, record, message):
    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(record_file(record)).items())
    assert "x.tfrecord, record 0 (byte 0)" in str(caught.value)


def test_every_truncation_and_bit_flip_is_an_error(record_file):
    path = record_file(example(image__encoded=[JPEG[:40]], image__class__label=[1]))
    whole = path.read_bytes()
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(SourceError, match="cut short"):
            list(open_dataset(path).items())
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(SourceError, match=r"x\.tfrecord"):
            list(open_dataset(path).items())
