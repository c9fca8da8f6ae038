"""Datasets that read by OpenCV: accelerated if, and only if, Pillow gives the same pixels."""

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock.translation.pipeline_builder import find_difference
from tests.translation.accelerate.reading import accelerate

cv2 = pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """A photo of which EXIF says that it is to be turned."""
    path = tmp_path_factory.mktemp("turned") / "photo.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(path, exif=exif)
    return str(path)


def test_plain_files(load_arrays):
    import torch

    theirs = load_arrays(kind="ByOpenCV", batch_size=1)
    ours = accelerate(theirs)
    for (image, label), (expected, expected_label) in zip(ours, theirs, strict=True):
        assert torch.equal(image, expected)
        assert torch.equal(label, expected_label)


def test_a_turned_file(load_arrays, turned):
    theirs = load_arrays(kind="ByOpenCV", files=[turned])
    why = r"photo\.jpg has EXIF orientation 6, by which OpenCV turns it; ours has Pillow's pixels"
    with pytest.raises(penstock.TranslationError, match=why):
        accelerate(theirs)
    loader = accelerate(theirs, strict=False)
    assert "photo.jpg has EXIF orientation 6" in str(loader.translation)
    assert next(iter(loader))[0].shape == (1, 3, 20, 30)


@pytest.mark.parametrize("name", ["cmyk.jpg", "picture.png", "text.jpg", "empty.jpg"])
def test_other_files(broken_folder, name):
    (path,) = broken_folder.rglob(name)

    assert find_difference(cv2, [path]) == f"{path} is not a gray or RGB JPEG of 8 bits"


def test_a_long_header(tmp_path):
    """The orientation is found behind a profile that fills the first bytes of the file."""
    path = tmp_path / "long.jpg"
    Image.new("RGB", (8, 8)).save(path, icc_profile=bytes(200_000))

    assert find_difference(cv2, [path]) == ""
    assert "cannot be read (No such file" in find_difference(cv2, [tmp_path / "none.jpg"])


def test_every_file_at_hand(data_folder):
    """Hundreds of photos, odd ones among them: what is called the same, is the same."""
    compared = 0
    for path in sorted(data_folder.rglob("*.jp*g")):
        if find_difference(cv2, [path]):
            continue
        try:
            expected = np.asarray(Image.open(path).convert("RGB"))
        except (OSError, SyntaxError, Image.DecompressionBombError):
            continue
        pixels = cv2.imread(str(path))
        if pixels is not None:
            assert np.array_equal(pixels[:, :, ::-1], expected), path
            compared += 1
    assert compared > 100


def test_another_decoder(load_arrays, monkeypatch):
    decode = cv2.imdecode
    monkeypatch.setattr(cv2, "imdecode", lambda *given: decode(*given) // 2)

    assert "decodes JPEGs to other pixels than Pillow" in find_difference(cv2, [])
