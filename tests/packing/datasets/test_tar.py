import gzip
import json
import tarfile

import pytest

from dataset_samples import image_bytes, tar_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.tar import LINKS, NO_END

JPEG = image_bytes()
LABELLED = [
    ("a/0001.jpg", JPEG),
    ("a/0001.cls", b"3\n"),
    ("a/0001.json", b'{"caption": "x"}'),
    ("a/0002.JPG", image_bytes(value=10)),
    ("a/0002.cls", b"1"),
    ("a/0002.seg.png", b"mask"),
    ("README", b"left out"),
]


@pytest.fixture
def archive(tmp_path):
    def write(members, name="train.tar"):
        path = tmp_path / name
        path.write_bytes(tar_bytes(members))
        return path

    return write


def test_real_shards(outside_folder):
    """Read again with tarfile: names, and every byte."""
    folder = outside_folder / "formats" / "webdataset"
    source = open_dataset(folder)
    expected = {}
    for shard in sorted(folder.glob("*.tar")):
        with tarfile.open(shard) as tar:
            for member in tar:
                expected[f"{shard.stem}/{member.name}"] = tar.extractfile(member).read()

    assert source.length == 11
    assert {item.name: item.data for item in source.items()} == expected
    assert source.columns == ()


def test_real_imagenet_archives(outside_folder):
    folder = outside_folder / "formats" / "imagenet_tar"
    train = open_dataset(folder / "ILSVRC2012_img_train.tar")
    val = open_dataset(folder / "ILSVRC2012_img_val.tar")
    items = list(train.items())

    assert train.kind == val.kind == "imagenet"
    assert train.length == len(items) == 100
    assert len(train.classes) == 10
    assert train.classes[0] == "n01440764"
    assert all(train.classes[item.columns["label"]] == item.name[:9] for item in items)
    assert all(item.data.startswith(b"\xff\xd8") for item in items)
    assert [item.name for item in train.items(95)] == [item.name for item in items[95:]]
    assert min(item.name for item in val.items()) == "ILSVRC2012_val_0000001.JPEG"
    assert "no labels" in val.describe()


def test_validation_labels_from_a_list_beside_it(archive, tmp_path):
    names = [f"ILSVRC2012_val_{i:08d}.JPEG" for i in (2, 1)]
    path = archive([(name, JPEG) for name in names])
    (tmp_path / "imagenet_2012_validation_synset_labels.txt").write_text("n02\nn01\n")
    source = open_dataset(path)

    assert source.classes == ("n01", "n02")
    assert [item.columns["label"] for item in source.items()] == [0, 1]


def test_fields_of_a_sample(archive):
    source = open_dataset(archive(LABELLED))
    first, second = source.items()

    assert {column.name: column.kind for column in source.columns} == {
        "label": "fixed",
        "json": "text",
        "seg_png": "bytes",
    }
    assert first.name == "a/0001.jpg"
    assert first.data == JPEG
    assert first.columns == {"label": 3, "json": '{"caption": "x"}', "seg_png": b""}
    assert second.columns == {"label": 1, "json": "", "seg_png": b"mask"}
    assert [item.name for item in source.items(1)] == ["a/0002.jpg"]


def test_classes_by_name_and_labels_in_json(archive):
    named = [("1.png", JPEG), ("1.cls", b"dog"), ("2.png", JPEG), ("2.cls", b"cat")]
    in_json = [("1.jpg", JPEG), ("1.json", json.dumps({"label": 5}).encode())]

    by_name = open_dataset(archive(named))
    assert by_name.classes == ("cat", "dog")
    assert [item.columns["label"] for item in by_name.items()] == [1, 0]
    (item,) = open_dataset(archive(in_json)).items()
    assert item.columns["label"] == 5


def test_shards_keep_equal_names_apart(archive, tmp_path):
    archive([("0.jpg", JPEG)], "a.tar")
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(tar_bytes([("0.jpg", JPEG)])))

    assert [item.name for item in open_dataset(tmp_path).items()] == ["a/0.jpg", "b/0.jpg"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("1.jpg", JPEG), ("../2.jpg", JPEG)], "leads out"),
        ([("1.jpg", JPEG), ("/etc/2.jpg", JPEG)], "leads out"),
        ([("1.jpg", JPEG), ("1.jpg", JPEG)], "two .jpg"),
        ([("1.jpg", JPEG), ("1.png", JPEG)], "one image"),
        ([("1.txt", b"")], "one image"),
        ([("1.jpg", JPEG), ("1.cls", b"1"), ("2.jpg", JPEG)], "no label"),
        ([("1.jpg", JPEG), ("2.jpg", JPEG), ("2.cls", b"1")], "a label"),
        ([("1.jpg", JPEG), ("1.json", b"{")], "not valid JSON"),
        ([("README", b"")], "no sample"),
    ],
)
def test_wrong_archives_are_named(archive, members, message):
    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(archive(members)).items())
    assert "train.tar" in str(caught.value)


def test_links_are_left_out_and_counted(tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tar_bytes([("1.jpg", JPEG)]))
    with tarfile.open(path, "a") as tar:
        link = tarfile.TarInfo("2.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    source = open_dataset(path)

    assert [item.name for item in source.items()] == ["1.jpg"]
    assert source.findings.count(LINKS) == 1


def test_every_truncation_is_an_error_or_noted(tmp_path):
    whole = tar_bytes([("1.jpg", JPEG), ("2.jpg", JPEG)])
    path = tmp_path / "x.tar"
    for length in range(0, len(whole), 37):
        path.write_bytes(whole[:length])
        try:
            source = open_dataset(path)
            count = len(list(source.items()))
        except SourceError as error:
            assert "x.tar" in str(error)
        else:
            assert count == 2 or source.findings.count(NO_END) == 1


def test_a_damaged_header_is_no_end(tmp_path):
    """tarfile alone would give one sample and no error."""
    whole = bytearray(tar_bytes([("1.jpg", JPEG), ("2.jpg", JPEG)]))
    second = whole.index(b"2.jpg")
    whole[second + 150] ^= 1
    path = tmp_path / "x.tar"
    path.write_bytes(whole)

    with pytest.raises(SourceError, match=f"byte {second:,}: no valid header"):
        list(open_dataset(path).items())
