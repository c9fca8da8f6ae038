"""Where a wrong guess would be silent: labels that are none, classes and splits that are none."""

import json

import numpy as np
import pytest

from dataset_samples import image_bytes, tar_bytes
from packing.samples import image_file
from penstock import SourceError, pack
from penstock.packing.datasets import open_dataset
from penstock.packing.shards import open_packed


def names_of(source):
    return [column.name for column in source.columns]


def test_a_list_of_files_without_labels_gets_none(tmp_path):
    (tmp_path / "a.jpg").write_bytes(image_file(0))
    summary = pack([tmp_path / "a.jpg"], tmp_path / "a.pen")
    assert summary.columns == ()
    assert "No labels were recognised." in summary.remarks
    pack([tmp_path / "a.jpg"], tmp_path / "b.pen", labels=[7])
    assert open_packed(tmp_path / "b.pen").value("label", 0) == 7


def write_parquet(path, **columns):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"image": [image_bytes()] * 2, **columns}), path)
    return path


def test_other_columns_of_parquet_are_no_labels(tmp_path):
    source = open_dataset(write_parquet(tmp_path / "a.parquet", score=[0.5, 1.5], text=["a", "b"]))
    assert names_of(source) == ["score", "text"]
    summary = pack(source, tmp_path / "a.pen")
    assert "No labels were recognised; score, text are kept as they are." in summary.remarks


def test_every_form_of_label_in_parquet_is_one(tmp_path):
    pa = pytest.importorskip("pyarrow")
    for values, expected in (
        (pa.array([True, False]), [1, 0]),
        (pa.array(["b", "a"], pa.large_string()), [1, 0]),
        (pa.array(["b", "a"]).dictionary_encode(), [1, 0]),
    ):
        source = open_dataset(write_parquet(tmp_path / "a.parquet", label=values))
        assert [item.columns["label"] for item in source.items()] == expected
    with pytest.raises(SourceError, match="label is nan, not a finite number"):
        list(open_dataset(write_parquet(tmp_path / "a.parquet", label=[1.0, np.nan])).items())


def test_a_lone_array_of_hdf5_is_no_label_by_itself(tmp_path):
    h5py = pytest.importorskip("h5py")
    for name, found in (("timestamps", "timestamps"), ("y", "label")):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["x"] = np.zeros((2, 4, 4, 3), np.uint8)
            file[name] = np.array([5, 6])
        assert names_of(open_dataset(tmp_path / "a.h5")) == [found]


def test_a_datum_without_a_label_has_none(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    pixels = b"\x08\x01\x10\x01\x18\x01\x22\x01a"
    for name, values in (("none", [pixels] * 2), ("some", [pixels, pixels + b"\x28\x03"])):
        with lmdb.open(str(tmp_path / name)) as handle, handle.begin(write=True) as transaction:
            for number, value in enumerate(values):
                transaction.put(str(number).encode(), value)
    assert names_of(open_dataset(tmp_path / "none")) == []
    assert [item.columns for item in open_dataset(tmp_path / "none").items()] == [{}, {}]
    with pytest.raises(SourceError, match="some entries have a label and some have none"):
        list(open_dataset(tmp_path / "some").items())


def write_tar(path, *members):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(tar_bytes(members))


def test_training_and_test_archives_are_not_mixed(tmp_path):
    for name in ("train-0000", "train-0001", "val-0000"):
        write_tar(tmp_path / "set" / f"{name}.tar", ("a.jpg", image_bytes()), ("a.cls", b"1"))
    with pytest.raises(SourceError, match="several splits: train, val, all"):
        open_dataset(tmp_path / "set")
    counts = {name: open_dataset(tmp_path / "set", split=name).length for name in ("train", "all")}
    assert counts == {"train": 2, "all": 3}


def test_archives_of_other_names_are_one_set(tmp_path):
    for name in ("cats", "dogs", "0001"):
        write_tar(tmp_path / "set" / f"{name}.tar", ("a.jpg", image_bytes()))
    assert open_dataset(tmp_path / "set").length == 3


def test_folders_in_an_archive_are_told_not_to_be_classes(tmp_path):
    write_tar(tmp_path / "a.tar", ("cat/1.jpg", image_bytes()), ("dog/2.jpg", image_bytes()))
    summary = pack(tmp_path / "a.tar", tmp_path / "a.pen")
    assert any("folders, which are not taken for classes" in line for line in summary.lines())


def test_a_label_in_json_that_is_no_class_is_refused(tmp_path):
    members = [("a.jpg", image_bytes()), ("a.json", json.dumps({"label": {"a": 1}}).encode())]
    write_tar(tmp_path / "a.tar", *members)
    with pytest.raises(SourceError, match=r"the label in its \.json is \{'a': 1\}"):
        open_dataset(tmp_path / "a.tar")


def test_the_yaml_file_that_is_given_is_the_one_that_is_read(tmp_path):
    pytest.importorskip("yaml")
    for folder, name, data in (("images", "a.jpg", image_bytes()), ("labels", "a.txt", b"")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(data)
    (tmp_path / "a.yaml").write_text("names: [cat]")
    (tmp_path / "b.yaml").write_text("names: [dog]")
    assert open_dataset(tmp_path / "b.yaml").box_classes == ("dog",)
    with pytest.raises(SourceError, match=r"a\.yaml, b\.yaml give different names"):
        open_dataset(tmp_path)


def test_extensions_count_in_any_case(tmp_path):
    write_parquet(tmp_path / "part-000.parquet", label=[0, 1])
    write_parquet(tmp_path / "part-001.PARQUET", label=[0, 1])
    assert open_dataset(tmp_path).length == 4


def test_classes_named_by_numbers_are_remarked(tmp_path):
    for name in ("1", "2", "10"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "a.jpg").write_bytes(image_file(0))
    summary = pack(tmp_path / "data", tmp_path / "a.pen")
    assert any("class '1' has label 0" in line for line in summary.lines())
    assert summary.lines()[0].startswith("packed from")
    assert "3 images in 3 classes" in summary.lines()[0]


def test_labels_outside_the_classes_are_remarked(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    features = {"label": {"_type": "ClassLabel", "names": ["cat", "dog"]}}
    table = pa.table({"image": [image_bytes()] * 2, "label": [1, -1]})
    metadata = json.dumps({"info": {"features": features}})
    pq.write_table(table.replace_schema_metadata({"huggingface": metadata}), tmp_path / "a.parquet")
    summary = pack(tmp_path / "a.parquet", tmp_path / "a.pen")
    assert any(remark.startswith("1 labels are not the number") for remark in summary.remarks)
