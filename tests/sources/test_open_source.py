"""`open_source` tells folders, lists and sources apart, and refuses the rest clearly."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import SourceError
from penstock.sources import Source, open_source

Make = Callable[..., Path]


def test_a_folder_of_classes(make_files: Make) -> None:
    root = make_files("a/1.jpg", "b/2.jpg")
    for data in (root, str(root), str(root).encode()):
        source = open_source(data)
        assert isinstance(source, Source)
        assert source.classes == ("a", "b")


def test_a_folder_with_a_labels_file(make_files: Make, tmp_path: Path) -> None:
    root = make_files("1.jpg")
    (tmp_path / "labels.csv").write_text("1.jpg,0.5\n")
    assert open_source(root, tmp_path / "labels.csv").labels.tolist() == [0.5]


def test_lists_and_iterators(make_files: Make) -> None:
    root = make_files("a/1.jpg", "b/2.jpg")
    files = sorted(root.rglob("*.jpg"))
    for data in (files, tuple(files), iter(files), root.rglob("*.jpg"), np.array(files, str)):
        assert len(open_source(data)) == 2
    assert open_source(files, labels=["x", "y"]).classes == ("x", "y")


def test_a_source_is_returned_as_it_is(make_files: Make) -> None:
    source = open_source(make_files("a/1.jpg"))
    assert open_source(source) is source
    with pytest.raises(SourceError, match=r"has its own\. Leave labels out"):
        open_source(source, labels=[1])


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        ("train.pen", None, r"train\.pen: a packed file, where files of images are needed"),
        ("missing", None, "missing: no such folder"),
        (None, None, "got NoneType"),
        (7, None, "got int"),
        ({"a": 1}, None, "got dict"),
        ([], None, "it is empty"),
        (["a.jpg"], "labels.csv", "goes with a folder"),
        (".", [1, 2], "must be the path of a labels file or a dictionary .* got list"),
    ],
)
def test_what_is_refused(data: object, labels: object, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(data, labels)  # type: ignore[arg-type]
