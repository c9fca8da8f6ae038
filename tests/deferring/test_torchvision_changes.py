"""What torchvision does to tensors of bytes, done later with the same bits."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as v1
from torchvision.transforms.v2 import functional

from penstock._core import MOST_MEAN_PIXELS
from penstock.deferring import torchvision_changes
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from penstock.deferring.tensor import Deferred
from tests.deferring.pictures import FILES, coded, late, opened, outcomes, picture

COLOURS = {
    **{f"brightness {f}": ("adjust_brightness", (f,)) for f in (0.0, 0.7, 1.0, 3.3)},
    **{f"contrast {f}": ("adjust_contrast", (f,)) for f in (0.0, 0.7, 1.0, 3.3)},
    **{f"saturation {f}": ("adjust_saturation", (f,)) for f in (0.0, 0.7, 1.0, 3.3)},
    **{f"hue {f}": ("adjust_hue", (f,)) for f in (0.0, 0.1, -0.37, 0.5)},
    **{f"gray {count}": ("rgb_to_grayscale", (count,)) for count in (1, 3)},
    **{f"posterize {bits}": ("posterize", (bits,)) for bits in (0, 3, 8)},
    **{f"solarize {level}": ("solarize", (level,)) for level in (0, 99, 127.6, 255)},
    "invert": ("invert", ()),
    "equalize": ("equalize", ()),
    "permute": ("permute_channels", ([1, 2, 0],)),
    "blur": ("gaussian_blur", ([3, 3], [0.9, 0.9])),
}
PLACES = {
    **{
        f"resize {size} {mode.value} {smooth}": ("resize", (size, mode, None, smooth))
        for size in ([5, 6], [31, 4], [17, 23], 9)
        for mode in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
        for smooth in (True, False)
    },
    "resize, nearest": ("resize", ([5, 6], InterpolationMode.NEAREST)),
    "resize, at most": ("resize", (7, InterpolationMode.BILINEAR, 8)),
    "resized crop": ("resized_crop", (1, 2, 9, 8, [6, 7])),
    "resized crop of its size": ("resized_crop", (1, 2, 6, 7, [6, 7])),
    "middle": ("center_crop", ([6, 7],)),
    "middle of a smaller one": ("center_crop", (40,)),
    **{
        f"pad {sides} {mode}": ("pad", (sides, None, mode))
        for sides in (2, [1, 0, 2, 3])
        for mode in ("constant", "edge", "reflect", "symmetric")
    },
    "pad, coloured": ("pad", ([1, 2, 0, 3], (9, 80.0, 255))),
    "pad, one level": ("pad", (2, [7])),
}
UNUSUAL = {
    "a whole factor": ("adjust_brightness", (2,)),
    "a factor below nothing": ("adjust_contrast", (-1.0,)),
    "too much of a turn": ("adjust_hue", (0.7,)),
    "a size of nothing": ("resize", ([0, 5],)),
    "no size": ("resize", (None,)),
    "many levels": ("solarize", (256,)),
    "two channels": ("rgb_to_grayscale", (2,)),
    "an even kernel": ("gaussian_blur", ([4, 4],)),
    "a border that cuts": ("pad", ([-1, 0, 2, 0],)),
    "half a level": ("pad", (1, 7.5)),
    "a colour that is reflected": ("pad", (1, (1, 2, 3), "reflect")),
    "a wide reflection": ("pad", (60, None, "reflect")),
    "sharpness": ("adjust_sharpness", (1.7,)),
    "autocontrast": ("autocontrast", ()),
    "gamma": ("adjust_gamma", (0.7,)),
    "rotation": ("rotate", (20.0,)),
}
ALL = COLOURS | PLACES | UNUSUAL
EACH = list(
    {function: name for name, (function, _) in (UNUSUAL | PLACES | COLOURS).items()}.values()
)
REMEMBERED = [name for name in COLOURS | PLACES if name != "resize, nearest"]
STARTS = late(functional, "to_image"), late(v1, "pil_to_tensor")


@pytest.fixture(autouse=True)
def _hooks():
    install()


def call(name, given):
    function, args = ALL[name]
    return getattr(functional, function)(given, *args)


def told(*tensors):
    return [
        (
            getattr(type(one), "plain_class", type(one)).__name__,
            one.clone().as_subclass(torch.Tensor),
        )
        for one in tensors
    ]


@pytest.mark.parametrize("file", ["rgb", "gray", "progressive", "one pixel", "thin", "png", "webp"])
def test_bits_are_those_of_torchvision(file):
    """On small, gray and odd files; gray ones have one channel, or three that are equal."""
    for name in ALL:
        for start in STARTS:
            for mode in ("RGB", "L"):

                def run(image, name=name, start=start, mode=mode):
                    given = start(image.convert(mode))
                    done = call(name, given)
                    return told(done, functional.horizontal_flip(done), given)

                theirs, ours = outcomes(FILES[file], run)

                assert ours == theirs, (name, mode)


@pytest.mark.parametrize("last", EACH)
def test_one_after_another(last):
    for first in EACH:

        def run(image, first=first):
            return told(call(last, call(first, functional.to_image(image))))

        theirs, ours = outcomes(FILES["rgb"], run)

        assert ours == theirs, first


def test_nothing_is_computed_before_it_has_to_be():
    counts = Counts()
    image = opened(FILES["rgb"], deferred=True)
    with deferring(counts):
        for name in REMEMBERED:
            if name == "middle of a smaller one":  # which is a border, and computed
                continue
            done = call(name, functional.to_image(image))

            assert isinstance(done, Deferred), name
            assert done.is_open, name

    assert not counts.early
    assert not counts.steps


@pytest.mark.parametrize("side", [256, 257])
def test_the_mean_of_a_large_image_is_torchs_to_sum_up(side):
    """Beyond this, the order in which grays are summed up decides on the last bit."""
    data = coded(picture(side, side))

    def run(image):
        return told(functional.adjust_contrast(functional.to_image(image), 0.7))

    theirs, ours = outcomes(data, run)

    assert ours == theirs
    assert (side * side <= MOST_MEAN_PIXELS) == (side == 256)
    with deferring(Counts()):
        image = functional.to_image(opened(data, deferred=True))
        is_remembered = isinstance(functional.adjust_contrast(image, 0.7), Deferred)
        assert is_remembered
        assert functional.adjust_contrast(image, 0.7).is_open == (side == 256)


def test_a_torch_that_rounds_otherwise_is_left_alone(monkeypatch):
    """Whatever is tried first and differs is torchvision's to do."""
    usual = torchvision_changes.kernel_of("adjust_brightness", torch.Tensor)
    monkeypatch.setattr(torchvision_changes, "kernel_of", lambda *_: lambda x, f: usual(x, f) ^ 1)
    brighter = torchvision_changes.Change(
        "adjust_brightness",
        torchvision_changes._adjust_brightness,
        [(1.3,)],
    )
    with deferring(Counts()):
        given = functional.to_image(opened(FILES["rgb"], deferred=True))

        assert brighter(given, 1.2) is None
        assert given.is_open
