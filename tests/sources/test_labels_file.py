"""Folders with a labels file: every shape of table, and errors that name the line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import SourceError
from penstock.sources import FileSource, open_labels_file

Make = Callable[..., Path]


@pytest.fixture
def open_table(make_files: Make) -> Callable[..., FileSource]:
    """Return a function that writes a table beside a, b and sub/c .jpg and opens it."""
    root = make_files("a.jpg", "b.jpg", "sub/c.jpg")

    def write_and_open(table: str | bytes, **options: str) -> FileSource:
        file = root.parent / "labels.csv"
        file.write_bytes(table if isinstance(table, bytes) else table.encode())
        return open_labels_file(root, file, **options)  # type: ignore[arg-type]

    return write_and_open


Open = Callable[..., FileSource]


@pytest.mark.parametrize(
    "table",
    [
        "b.jpg,2\na.jpg,-1\n",
        "file,label\nb.jpg,2\na.jpg,-1",
        "Label\tFileName\r\n2\tb.jpg\r\n-1\ta.jpg\r\n",
        "\n\nfile;width;target\n\nb.jpg;9;2\n;;\na.jpg;8; -1\n",
        b'\xef\xbb\xbffile,label\nb.jpg,+2\n"a.jpg",-1\n',
    ],
    ids=["bare", "header", "tsv", "blank lines", "bom and quotes"],
)
def test_tables_of_any_shape(open_table: Open, table: str) -> None:
    source = open_table(table)
    assert [source.name(i) for i in range(len(source))] == ["b.jpg", "a.jpg"]
    assert source.labels.tolist() == [2, -1]
    assert source.labels.dtype == np.int64
    assert source.classes is None
    assert "integer labels" in source.describe()


def test_class_names_are_numbered_in_sorted_order(open_table: Open) -> None:
    source = open_table("a.jpg,zebra\nb.jpg,ant\nsub/c.jpg,zebra\n")
    assert source.classes == ("ant", "zebra")
    assert source.labels.tolist() == [1, 0, 1]
    assert source.paths(np.array([2]))[0].endswith("data/sub/c.jpg")


def test_one_decimal_makes_the_column_float(open_table: Open) -> None:
    source = open_table("a.jpg,3\nb.jpg,2.5\nsub/c.jpg,-1e-3\n")
    assert source.labels.dtype == np.float64
    assert source.labels.tolist() == [3.0, 2.5, -0.001]
    assert "float labels" in source.describe()


def test_numbers_may_be_class_names_if_asked(open_table: Open) -> None:
    source = open_table("a.jpg,007\nb.jpg,cat\n", label_kind="class")
    assert source.classes == ("007", "cat")


def test_columns_may_be_named(open_table: Open) -> None:
    table = "photo,wnid,label\na.jpg,n2,x\nb.jpg,n1,y\n"
    source = open_table(table, file_column="Photo", label_column="wnid")
    assert source.classes == ("n1", "n2")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a.jpg,1\nx.jpg,2\n", r"labels\.csv, line 2: no file x\.jpg in .*data\. Correct"),
        ("a.jpg,1\nno/such/x.jpg,2\n", "line 2: no file no/such/x.jpg"),
        ("img,cls\na.jpg,1\n", r"line 1: no file img .*If line 1 is a header"),
        ("a.jpg,1\nb.jpg,2\n./a.jpg,3\n", r"line 3: \./a\.jpg is already on line 1\."),
        ("a.jpg,1\nb.jpg,cat\n", r"line 2: label 'cat' is not an integer, but .*line 1.*'class'"),
        ("a.jpg,1.5\nb.jpg,nan\n", "line 2: label 'nan' is not a finite number"),
        ("a.jpg,1.5\nb.jpg,1e999\n", "line 2: label '1e999' is not a finite number"),
        ("a.jpg,1\nb.jpg,99999999999999999999\n", "line 2: label 9+ does not fit into 64 bits"),
        ("a.jpg,1\nb.jpg," + "9" * 5000, "line 2: label 9+ does not fit into 64 bits"),
        ("a.jpg,1\nb.jpg, \n", "line 2: the label is empty"),
        ("a.jpg,1\n,2\n", "line 2: the file name is empty"),
        ("a.jpg,1\nb.jpg\n", "line 2: 1 columns where the first line has 2"),
        ("a.jpg\nb.jpg\n", r"line 1: one column only, 'a\.jpg'"),
        ("a.jpg,1,2\n", r"line 1: 3 columns and no header that names them: 'a\.jpg', '1', '2'"),
        ("file,x,y\na.jpg,1,2\n", "line 1: no column that looks like a label; .*'file', 'x', 'y'"),
        ("file,class,label\na.jpg,1,2\n", "more than one column that looks like a label"),
        ("", "no line with a file and a label"),
        ("file,label\n", "no line with a file and a label"),
        ('a.jpg,"1\n' + "x" * 200_000, r"line \d or the next: not a table \(field larger"),
        ("a.jpg,1\n\0.jpg,2\n", r"line [12]"),
    ],
)
def test_errors_name_the_line(open_table: Open, table: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_table(table)


def test_an_unknown_column_is_named(open_table: Open) -> None:
    with pytest.raises(SourceError, match=r"no column 'wnid'; the columns are 'file', 'label'"):
        open_table("file,label\na.jpg,1\n", label_column="wnid")


def test_an_unknown_kind_is_refused(open_table: Open) -> None:
    with pytest.raises(SourceError, match=r"label_kind must be one of .*got 'text'"):
        open_table("a.jpg,1\n", label_kind="text")


def test_a_missing_table_is_named(make_files: Make, tmp_path: Path) -> None:
    root = make_files("a.jpg")
    with pytest.raises(SourceError, match=r"none\.csv: this labels file cannot be read \(No such"):
        open_labels_file(root, tmp_path / "none.csv")
    with pytest.raises(SourceError, match="it is a folder"):
        open_labels_file(root, tmp_path)


def test_names_that_are_not_utf8(make_files: Make, tmp_path: Path) -> None:
    root = make_files("\udcff.jpg")
    table = tmp_path / "labels.tsv"
    table.write_bytes(b"\xff.jpg\tcat\n")
    source = open_labels_file(root, table)
    assert source.paths(np.array([0])) == [f"{root}/\udcff.jpg"]
