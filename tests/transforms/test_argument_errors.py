"""Every argument that cannot work is refused when the transform is made, with a way out."""

import re

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import TransformError


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.Resize((1, 2, 3)), "Resize: size must be an integer or (height, width)"),
        (lambda: T.Resize(0), "Resize: size must be an integer between 1 and 16777216, got 0."),
        (lambda: T.Resize("224"), "got '224'"),
        (lambda: T.Resize(True), "got True"),
        (lambda: T.Resize(2.5), "got 2.5"),
        (lambda: T.Resize(None), "size and max_size are both None"),
        (lambda: T.Resize((4, 5), max_size=6), "max_size=6 has no meaning beside size=(4, 5)"),
        (lambda: T.Resize(6, max_size=6), "max_size=6 must be greater than the shorter side"),
        (lambda: T.Resize(6, max_size=-1), "max_size must be an integer between 1"),
        (lambda: T.Resize(6, "cubic"), "interpolation is 'cubic'. Use \"nearest\""),
        (lambda: T.Resize(6, 6), "interpolation is 6"),
        (lambda: T.CenterCrop([]), "size must be an integer or (height, width), got []"),
        (lambda: T.CenterCrop((3, -1)), "got -1"),
        (lambda: T.RandomCrop(1 << 30), "between 1 and 16777216, got 1073741824"),
        (lambda: T.RandomCrop(3, padding=(1, 2, 3)), "a sequence of 1, 2 or 4 integers"),
        (lambda: T.RandomCrop(3, padding_mode="wrap"), "padding_mode must be constant, edge"),
        (lambda: T.Pad("1"), "padding must be an integer between -16777216"),
        (lambda: T.Pad(None), "got None"),
        (lambda: T.Pad(1, fill=(1, 2)), "fill must be a number, or three"),
        (lambda: T.Pad(1, fill={"others": 1}), "fill must be a number, or three"),
        (lambda: T.Pad(1, fill="red"), "fill must be"),
        (lambda: T.Pad(1, fill=float("nan")), "fill must be"),
        (lambda: T.Pad(1, fill=()), "fill must be"),
        (lambda: T.RandomHorizontalFlip(1.5), "p must be between 0 and 1, got 1.5"),
        (lambda: T.RandomVerticalFlip(-0.1), "RandomVerticalFlip: p must be"),
        (lambda: T.RandomVerticalFlip("0.5"), "got '0.5'"),
        (lambda: T.RandomResizedCrop(8, scale=(1.0, 0.5)), "scale must be two numbers (min, max)"),
        (lambda: T.RandomResizedCrop(8, scale=0.5), "scale must be two numbers (min, max)"),
        (
            lambda: T.RandomResizedCrop(8, scale=(-0.5, 1)),
            "scale must be two numbers (min, max) of at least 0",
        ),
        (
            lambda: T.RandomResizedCrop(8, ratio=(0, 1)),
            "ratio must be two numbers (min, max) greater than 0",
        ),
        (lambda: T.RandomResizedCrop(8, ratio=(1, float("inf"))), "ratio must be"),
        (
            lambda: T.Normalize((0.5, 0.5), (1, 1)),
            "mean must be one number, or one for each of red, green and blue",
        ),
        (lambda: T.Normalize((0.5,), (1, 0, 1)), "std must not contain 0, got (1, 0, 1)"),
        (lambda: T.Normalize((0.5,), (1,), flavor="v1"), 'flavor must be "torchvision" or'),
        (lambda: T.Normalize("abc", (1,)), "mean must be a sequence of numbers"),
        (lambda: T.ToDtype("float64"), "dtype is 'float64'. Use uint8, float16, bfloat16"),
        (lambda: T.ToDtype(np.int32), "Use uint8"),
        (lambda: T.ToDtype({"a": 1}), "Use uint8"),
        (lambda: T.Compose(T.CenterCrop(3)), "must be a list of transforms"),
        (lambda: T.Compose([3]), "3 is not a transform"),
        (lambda: T.Compose([T.RandomHorizontalFlip]), "Write RandomHorizontalFlip(...)"),
    ],
)
def test_refused(make, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        make()


@pytest.mark.parametrize("size", [224, 224.0, np.int64(224), [224], (224, 224)])
def test_a_square_may_be_written_in_many_ways(size):
    assert T.CenterCrop(size)._box == T.CenterCrop((224, 224))._box


@pytest.mark.parametrize(
    ("padding", "expected"),
    [(1, (1, 1, 1, 1)), ([2], (2, 2, 2, 2)), ((1, 2), (1, 2, 1, 2)), ((1, 2, 3, 4), (1, 2, 3, 4))],
)
def test_padding_may_be_written_in_many_ways(padding, expected):
    assert T.Pad(padding)._borders == expected


def test_interpolation_takes_pillows_numbers():
    from PIL.Image import Resampling

    for name in ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"):
        number = Resampling[name.upper()]
        assert T.Resize(4, int(number))._mode == T.InterpolationMode(name)
        assert T.Resize(4, number)._mode.pillow_filter == number
