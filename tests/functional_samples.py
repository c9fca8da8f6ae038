"""What the functions are tried on, and how their results are held against torchvision's."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import torch
from PIL import Image

from penstock.transforms import functional as ours

SHAPES = [
    (3, 17, 23),
    (1, 9, 5),
    (2, 8, 6),
    (4, 6, 7),
    (3, 1, 1),
    (3, 1, 40),
    (3, 64, 2),
    (2, 3, 11, 8),
    (2, 1, 3, 7, 6),
    (0, 3, 5, 5),
]
DTYPES = ["uint8", "float32", "float64", "float16", "int16", "int32", "int64", "uint16", "int8"]
MODES = ["RGB", "L", "RGBA", "LA", "P", "1", "I", "F", "CMYK", "HSV", "YCbCr"]
PILLOW_SIZES = [(17, 23), (1, 1), (1, 40), (64, 2)]  # height, width

CORNERS = [[0, 0], [22, 0], [22, 16], [0, 16]]
MOVED = [[2, 1], [20, 3], [21, 15], [1, 14]]

# Arguments of the functions on images, as (positional, named).
IMAGE_CALLS = {
    "horizontal_flip": [((), {})],
    "vertical_flip": [((), {})],
    "resize": [
        *(((size,), {}) for size in (5, [7], (12, 9), [1, 1], [40, 3])),
        ((None,), {"max_size": 9}),
        ((5,), {"max_size": 6}),
        *(
            (([9, 14],), {"interpolation": mode, "antialias": antialias})
            for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "lanczos")
            for antialias in (True, False, None)
        ),
        (([9, 14],), {"interpolation": "box"}),
        (([9, 14],), {"interpolation": 3}),
    ],
    "crop": [((0, 0, 3, 2), {}), ((2, -3, 20, 9), {}), ((-5, 30, 4, 4), {}), ((1, 1, 1, 1), {})],
    "center_crop": [((4,), {}), (([5, 3],), {}), (((30, 2),), {}), (([9],), {})],
    "resized_crop": [
        ((1, 2, 6, 5, [4, 9]), {}),
        ((-2, 0, 8, 50, [7]), {"interpolation": "bicubic", "antialias": False}),
    ],
    "five_crop": [((1,), {}), (([4, 3],), {}), (([90],), {})],
    "ten_crop": [(([1, 2],), {}), ((3,), {"vertical_flip": True})],
    "pad": [
        ((2,), {}),
        (([1, 3],), {"fill": 7}),
        (((0, 1, 2, 3),), {"fill": [5]}),
        (([2],), {"fill": [1, 2, 3]}),
        (([-1, 0, 2, 0],), {"fill": 1.5}),
        *(((1,), {"padding_mode": mode}) for mode in ("edge", "reflect", "symmetric")),
        (([1, 0, -1, 2],), {"padding_mode": "symmetric"}),
        (([0, -1, 1, 1],), {"padding_mode": "edge"}),
    ],
    "affine": [
        ((30, [2, -1], 1.3, [4, 5]), {}),
        ((-7.5, (0.5, 3), 0.6, 9), {"interpolation": "bilinear", "fill": [10, 20, 30]}),
        ((200, [0, 0], 1.0, [0.0]), {"fill": 3, "center": [1, 2.5]}),
        ((15, [1, 1], 1.1, [2.0, 3]), {"interpolation": "bilinear", "fill": 0}),
        ((15, [1, 1], 1.1, [2.0, 3]), {"fill": [0, 0, 0]}),
    ],
    "rotate": [
        *(((angle,), {"expand": expand}) for angle in (0, 90, 180, 270, -33) for expand in (0, 1)),
        ((12.5,), {"interpolation": "bilinear", "fill": 9.0, "expand": True}),
        ((90,), {"center": [3, 4], "fill": [1.0, 2.0, 3.0]}),
    ],
    "perspective": [
        ((CORNERS, MOVED), {}),
        ((CORNERS, MOVED), {"interpolation": "nearest", "fill": [4]}),
        ((MOVED, [[1.5, 0.25], [20, 3], [21, 15], [1, 14]]), {"fill": 5}),
        ((None, None), {"coefficients": [1.1, 0.1, 2, 0.05, 0.9, 1, 0.001, 0.002]}),
    ],
    "rgb_to_grayscale": [((), {}), ((), {"num_output_channels": 3})],
    "grayscale_to_rgb": [((), {})],
    "adjust_brightness": [((0.0,), {}), ((0.7,), {}), ((2.5,), {})],
    "adjust_contrast": [((0.0,), {}), ((0.7,), {}), ((2.5,), {})],
    "adjust_saturation": [((0.0,), {}), ((0.7,), {}), ((2.5,), {})],
    "adjust_sharpness": [((0.0,), {}), ((0.7,), {}), ((2.5,), {})],
    "adjust_hue": [((-0.5,), {}), ((0.1,), {}), ((0.0,), {})],
    "adjust_gamma": [((0.5,), {}), ((2.2,), {"gain": 1.5}), ((0,), {})],
    "posterize": [((4,), {}), ((8,), {}), ((1,), {})],
    "solarize": [((0.5,), {}), ((128,), {}), ((0,), {})],
    "invert": [((), {})],
    "autocontrast": [((), {})],
    "equalize": [((), {})],
    "permute_channels": [(([2, 0, 1],), {}), (([0],), {}), (([3, 2, 1, 0],), {})],
    "gaussian_blur": [((3,), {}), (([5, 3],), {"sigma": [0.5, 2.0]}), (([1, 1],), {"sigma": 1})],
    "erase": [((1, 2, 3, 2, torch.tensor(7.0)), {}), ((0, 0, 1, 1, torch.tensor([[[9]]])), {})],
    "get_size": [((), {})],
    "get_dimensions": [((), {})],
    "get_num_channels": [((), {})],
}


def make_tensor(shape, dtype, seed=0):
    """Noise with flat and repeated areas, over the whole range of the type."""
    rng = np.random.default_rng(seed)
    levels = torch.from_numpy(rng.integers(0, 256, shape))
    levels[..., : shape[-1] // 3] = 40
    dtype = getattr(torch, dtype)
    if dtype.is_floating_point:
        return (levels / 255).to(dtype)
    bits = torch.iinfo(dtype).bits - 8
    return (levels << bits if dtype != torch.int8 else levels - 128).to(dtype)


def make_pillow(mode, size, seed=0):
    """An image of a Pillow mode; `size` is (height, width)."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    pixels[:, : size[1] // 3] = 40
    image = Image.fromarray(pixels)
    if mode in {"I", "F"}:
        return image.convert("L").convert(mode)
    if mode == "LA":
        return image.convert("RGBA").convert("LA")
    return image.convert(mode)


def outcome(function, inpt, args, kwargs):
    """The result and no error, or no result and the error."""
    given = copy.deepcopy(inpt)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(given, *args, **kwargs), None
        except Exception as error:
            return None, error


def assert_as_torchvision(theirs, name, inpt, args=(), kwargs=None):
    """Equal to the bit, or an error of the same kind."""
    kwargs = kwargs or {}
    place = f"{name}{args}{kwargs} of {describe(inpt)}"
    expected, refused = outcome(getattr(theirs, name), inpt, args, kwargs)
    got, error = outcome(getattr(ours, name), inpt, args, kwargs)
    if refused is not None:
        assert error is not None, f"{place}: torchvision refuses it: {refused!r}"
        is_accident = isinstance(refused, (IndexError, KeyError)) and isinstance(error, ValueError)
        is_same = isinstance(error, type(refused)) or is_accident  # where ours says what is wrong
        assert is_same, f"{place}: {error!r} instead of {refused!r}"
        return
    if error is not None:
        raise AssertionError(place) from error
    assert_same(place, got, expected)


def describe(inpt):
    if isinstance(inpt, Image.Image):
        return f"{inpt.mode} {inpt.size}"
    return f"{type(inpt).__name__} {inpt.dtype} {tuple(inpt.shape)}"


def assert_same(place, got, expected):
    """The same type, and the same bits."""
    assert type(got) is type(expected), place
    if isinstance(got, (tuple, list)):
        assert len(got) == len(expected), place
        for one, other in zip(got, expected, strict=True):
            assert_same(place, one, other)
    elif isinstance(got, Image.Image):
        assert (got.mode, got.size) == (expected.mode, expected.size), place
        assert got.tobytes() == expected.tobytes(), place
        assert got.getpalette() == expected.getpalette(), place
    elif isinstance(got, torch.Tensor):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape), place
        for metadata in ("format", "canvas_size", "clamping_mode"):
            assert getattr(got, metadata, None) == getattr(expected, metadata, None), place
        pair = (tensor.as_subclass(torch.Tensor).numpy() for tensor in (got, expected))
        np.testing.assert_array_equal(*pair, err_msg=place)  # NaN counts as equal to itself
    else:
        assert got == expected, place
