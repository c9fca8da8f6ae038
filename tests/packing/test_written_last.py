"""What is written after all images is checked before the first of them."""

import json
import os

import pytest

from packing.samples import ListSource, image_file, mixed_source
from penstock.errors import PackError, SourceError
from penstock.packing import job as job_module
from penstock.packing.columns import check_schema
from penstock.packing.format import MOST_COLUMNS, MOST_USER_COLUMNS
from penstock.packing.items import BOX_LABELS, LABEL, Column, PackItem
from penstock.packing.pack import pack
from penstock.packing.shards import open_packed

pytestmark = pytest.mark.usefixtures("fake_codec")

LONE = "\ud83d"  # one half of a pair, as a cut JSON escape gives it


@pytest.fixture
def no_image(monkeypatch):
    """No image is even read."""

    def fail(_):
        raise AssertionError

    monkeypatch.setattr(job_module, "_read", fail)


@pytest.mark.usefixtures("no_image")
@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"classes": ("cat", LONE)}, r"classes, entry 1: .*cannot store '\\ud83d'.*Correct the"),
        ({"box_classes": (LONE, "dog")}, r"box_classes, entry 0: .*cannot store '\\ud83d'"),
        ({"classes": ("cat", 7)}, "classes, entry 1: .*needs str, got int"),
        ({"columns": (Column(LONE, "text"),)}, "name needs 1 to 120 printable bytes"),
        ({"columns": (Column("a\nb", "text"),)}, "name needs 1 to 120 printable bytes"),
        ({"columns": (Column("é" * 61, "text"),)}, "name needs 1 to 120 printable bytes"),
        ({"columns": (LABEL, LABEL)}, "declared twice"),
    ],
    ids=["class", "box class", "number", "column", "line feed", "long column", "twice"],
)
def test_names_that_cannot_be_written(tmp_path, change, told, shards):
    source = mixed_source()
    for name, value in change.items():
        setattr(source, name, value)
    with pytest.raises(PackError, match=told):
        pack(source, tmp_path / "a.pen", shards=shards)
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("no_image")
def test_a_coco_class_that_cannot_be_written(tmp_path):
    image = {"id": 1, "file_name": "1.jpg", "width": 16, "height": 12}
    box = {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 1, 4, 4]}
    classes = [{"id": 3, "name": LONE}]
    told = {"images": [image], "annotations": [box], "categories": classes}
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.jpg").write_bytes(image_file(0))
    (tmp_path / "coco.json").write_text(json.dumps(told))
    with pytest.raises(SourceError, match=r"class '\\ud83d' has a name that cannot be written"):
        pack(tmp_path / "coco.json", tmp_path / "a.pen", images=tmp_path / "images")
    assert sorted(os.listdir(tmp_path)) == ["coco.json", "images"]


@pytest.mark.usefixtures("no_image")
@pytest.mark.parametrize("ids", [(1, 2**63), (0, 1), (5, 5), (1,)])
def test_numbers_of_classes_that_cannot_be_read_again(tmp_path, ids):
    source = mixed_source()
    source.box_class_ids = ids
    with pytest.raises(PackError, match="box_class_ids must be different numbers"):
        pack(source, tmp_path / "a.pen")


def test_no_more_columns_than_can_be_read_again(tmp_path):
    item = PackItem("a.jpg", image_file(0), {"box_labels": []})
    source = ListSource([item], (BOX_LABELS,), box_classes=("one",), classes=("two",))
    pack(source, tmp_path / "a.pen")
    others = len(open_packed(tmp_path / "a.pen").files[0].entries) - 1
    assert MOST_USER_COLUMNS + others == MOST_COLUMNS

    columns = tuple(Column(f"c{number}", "text") for number in range(MOST_USER_COLUMNS))
    check_schema(columns)
    source.columns = (*columns, BOX_LABELS)
    with pytest.raises(PackError, match=r"columns: 9,\d+ are declared, at most 9,\d+"):
        pack(source, tmp_path / "b.pen")


def test_labels_of_several_numbers_have_no_class(tmp_path):
    column = Column("label", "fixed", "float32", (2,))
    item = PackItem("a.jpg", image_file(0), {"label": [0.5, 7]})
    assert pack(ListSource([item], (column,), ("a", "b")), tmp_path / "a.pen").samples == 1


@pytest.mark.parametrize("value", [[[1, 2], [3]], object(), {"a": 1}, "text", [None]])
def test_values_that_are_no_arrays_are_refused(tmp_path, value):
    item = PackItem("a.jpg", image_file(0), {"label": value})
    with pytest.raises(PackError, match=r"a\.jpg: column 'label' needs"):
        pack(ListSource([item], (LABEL,)), tmp_path / "a.pen")
    assert os.listdir(tmp_path) == []
