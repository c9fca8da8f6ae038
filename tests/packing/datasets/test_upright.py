"""Pictures that say they are to be turned, turned as Pillow turns them."""

import io

import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest

from folders import make_image
from penstock.limits import Limits, using
from penstock.packing.datasets.upright import upright_file

PICTURE = make_image(np.random.default_rng(0), 20, 33)
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="%d"/></x:xmpmeta>'


def encoded(kind, orientation=None, image=PICTURE, **more):
    if orientation is not None:
        more["exif"] = PIL.Image.Exif()
        more["exif"][0x0112] = orientation
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


def pixels(content):
    return np.asarray(PIL.Image.open(io.BytesIO(content)).convert("RGB"))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(2, 9))
def test_turned_as_pillow_turns_them(kind, orientation):
    content = encoded(kind, orientation)
    expected = PIL.ImageOps.exif_transpose(PIL.Image.open(io.BytesIO(content))).convert("RGB")

    turned = upright_file(memoryview(content))
    np.testing.assert_array_equal(pixels(turned), np.asarray(expected))
    assert upright_file(turned) is None


def test_said_in_xmp():
    content = encoded("JPEG", xmp=XMP % 6)

    assert pixels(upright_file(content)).shape == (33, 20, 3)
    assert upright_file(encoded("JPEG", xmp=XMP % 1)) is None


def test_other_modes():
    content = encoded("PNG", 3, PICTURE.quantize(8))

    np.testing.assert_array_equal(pixels(upright_file(content)), pixels(content)[::-1, ::-1])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF"])
def test_upright_ones_stay(kind):
    assert upright_file(encoded(kind)) is None
    if kind not in {"BMP", "GIF"}:
        assert upright_file(encoded(kind, 1)) is None


def test_a_tiff_is_turned_by_pillow_itself():
    """So that whoever decodes it has it upright already."""
    content = encoded("TIFF", 6)

    assert upright_file(content) is None
    assert pixels(content).shape == (33, 20, 3)


def test_what_cannot_be_read_is_left_to_the_decoder():
    content = encoded("JPEG", 6)

    assert upright_file(content[:300]) is None
    assert upright_file(b"") is None
    assert upright_file(b"\xff\xd8\xff") is None
    assert upright_file(b"no picture") is None
    with using(Limits(pixels=100)):
        assert upright_file(content) is None
