"""Lists of files, with and without labels."""

from pathlib import Path

import numpy as np
import pytest

from penstock.errors import SourceError
from penstock.sources import open_file_list


def test_str_bytes_and_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = open_file_list(iter(["/x/a.jpg", b"\xff.jpg", Path("b.jpg")]))
    assert source.paths(np.array([2, 1, 0])) == [
        str(tmp_path / "b.jpg"),
        f"{tmp_path}/\udcff.jpg",
        "/x/a.jpg",
    ]
    assert source.name(1) == "\\udcff.jpg"
    assert source.labels is None
    assert source.classes is None
    assert source.describe() == "list of files: 3 images, no labels"


@pytest.mark.parametrize(
    ("labels", "dtype", "expected", "classes"),
    [
        ([3, -1], np.int64, [3, -1], None),
        (np.array([3, 1], np.uint8), np.int64, [3, 1], None),
        ([0.5, 1], np.float64, [0.5, 1.0], None),
        (np.array([0.5, 1], np.float32), np.float32, [0.5, 1.0], None),
        (np.array([0.5, 1], np.float16), np.float32, [0.5, 1.0], None),
        ([[1, 0, 1], [0, 0, 1]], np.int64, [[1, 0, 1], [0, 0, 1]], None),
        ([(0.5, 0.25), (1, 0)], np.float64, [[0.5, 0.25], [1.0, 0.0]], None),
        (np.array([[True], [False]]), np.int64, [[1], [0]], None),
        ([np.array([1, 2]), np.array([3, 4])], np.int64, [[1, 2], [3, 4]], None),
        ({"b.jpg": 7, "a.jpg": 5}, np.int64, [5, 7], None),
        ({"./b.jpg": "dog", Path("a.jpg"): "cat"}, np.int64, [0, 1], ("cat", "dog")),
        ({"a.jpg": 5, "b.jpg": 7, "c.jpg": 9}, np.int64, [5, 7], None),
        (["dog", "cat"], np.int64, [1, 0], ("cat", "dog")),
        (iter([1, 2]), np.int64, [1, 2], None),
    ],
)
def test_labels(
    labels: object, dtype: type, expected: list[float], classes: tuple[str, ...] | None
) -> None:
    source = open_file_list(["a.jpg", "b.jpg"], labels)  # type: ignore[arg-type]
    assert source.labels.dtype == dtype
    assert source.labels.tolist() == expected
    assert source.classes == classes


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1], "1 labels for 2 files"),
        ([1, None], "got NoneType, int"),
        ([1, "cat"], "got int, str"),
        ([[1], [2, 3]], "vectors of 1 to 2 numbers"),
        ([[], []], "empty vectors"),
        ([1, [2]], "got int, list"),
        ([1, 2**70], "got int"),
        ([2**63, 2**63], "9223372036854775808 do not fit into 64 bits"),
        ({1, 2}, "labels are a set, which has no order"),
        (frozenset({1, 2}), "labels are a frozenset, which has no order"),
        ({"a.jpg": 1}, "1 of 2 files are not among .* the first is b.jpg, a key is 'a.jpg'"),
        ({"cat": 1, "dog": 2}, "2 of 2 files are not among the keys"),
        ({1: "a", 2: "b"}, "keys .* must be paths, got int 1"),
        ({"a.jpg": 1, "./a.jpg": 2, "b.jpg": 3}, "'a.jpg' and './a.jpg' are the same file"),
        (np.array(3), "a single number"),
        ([1.0, float("nan")], "label 1 is nan"),
        (["cat", ""], "label 1: the label is empty"),
    ],
)
def test_bad_labels(labels: list[object], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_file_list(["a.jpg", "b.jpg"], labels)


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "it is empty"),
        (["a.jpg", 3], "item 1: a path is needed, got int"),
        ([("a.jpg", 1)], "item 0: a path is needed, got tuple"),
        (["a.jpg", ""], "item 1: '' cannot name a file: it is empty"),
        (["a\0b"], "contains a zero byte"),
        (["\ud800.jpg"], "item 0: .*cannot name a file"),
        ({"a.jpg", "b.jpg"}, "the files are a set, which has no order"),
    ],
)
def test_bad_paths(paths: list[str], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_file_list(paths)
