"""What goes into a packed file comes out again."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from packing.samples import ListSource, image_file, mixed_source
from penstock.errors import PackError
from penstock.packing.format import DTYPES
from penstock.packing.index import Tables
from penstock.packing.items import Column, PackItem
from penstock.packing.pack import pack
from penstock.packing.read import PackFile
from penstock.packing.records import Record, read_image
from penstock.packing.shards import open_packed
from penstock.packing.verify import verify
from penstock.packing.write import PackWriter

pytestmark = pytest.mark.usefixtures("fake_codec")

texts = st.text(st.characters(codec="utf-8") | st.sampled_from(["\udc80", "\udcff"]), max_size=8)
shapes = st.lists(st.integers(1, 3), max_size=2).map(tuple)


@st.composite
def columns_with_values(draw):
    """A schema, and values of some samples."""
    columns, strategies = [], []
    for number in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["fixed", "ragged", "text", "bytes"]))
        name = f"column {number}"
        if kind in {"fixed", "ragged"}:
            dtype, shape = draw(st.sampled_from(DTYPES[1:])), draw(shapes)
            columns.append(Column(name, kind, dtype, shape))
            rows = (draw(st.integers(0, 3)),) if kind == "ragged" else ()
            strategies.append(hnp.arrays(np.dtype(dtype), rows + shape))
        else:
            columns.append(Column(name, kind))
            strategies.append(texts if kind == "text" else st.binary(max_size=8))
    rows = draw(st.lists(st.tuples(*strategies), max_size=4))
    return columns, rows


def write(target, columns, rows, tables=None):
    tables = tables or Tables(None, None, ())
    with PackWriter(str(target), columns, tables) as writer:
        for number, row in enumerate(rows):
            values = {column.name: value for column, value in zip(columns, row, strict=True)}
            record = Record(bytes([number]) * (number + 1), "jpeg", 1, 1, 1, "pixels", 0, 0)
            writer.add(PackItem(f"{number}\udcff.png", b"", values), record)
        writer.finish()
    return PackFile(target)


@given(columns_with_values())
@settings(max_examples=60, deadline=None)
def test_columns_come_back_as_they_were(drawn):
    columns, rows = drawn
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder) / "a.pen", columns, rows)

        assert len(file) == len(rows)
        assert file.schema == tuple(columns)
        for index, row in enumerate(rows):
            assert file.name(index) == f"{index}\udcff.png"
            assert file.record(index) == bytes([index]) * (index + 1)
            for column, value in zip(columns, row, strict=True):
                np.testing.assert_array_equal(file.columns[column.name][index], value, strict=True)
        assert verify(file.path).problems == ()


def test_all_storages_and_columns(tmp_path):
    source = mixed_source()
    summary = pack(source, tmp_path / "a.pen")
    data = open_packed(tmp_path / "a.pen")

    assert summary.storages == {"jpeg": 0, "dct": 4, "raw": 2}
    assert summary.restores == {"bytes": 4, "pixels": 2, "lossy": 0}
    assert data.table("classes") == ("class0", "class1")
    assert data.table("box_classes") == ("one", "two")
    for index, item in enumerate(source.listed):
        sample = data.sample(index)
        assert (sample.name, sample.height, sample.width) == (item.name, 12, 16)
        for name, value in item.columns.items():
            np.testing.assert_array_equal(data.value(name, index), value)
    assert verify(tmp_path / "a.pen", deep=True).intact
    assert verify(tmp_path / "a.pen", originals=True).intact


def test_no_samples_at_all(tmp_path):
    summary = pack(ListSource([]), tmp_path / "a.pen")

    assert summary.samples == len(open_packed(tmp_path / "a.pen")) == 0
    assert verify(tmp_path / "a.pen", deep=True).intact
    assert verify(tmp_path / "a.pen", originals=True).intact


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (40, 30)])
@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "1"])
def test_pixels_of_other_formats_are_pillows(tmp_path, size, mode):
    data = image_file(0, size, "PNG", mode)
    pack(ListSource([PackItem("a.png", data)]), tmp_path / "a.pen")
    image = read_image(PackFile(tmp_path / "a.pen"), 0)

    import io

    import PIL.Image

    expected = PIL.Image.open(io.BytesIO(data)).convert("RGB")
    np.testing.assert_array_equal(np.asarray(image), np.asarray(expected), strict=True)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_file_does_not_depend_on_threads(tmp_path, threads):
    pack(mixed_source(20), tmp_path / "one.pen", threads=1)
    pack(mixed_source(20), tmp_path / "many.pen", threads=threads)

    assert (tmp_path / "one.pen").read_bytes() == (tmp_path / "many.pen").read_bytes()


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        (Column("a", "fixed", "int64"), 1.5, "needs int64, got float64"),
        (Column("a", "fixed", "uint8"), 256, "does not fit uint8"),
        (Column("a", "fixed", "int64", (2,)), [1], r"needs shape \(2\), got \(1,\)"),
        (Column("a", "ragged", "float32", (4,)), [[1, 2]], r"needs shape \(any, 4\), got \(1, 2\)"),
        (Column("a", "text"), b"x", "needs str, got bytes"),
        (Column("a", "bytes"), "x", "needs bytes, got str"),
        (Column("a", "text"), "\ud800", "cannot store"),
    ],
)
def test_values_that_do_not_fit_are_errors(tmp_path, column, value, told):
    item = PackItem("x.jpg", image_file(0), {"a": value})
    with pytest.raises(PackError, match=f"x.jpg: column 'a'.*{told}"):
        pack(ListSource([item], (column,)), tmp_path / "a.pen")


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ((Column("", "text"),), "name needs"),
        ((Column("x" * 121, "text"),), "name needs"),
        ((Column("a", "text"), Column("a", "bytes")), "declared twice"),
        ((Column("a", "fixed", "object"),), "dtype 'object'"),
        ((Column("a", "fixed", "int8", (0,)),), "shape"),
        ((Column("a", "fixed", "int8", (65535,) * 3),), "more than 1,073,741,824"),
        ((Column("a", "pickle"),), "kind 'pickle'"),
    ],
)
def test_columns_that_cannot_be_stored_are_errors(tmp_path, columns, told):
    with pytest.raises(PackError, match=told):
        pack(ListSource([], columns), tmp_path / "a.pen")


def test_columns_other_than_declared_are_errors(tmp_path):
    item = PackItem("x.jpg", image_file(0), {"b": 1})
    with pytest.raises(PackError, match=r"missing: a; not declared: b"):
        pack(ListSource([item], (Column("a", "text"),)), tmp_path / "a.pen")
