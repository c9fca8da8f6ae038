"""What `inspect` says, and the contact sheet it draws."""

import json

import numpy as np
import PIL.Image
import pytest

from packing.samples import ListSource, image_file, mixed_source
from penstock.errors import PackError
from penstock.packing.inspect import CELL_PX, inspect, make_contact_sheet
from penstock.packing.items import BOX_LABELS, BOXES, REGRESSION_LABEL, Column, PackItem
from penstock.packing.pack import pack

pytestmark = pytest.mark.usefixtures("fake_codec")


def test_figures(tmp_path):
    pack(mixed_source(), tmp_path / "a.pen")
    found = inspect(tmp_path / "a.pen")

    assert found.height_px == (12, 12, 12)
    assert found.columns["boxes"] == "float32 (any, 4)"
    assert found.odd == {"raw: PNG, RGB": (2, "class1/1.png")}
    figures = json.loads(json.dumps(found.to_dict()))
    assert figures["storages"] == {"jpeg": 0, "dct": 4, "raw": 2}
    assert figures["classes"] == ["class0", "class1"]
    assert "column remark: text" in found.lines()
    assert "height x width: 12x16 at least, 12x16 median, 12x16 at most; 0 turned" in found.lines()


def test_no_samples(tmp_path):
    pack(ListSource([]), tmp_path / "a.pen")
    assert inspect(tmp_path / "a.pen").height_px is None
    with pytest.raises(PackError, match="no samples to show"):
        make_contact_sheet(tmp_path / "a.pen", tmp_path / "sheet.png")


def test_boxes_are_drawn_where_they_are(tmp_path):
    values = {"boxes": [[0, 0, 50, 100]], "box_labels": [1]}
    gray = image_file(0, (1, 1), "PNG", "L")
    image = PIL.Image.new("RGB", (200, 100), (10, 10, 10))
    image.save(tmp_path / "a.png")
    item = PackItem("a.png", tmp_path / "a.png", values)
    other = PackItem("b.png", gray, {"boxes": [[np.nan, -1e30, 1e30, 0]], "box_labels": []})
    pack(ListSource([item, other], (BOXES, BOX_LABELS)), tmp_path / "a.pen")
    assert make_contact_sheet(tmp_path / "a.pen", tmp_path / "sheet.png") == 2

    sheet = np.asarray(PIL.Image.open(tmp_path / "sheet.png")).astype(int)
    row = sheet[CELL_PX // 2, :CELL_PX]
    coloured = np.flatnonzero(row.max(axis=1) - row.min(axis=1) > 100)
    assert set(coloured) == {0, 1, 47, 48}  # a box of 50 in an image of 200 across 192 pixels


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_sheet_shows_labels_that_are_no_class(tmp_path, value):
    columns = (REGRESSION_LABEL, BOXES, Column("box_labels", "text"))
    values = {"label": value, "boxes": np.zeros((1, 4), np.float32), "box_labels": "none"}
    items = [PackItem("a.jpg", image_file(1), values)]
    pack(ListSource(items, columns, ("a", "b"), ("c",)), tmp_path / "odd.pen", progress=False)
    assert make_contact_sheet(tmp_path / "odd.pen", tmp_path / "sheet.png") == 1
