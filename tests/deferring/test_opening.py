import io
import warnings

import pytest
from PIL import Image

pytest.importorskip("torch")

from penstock.deferring.counts import Counts, deferring
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import open_image
from tests.deferring.pictures import FILES, coded, opened, picture

ORDINARY = {"cmyk", "cut short", "gif", "mpo", "png of frames", "tiff"}
REFUSED = {"nothing", "no image"}


@pytest.mark.parametrize("name", [name for name in FILES if name not in REFUSED])
def test_what_may_be_wrong_is_ordinary(name):
    image = opened(FILES[name], deferred=True)

    assert (type(image) is DeferredImage) == (name not in ORDINARY)
    assert isinstance(image, Image.Image)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_pillow_says_what_is_no_image(name):
    with pytest.raises(OSError) as expected:
        Image.open(io.BytesIO(FILES[name]))
    with deferring(Counts()), pytest.raises(expected.type):
        open_image(io.BytesIO(FILES[name]))


def test_a_missing_file_is_missing(tmp_path):
    with deferring(Counts()), pytest.raises(FileNotFoundError):
        open_image(tmp_path / "none.jpg")


@pytest.mark.parametrize("kind", [str, bytes, lambda path: path], ids=["str", "bytes", "Path"])
@pytest.mark.parametrize("name", ["rgb", "png", "cmyk"])
def test_an_image_knows_the_name_of_its_file(tmp_path, kind, name):
    path = tmp_path / "one.image"
    path.write_bytes(FILES[name])
    given = kind(path) if kind is not bytes else bytes(path)
    with Image.open(given) as image:
        expected = image.filename
    with deferring(Counts()), open_image(given) as image:
        assert image.filename == expected


def test_a_file_object_stands_where_it_stood_before():
    file = io.BytesIO(FILES["rgb"])
    file.seek(7)
    with deferring(Counts()):
        image = open_image(file)

    assert file.tell() == 7
    assert image.filename == ""


def test_several_images_in_a_file_are_found_behind_a_long_header():
    """Phones write large EXIF data before they say that there are more."""
    data = FILES["mpo"]
    filler = b"\xff\xed\xff\xff" + bytes(0xFFFD)  # a segment that nobody reads
    longer = data[:2] + filler + data[2:]

    assert opened(longer, deferred=True).format == "MPO"


def test_pillows_limit_of_pixels_holds(monkeypatch):
    data = coded(picture(20, 20))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(Image.DecompressionBombError):
        opened(data, deferred=True)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 300)
    with pytest.warns(Image.DecompressionBombWarning):
        opened(data, deferred=True)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(opened(data, deferred=True)) is DeferredImage


def test_nothing_is_deferred_for_others():
    assert type(open_image(io.BytesIO(FILES["rgb"]))) is not DeferredImage
