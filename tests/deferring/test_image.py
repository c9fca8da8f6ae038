import copy
import io
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import (
    Image,
    ImageChops,
    ImageDraw,
    ImageEnhance,
    ImageFilter,
    ImageOps,
    ImageSequence,
    ImageStat,
)

pytest.importorskip("torch")

from penstock.deferring import filters
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import open_image
from penstock.errors import DecodeError
from tests.deferring.pictures import FILES, as_value, coded, opened, outcomes, undecodable

install()

MATRIX = (0.3, 0.5, 0.2, 1, 0.1, 0.7, 0.2, 3, 0.2, 0.2, 0.6, 5)
MODES = ("1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I", "F", "LA", "RGBX", "I;16", "XY")
SHADE = Image.new("L", (500, 500), 100)


def shade(image):
    return SHADE.crop((0, 0, *image.size))


class OwnBlur(ImageFilter.GaussianBlur):
    def filter(self, image):
        return image.copy()


ENHANCERS = (
    *(ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color),
    ImageEnhance.Sharpness,
)


class OwnEnhancer(ImageEnhance.Contrast):
    def enhance(self, factor):
        return Image.blend(self.image, self.degenerate, factor)


def degenerate(enhancer):
    made = enhancer.enhance(0.5)
    enhancer.degenerate.putpixel((0, 0), 0)
    return [made, enhancer.degenerate, enhancer.image, enhancer.enhance(0.5)]


def enhanced_later(kind, image):
    """What an enhancer prepares is of the image as it was."""
    image = image.copy()
    enhancer = kind(image)
    image.paste(200, (0, 0, 5, 5))
    first = enhancer.enhance(0.6)
    enhancer.image = image.copy()
    second = pickle.loads(pickle.dumps(kind(image.copy()))).enhance(0.3)  # noqa: S301 (our own)
    return [first, enhancer.enhance(0.6), second, copy.copy(kind(image)).enhance(0.6)]


MIDDLE = (0.15, 0.2, 0.9, 0.8)


def box_of(image, part):
    """A box in pixels, from shares of an image."""
    return tuple(share * side for share, side in zip(part, image.size * 2, strict=False))


READ = {
    "getbands": lambda image: image.getbands(),
    "draft": lambda image: [image.draft(None, (15, 15)), image.draft(None, (2, 2)), image.size],
    "draft of half": lambda image: [image.draft("RGB", (5, 5)), image.size, image.mode],
    "getbbox": lambda image: image.getbbox(),
    "getcolors": lambda image: image.getcolors(9999),
    "getextrema": lambda image: image.getextrema(),
    "getpixel": lambda image: image.getpixel((0, 0)),
    "getpixel outside": lambda image: image.getpixel((500, 0)),
    "getprojection": lambda image: image.getprojection(),
    "histogram": lambda image: image.histogram(),
    "entropy": lambda image: image.entropy(),
    "split": lambda image: image.split(),
    "getchannel": lambda image: image.getchannel("R"),
    "merge": lambda image: Image.merge(image.mode, image.split()),
    "tobytes": lambda image: image.tobytes(),
    "tobytes, packed otherwise": lambda image: image.tobytes("raw", "BGR"),
    "access": lambda image: image.load()[0, 0],
    "asarray": np.asarray,
    "array": np.array,
    "array of floats": lambda image: np.asarray(image, np.float32),
    "arrays of both": lambda image: [np.asarray(image), np.asarray(image), np.array(image)],
    "statistics": lambda image: ImageStat.Stat(image).var,
    "frames": lambda image: [one.copy() for one in ImageSequence.Iterator(image)],
    "saved": lambda image: coded(image, "PNG"),
    "saved as JPEG": coded,
    "saved with its settings": lambda image: coded(image, quality="keep"),
    "shown": lambda image: image._repr_png_(),
    "equal": lambda image: [image == image.copy(), image.copy() == image.copy(), image == 3],
    "length": len,
    "pickle": lambda image: pickle.loads(pickle.dumps(image)).tobytes(),  # noqa: S301 (our own)
    "deepcopy": lambda image: copy.deepcopy(image).tobytes(),
}
NEW = {
    "copy": lambda image: image.copy(),
    "copy.copy": copy.copy,
    **{f"convert {mode}": lambda image, mode=mode: image.convert(mode) for mode in MODES},
    "convert": lambda image: image.convert(),
    "convert by a matrix": lambda image: image.convert("RGB", MATRIX),
    "convert without dither": lambda image: image.convert("1", dither=0),
    "convert to few colours": lambda image: image.convert("P", palette=1, colors=5),
    **{
        f"transpose {way}": lambda image, way=way: image.transpose(way) for way in (*range(8), None)
    },
    **{f"resize {f!r}": lambda image, f=f: image.resize((11, 6), f) for f in (*range(7), 2.0, "2")},
    "resize twice": lambda image: image.resize((9, 5)).resize((20, 20), 0),
    "resize to its size": lambda image: image.resize(image.size),
    **{
        f"resize a box {f}": lambda image, f=f: image.resize((9, 5), f, box=(0, 0, 1, 1))
        for f in range(6)
    },
    **{
        f"resize {part}": lambda image, part=part: image.resize((4, 5), 2, box_of(image, part))
        for part in (
            *((0, 0, 1, 1), (0.1, 0.3, 0.9, 1.0), (0.25, 0, 0.75, 1), (0.5, 0.2, 0.51, 0.3)),
            *((0.2, 0.2, 0.2, 0.5), (0.5, 0.5, 0.2, 0.2), (-0.1, 0, 1, 1), (0, 0, 1.1, 1)),
            *((0, 0, 1 + 1e-9, 1), (0, 0, float("nan"), 1), (0, 0, 1), (-0.0, 0, 1, 0.9)),
        )
    },
    "resize a list of sides": lambda image: image.resize((4, 5), box=list(box_of(image, MIDDLE))),
    "resize an array of sides": lambda image: image.resize((4, 5), box=np.array([0, 0, 1, 1])),
    "resize a part to the same": lambda image: image.resize(image.size, 3, box_of(image, MIDDLE)),
    "resize two parts": lambda image: image.resize((9, 8), 3, box_of(image, MIDDLE)).resize(
        (5, 5), 1, (0.5, 0.2, 7.7, 8)
    ),
    "resize a part of a crop": lambda image: image.crop((0, 0, 1, 1)).resize(
        (5, 3), 2, (0.1, 0, 1, 0.7)
    ),
    **{
        f"resize by steps of {gap!r}": lambda image, gap=gap: image.resize((5, 5), reducing_gap=gap)
        for gap in (1, 1.0, 2.0, 3, 0.5, float("inf"), "2")
    },
    "resize by steps, to little": lambda image: image.resize((3, 2), reducing_gap=2.0),
    "resize a part by steps": lambda image: image.resize(
        (3, 2), 2, box_of(image, MIDDLE), reducing_gap=2.0
    ),
    "resize by steps, to the nearest": lambda image: image.resize((2, 2), 0, reducing_gap=1.0),
    **{
        f"resize to {size}": lambda image, size=size: image.resize(size)
        for size in ((0, 5), (-1, 5), (3.0, 5), (True, 2), (3,), [3, 4], 3, "ab", None)
    },
    "resize to NumPy's": lambda image: image.resize((np.int64(3), np.int32(5))),
    "resize to an array": lambda image: image.resize(np.array([3, 5])),
    "resize by names": lambda image: image.resize(size=(4, 4), resample=Image.Resampling.BOX),
    **{
        f"crop {box}": lambda image, box=box: image.crop(box)
        for box in (
            *(None, (0, 0, 1, 1), (-3, -2, 5, 7), (2, 2, 2, 5), (5, 5, 2, 2), [0, 0, 1, 1]),
            *((0.4, 0.6, 3.5, 4.5), (1, 2, 3), (0, 0, 1, 1, 9), "abcd", (0, 0, None, 1)),
            (float("nan"), 0, 1, 1),
        )
    },
    "crop an array": lambda image: image.crop(np.array([0, 0, 1, 1])),
    "crop all": lambda image: image.crop((0, 0, *image.size)),
    "rotate": lambda image: image.rotate(17),
    "rotate, larger": lambda image: image.rotate(33, resample=3, expand=True, fillcolor=1),
    "rotate by nothing": lambda image: image.rotate(0),
    "transform": lambda image: image.transform((8, 8), 0, (1, 0.2, 0, 0.1, 1, 0), 2),
    "reduce": lambda image: image.reduce(2),
    "point": lambda image: image.point(lambda level: 255 - level),
    "quantize": lambda image: image.quantize(4),
    "remap": lambda image: image.remap_palette([0, 1]),
    "filter": lambda image: image.filter(ImageFilter.BLUR),
    "filter, a class": lambda image: image.filter(ImageFilter.GaussianBlur),
    "unsharp": lambda image: image.filter(ImageFilter.UnsharpMask(1, 50, 2)),
    **{
        f"blur {radius!r}": lambda image, radius=radius: image.filter(
            ImageFilter.GaussianBlur(radius)
        )
        for radius in (
            *(0, 0.3, 1.7, True, 70, (0, 0), (0, 1.5), (2.2, 0), [1, 2], -1, -0.0),
            *(float("nan"), float("inf"), None, "1", (1, 2, 3), (1,), 1 + 1j),
        )
    },
    "blur by NumPy's": lambda image: image.filter(ImageFilter.GaussianBlur(np.float64(0.7))),
    "blur by a pair of NumPy's": lambda image: image.filter(
        ImageFilter.GaussianBlur((np.float64(0.7), np.float64(1.1)))
    ),
    "blur by a small float": lambda image: image.filter(ImageFilter.GaussianBlur(np.float32(0.7))),
    **{
        f"box blur {radius!r}": lambda image, radius=radius: image.filter(
            ImageFilter.BoxBlur(radius)
        )
        for radius in (0, 0.5, 2, 40, 64, 1000, (0.0, 0), (3.3, 0), (0, 0.2), [1, 2], -1, "1")
    },
    "blur of their own": lambda image: image.filter(OwnBlur(1.5)),
    "blend": lambda image: Image.blend(image, image.copy(), 0.3),
    "composite": lambda image: Image.composite(image, image.copy(), shade(image)),
    "difference": lambda image: ImageChops.difference(image, image.copy()),
    "autocontrast": ImageOps.autocontrast,
    "autocontrast, cut": lambda image: ImageOps.autocontrast(image, cutoff=(2, 5)),
    "equalize": ImageOps.equalize,
    "equalize by a mask": lambda image: ImageOps.equalize(image, mask=shade(image)),
    "invert": ImageOps.invert,
    **{
        f"posterize {bits}": lambda image, bits=bits: ImageOps.posterize(image, bits)
        for bits in (0, 1, 5, 8, 9, 2.0, True)
    },
    **{
        f"solarize {level!r}": lambda image, level=level: ImageOps.solarize(image, level)
        for level in (0, 77, 130.5, 256, -3, 1e9, float("nan"), "5")
    },
    "solarize": ImageOps.solarize,
    "solarize by name": lambda image: ImageOps.solarize(image=image, threshold=9),
    "grayscale": ImageOps.grayscale,
    "fit": lambda image: ImageOps.fit(image, (6, 7)),
    "fit elsewhere": lambda image: ImageOps.fit(image, (6, 7), 1, 0.1, (0.3, 0.9)),
    "cover": lambda image: ImageOps.cover(image, (6, 7)),
    "contain": lambda image: ImageOps.contain(image, (6, 7)),
    "pad": lambda image: ImageOps.pad(image, (6, 7)),
    "expand": lambda image: ImageOps.expand(image, 2),
    "mirror": ImageOps.mirror,
    **{
        f"{kind.__name__} {factor!r}": lambda image, kind=kind, factor=factor: kind(image).enhance(
            factor
        )
        for kind in ENHANCERS
        for factor in (0, 0.6, 1, 1.3, 7, -0.5, 1e6, True, "1")
    },
    **{
        f"{kind.__name__} looked into": lambda image, kind=kind: degenerate(kind(image))
        for kind in ENHANCERS
    },
    **{
        f"{kind.__name__} of what was changed": lambda image, kind=kind: enhanced_later(kind, image)
        for kind in ENHANCERS
    },
    "enhanced by all": lambda image: ImageEnhance.Color(
        ImageEnhance.Contrast(ImageEnhance.Brightness(image).enhance(1.2)).enhance(0.7)
    ).enhance(1.1),
    "enhanced by their own": lambda image: OwnEnhancer(image).enhance(0.4),
    "fromarray": lambda image: Image.fromarray(np.asarray(image)),
}


def changing(step):
    def change(image):
        step(image)

    return change


CHANGED = {
    name: changing(step)
    for name, step in {
        "putpixel": lambda image: image.putpixel((0, 0), 0),
        "putalpha": lambda image: image.putalpha(7),
        "putdata": lambda image: image.putdata([0, 0]),
        "putpalette": lambda image: image.putpalette([1, 2, 3] * 256),
        "paste": lambda image: image.paste(0, (0, 0, 2, 2)),
        "paste itself": lambda image: image.paste(image, (1, 1)),
        "paste by a mask": lambda image: image.paste(image.copy(), None, shade(image)),
        "thumbnail": lambda image: image.thumbnail((7, 5)),
        "thumbnail, large": lambda image: image.thumbnail((700, 500)),
        "thumbnail, a little": lambda image: image.thumbnail((16, 100), Image.Resampling.LANCZOS),
        "thumbnail by names": lambda image: image.thumbnail(size=(8.7, 8.2), resample=2),
        "thumbnail at once": lambda image: image.thumbnail((7, 5), reducing_gap=None),
        "thumbnail by steps": lambda image: image.thumbnail((3, 3), reducing_gap=1.0),
        "thumbnail of nothing": lambda image: image.thumbnail((0, 5)),
        "thumbnail of a word": lambda image: image.thumbnail("ab"),
        "thumbnail twice": lambda image: [image.thumbnail((15, 15)), image.thumbnail((9, 12))],
        **{
            f"draft {mode} {size}": lambda image, mode=mode, size=size: image.draft(mode, size)
            for mode in (None, "L", "RGB", "YCbCr", "CMYK")
            for size in (None, (15, 12), (4, 4), (1, 1), [9, 9])
        },
        "draft twice": lambda image: [image.draft("RGB", (20, 20)), image.draft("RGB", (5, 5))],
        "draft after a look": lambda image: [image.getpixel((0, 0)), image.draft("L", (2, 2))],
        "frombytes": lambda image: image.frombytes(bytes(len(image.tobytes()))),
        "access": lambda image: image.load().__setitem__((0, 0), 0),
        "draw": lambda image: ImageDraw.Draw(image).line((0, 0, 5, 5), fill=1),
        "close": lambda image: image.close(),
        "load": lambda image: image.load(),
    }.items()
}
EVERYTHING = READ | NEW | CHANGED
# Every step directly on a few files; chains below meet the others.
DIRECTLY = ("rgb", "gray", "png", "png palette", "one pixel", "exif 6", "webp")


@pytest.mark.parametrize("name", EVERYTHING)
def test_an_image_that_is_not_decoded_does_as_one_that_is(name):
    for file in DIRECTLY:
        pillows, ours = outcomes(FILES[file], EVERYTHING[name])

        assert ours == pillows, file


REMEMBERED = (
    *("copy", "convert L", "convert RGB", "transpose 0", "resize 2", "resize twice", "crop all"),
    *("resize (0.1, 0.3, 0.9, 1.0)", "resize a part to the same", "resize by steps of 3"),
    *("blur 0", "blur 1.7", "blur (2.2, 0)", "box blur 2", "fit", "cover", "contain", "mirror"),
    *("autocontrast", "equalize", "invert", "posterize 5", "solarize 77", "solarize", "grayscale"),
    *(f"{kind.__name__} {factor}" for kind in ENHANCERS for factor in (0, 0.6, 1, 7)),
    *("enhanced by all", "thumbnail", "thumbnail, a little", "thumbnail at once", "draft RGB None"),
)


@pytest.mark.parametrize("name", REMEMBERED)
def test_what_is_remembered_needs_no_pixels(name):
    counts = Counts()
    with deferring(counts):
        image = open_image(io.BytesIO(FILES["rgb"]))
        done = EVERYTHING[name](image) or image
        chain = done.chain

    assert not counts.early
    assert not counts.steps
    assert chain.pixels is None
    assert (chain.width, chain.height) == done.size


def test_blurs_are_pillows_if_it_rounds_otherwise(monkeypatch):
    filters._are_pillows.cache_clear()
    monkeypatch.setattr(filters, "_PROBED", (1.0,))
    monkeypatch.setattr(filters, "box_radius", lambda sigma: sigma)
    try:
        pillows, ours = outcomes(FILES["rgb"], EVERYTHING["blur 1.7"])
    finally:
        filters._are_pillows.cache_clear()

    assert ours == pillows


@settings(max_examples=250, deadline=None)
@given(
    file=st.sampled_from(sorted(FILES)),
    before=st.lists(st.sampled_from(sorted(NEW | CHANGED)), max_size=3),
    last=st.sampled_from(sorted(EVERYTHING)),
)
def test_chains_of_steps_lead_to_the_same(file, before, last):
    steps = [EVERYTHING[name] for name in (*before, last)]
    pillows, ours = outcomes(FILES[file], *steps)

    assert ours == pillows


def test_both_of_two_images_are_the_same_when_one_is_changed():
    """Neither changes with the other."""

    def both(image):
        first = image.convert("RGB")
        second = first.copy()
        third = first.crop((0, 0, 9, 9))
        first.paste((1, 2, 3), (0, 0, 4, 4))
        fourth = first.resize((7, 7))
        third.putpixel((0, 0), (9, 9, 9))
        return [first, second, third, fourth, image]

    pillows, ours = outcomes(FILES["rgb"], both)

    assert ours == pillows


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_arrays_of_an_image_have_memory_of_their_own(mode):
    """Also if somebody writes into one against NumPy's will, as torch.from_numpy allows."""
    torch = pytest.importorskip("torch")
    image = opened(FILES["rgb"], deferred=True).convert(mode)
    first = np.asarray(image)
    kept = first.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not writable
        torch.from_numpy(np.asarray(image)).fill_(7)
    others = [np.asarray(image) for _ in range(20)]

    assert type(image) is DeferredImage
    assert all(np.array_equal(one, kept) for one in (first, image, *others))


def test_what_a_user_adds_to_an_image_goes_along():
    image = opened(FILES["rgb"], deferred=True).convert("RGB")
    image.label = 3
    image.filename = "here.jpg"

    assert (image.plain().label, image.plain().filename) == (3, "here.jpg")
    assert not hasattr(image.copy(), "label")


def test_a_converted_image_is_no_file_whatever_it_says():
    """Some set its format again."""
    image = opened(FILES["rgb"], deferred=True).convert("RGB")
    image.format = "JPEG"

    assert not hasattr(image, "quantization")
    assert image.draft("L", (5, 5)) is None
    assert image.mode == "RGB"


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_damaged_file_never_passes_for_a_good_one(name):
    """Where Pillow raises an error, ours does at the latest when pixels are asked for."""
    pillows, _ = outcomes(undecodable(), EVERYTHING[name])
    counts = Counts()
    with deferring(counts):
        image = open_image(io.BytesIO(undecodable()))
        try:
            done = EVERYTHING[name](image)
            as_value(image if done is None else done)
        except Exception as error:
            raised = error
        else:
            raised = None

    if isinstance(pillows[0], tuple) and pillows[0][0] is OSError:
        assert isinstance(counts.error, DecodeError) or isinstance(raised, OSError)
