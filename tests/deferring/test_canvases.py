"""Images of one colour, and what is pasted into them, are Pillow's to the last pixel."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

pytest.importorskip("torch")

from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import open_image
from tests.deferring.pictures import FILES, as_value

install()


def on(mode, size, *colour):
    """Paste into a canvas, at these places."""

    def paste(*arguments):
        def run(image):
            canvas = Image.new(mode, size, *colour)
            canvas.paste(image, *arguments)
            return canvas

        return run

    return paste


def twice(image):
    canvas = Image.new("RGB", (40, 40), "navy")
    canvas.paste(image, (3, 4))
    canvas.paste(image, (20, 1))
    return canvas


def changed_afterwards(image):
    image = image.convert("RGB")
    canvas = Image.new("RGB", (40, 40))
    canvas.paste(image, (3, 4))
    image.putpixel((0, 0), (255, 255, 255))
    canvas.putpixel((39, 39), (1, 2, 3))
    return [canvas, image]


def drawn(image):
    canvas = Image.new("RGB", (40, 40))
    ImageDraw.Draw(canvas).rectangle((3, 3, 30, 30), "red")
    canvas.paste(image.convert("RGB"), (10, 10))
    return canvas


def copied_before(image):
    canvas = Image.new("RGB", (40, 40), (9, 8, 7))
    canvas.info["kept"] = 1
    other = canvas.copy()
    canvas.paste(image, (3, 4))
    return [canvas, other, canvas.copy()]


PASTED = {
    "in the middle": on("RGB", (50, 40), (114, 114, 114))((7, 9)),
    "at the corner": on("RGB", (50, 40))(),
    "into gray": on("L", (50, 40), 77)((7, 9)),
    "with its end": on("RGB", (200, 200), 0xFF8001)((7, 9, 30, 26)),
    "with another end": on("RGB", (200, 200))((7, 9, 31, 26)),
    "beyond the left": on("RGB", (50, 40), "red")((-7, 9)),
    "beyond all sides": on("RGB", (6, 5), "#123456")((-3, -2)),
    "beyond below": on("RGB", (50, 20), (1, 2, 3))((20, 12)),
    "outside": on("RGB", (50, 40), (1, 2, 3))((50, 0)),
    "exactly": on("RGB", (23, 17), (1, 2, 3))((0, 0)),
    "at a float": on("RGB", (50, 40))((3.0, 4)),
    "at one number": on("RGB", (50, 40))((3,)),
    "with a mask": on("RGB", (50, 40))((3, 4), Image.new("L", (23, 17), 90)),
    "into a palette": on("P", (50, 40), 3)((3, 4)),
    "into four channels": on("RGBA", (50, 40), (1, 2, 3, 4))((3, 4)),
    "into nothing": on("RGB", (0, 40))((3, 4)),
    "without a colour": on("RGB", (40, 40), None)((3, 4)),
    "twice": twice,
    "changed afterwards": changed_afterwards,
    "drawn": drawn,
    "copied before": copied_before,
    "canvas alone": lambda _: Image.new("RGB", (40, 30), (1, 2, 3)).resize((20, 20)),
    "ImageOps.pad": lambda image: ImageOps.pad(image, (64, 70), color=5),
    "ImageOps.pad, to one side": lambda image: ImageOps.pad(image, (64, 9), centering=(0, 1)),
    "ImageOps.expand": lambda image: ImageOps.expand(image, (1, 2, 3, 4), 7),
    "turned, then pasted": lambda image: on("RGB", (50, 60))((3, 4))(
        image.transpose(Image.ROTATE_90)
    ),
    "resized and mirrored": lambda image: ImageOps.mirror(
        on("RGB", (30, 30), (114, 114, 114))((2, 9))(image.resize((26, 12), Image.BILINEAR))
    ),
    "crop beyond": lambda image: image.crop((-3, -2, image.width, image.height + 4)),
    "crop beyond one side": lambda image: image.crop((2, 3, image.width + 5, 7)),
    "crop outside": lambda image: image.crop((500, 500, 510, 510)),
    "crop by NumPy": lambda image: image.crop(tuple(np.array([1, 2, 9, 8]))),
    "crop by NumPy's floats": lambda image: image.crop(tuple(np.float32([0.6, 1.5, 8.5, 7.5]))),
    "resize by NumPy": lambda image: image.resize(tuple(np.array([9, 8]))),
}
REMEMBERED = {
    *("in the middle", "at the corner", "into gray", "beyond the left", "beyond all sides"),
    *("beyond below", "exactly", "ImageOps.pad", "ImageOps.expand", "turned, then pasted"),
    *("resized and mirrored", "crop beyond", "crop by NumPy", "resize by NumPy"),
}


def outcome(open_, data, step):
    counts = Counts()
    with deferring(counts):
        try:
            made = step(open_(io.BytesIO(data)))
            early = sum(counts.early.values())
            return as_value(made), made, early
        except Exception as error:
            return type(error), None, 0


def plainly(data, step):
    try:
        return as_value(step(open_with_pillow(io.BytesIO(data))))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", PASTED)
@pytest.mark.parametrize("file", ["rgb", "gray", "exif 6", "png", "png palette", "png alpha"])
def test_it_is_what_pillow_makes(name, file):
    expected = plainly(FILES[file], PASTED[name])
    found, _, _ = outcome(open_image, FILES[file], PASTED[name])
    assert found == expected


@pytest.mark.parametrize("name", sorted(REMEMBERED))
def test_nothing_is_computed_for_it(name):
    with deferring(counts := Counts()):
        made = PASTED[name](open_image(io.BytesIO(FILES["rgb"])))
        assert type(made) is DeferredImage
        assert made.chain is not None
    assert not counts.early


@pytest.mark.parametrize("method", Image.Transpose)
@pytest.mark.parametrize("file", ["rgb", "gray", "one pixel", "thin"])
def test_turns_are_pillows(method, file):
    def step(image):
        return image.transpose(method).crop((0, 0, 1, 1)).resize((3, 2)), image.transpose(method)

    expected = plainly(FILES[file], step)
    found, made, early = outcome(open_image, FILES[file], step)
    assert found == expected
    assert early == 0
    assert made[1].size == opened_size(file, method)


def opened_size(file, method):
    return open_with_pillow(io.BytesIO(FILES[file])).transpose(method).size


def test_new_images_are_ordinary_elsewhere():
    assert type(Image.new("RGB", (4, 4))) is Image.Image
