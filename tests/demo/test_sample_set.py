"""The sample set: always the same, like ImageNet in what decoding costs, careful with folders."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, JpegImagePlugin

from penstock.demo.made_set import MARKER_NAME
from penstock.demo.sample_set import make_sample_set
from penstock.errors import SourceError
from penstock.sources import open_image_folder


def digest(folder: Path) -> str:
    files = sorted(folder.rglob("*.jpg"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@pytest.fixture(scope="module")
def sample_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_sample_set(tmp_path_factory.mktemp("sample") / "set", images=100, progress=False)


def test_is_an_image_folder(sample_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", "/dev/null")
    source = open_image_folder(sample_set)
    assert len(source) == 100
    assert source.classes == tuple(f"class_{i}" for i in range(8))
    assert np.bincount(source.labels).tolist() == [13, 13, 13, 13, 12, 12, 12, 12]


def test_is_like_imagenet(sample_set: Path) -> None:
    """Tolerances are a fifth: the point is the cost of decoding, not the third digit."""
    pixels, size_bytes, samplings = [], [], Counter[int]()
    for file in sample_set.rglob("*.jpg"):
        with Image.open(file) as image:
            pixels.append(image.width * image.height)
            size_bytes.append(file.stat().st_size)
            samplings[JpegImagePlugin.get_sampling(image)] += 1
            assert image.mode in {"RGB", "L"}
            assert "progressive" not in image.info
    assert np.mean(pixels) == pytest.approx(210_000, rel=0.2)
    assert np.mean(size_bytes) == pytest.approx(110_000, rel=0.2)
    assert samplings == {0: 76, 2: 20, 1: 2, -1: 2}


def test_equal_arguments_make_equal_bytes(tmp_path: Path) -> None:
    first = digest(make_sample_set(tmp_path / "a", images=12, classes=3, seed=5))
    assert digest(make_sample_set(tmp_path / "b", images=12, classes=3, seed=5)) == first
    assert digest(make_sample_set(tmp_path / "c", images=12, classes=3, seed=6)) != first


def test_a_whole_set_is_left_alone(tmp_path: Path) -> None:
    folder = make_sample_set(tmp_path / "set", images=4, classes=2)
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    make_sample_set(folder, images=4, classes=2)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before


def test_an_interrupted_set_is_completed(tmp_path: Path) -> None:
    folder = make_sample_set(tmp_path / "set", images=4, classes=2)
    whole = digest(folder)
    (folder / "class_1" / "00001.jpg").unlink()
    marker = json.loads((folder / MARKER_NAME).read_text())
    del marker["bytes"]
    (folder / MARKER_NAME).write_text(json.dumps(marker))
    assert digest(make_sample_set(folder, images=4, classes=2)) == whole


def test_a_folder_with_other_files_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(SourceError, match="not empty, and not a sample set"):
        make_sample_set(tmp_path, images=4, classes=2)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("marker", ["", "[]", "{}", "nonsense", '{"images": 4}'])
def test_a_strange_marker_is_refused(tmp_path: Path, marker: str) -> None:
    (tmp_path / MARKER_NAME).write_text(marker)
    with pytest.raises(SourceError, match="not a sample set"):
        make_sample_set(tmp_path, images=4, classes=2)


def test_another_sample_set_is_refused(tmp_path: Path) -> None:
    make_sample_set(tmp_path / "set", images=4, classes=2)
    with pytest.raises(SourceError, match=r"another sample set .images 4, seed 0, classes 2"):
        make_sample_set(tmp_path / "set", images=5, classes=2)


@pytest.mark.parametrize(("images", "classes"), [(0, 1), (4, 0), (4, 5), (-1, 1)])
def test_every_class_needs_an_image(tmp_path: Path, images: int, classes: int) -> None:
    with pytest.raises(SourceError, match=f"{classes} classes for {images} images"):
        make_sample_set(tmp_path / "set", images=images, classes=classes)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        SourceError, match=r"file/set: the sample set cannot be written \(Not a dir"
    ):
        make_sample_set(tmp_path / "file" / "set", images=2, classes=2)
