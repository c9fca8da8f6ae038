"""Bytes of tensors, and floats that were bytes, become what torchvision makes of them."""

import math

import numpy as np
import pytest
import torch
from PIL import Image

from penstock.transforms import functional as F
from penstock.transforms.functional.native.tensors import colours, tables, values
from penstock.transforms.functional.tensors import colour

SIZES = [(1, 1), (1, 2), (1, 300), (300, 1), (7, 9), (37, 53), (64, 64)]
FACTORS = [0.0, 0.21, 0.5, 1.0, 1.3, 2.7, 1e6]

CALLS = {
    "adjust_brightness": [(factor,) for factor in FACTORS],
    "adjust_contrast": [(factor,) for factor in FACTORS],
    "adjust_saturation": [(factor,) for factor in FACTORS[:-1]],
    "adjust_gamma": [(0,), (0.45,), (1.2,), (2,), (3,), (1.2, 0.7), (0.7, 1.3), (1, -1.0)],
    "posterize": [(bits,) for bits in range(9)],
    "solarize": [(-3,), (0,), (127.5,), (128,), (255,)],
    "invert": [()],
    "autocontrast": [()],
    "equalize": [()],
    "adjust_hue": [(0.0,), (0.2,), (-0.5,)],
    "rgb_to_grayscale": [(1,), (3,)],
    "permute_channels": [([2, 0, 1],), ([-1, 0, 1],), ([1, 1, 1],)],
}
ON_FLOATS = ["adjust_brightness", "adjust_contrast", "adjust_gamma", "autocontrast", "invert"]


def noise(shape, seed=0):
    """Levels with flat parts, and not all of them."""
    generator = torch.Generator().manual_seed(seed)
    levels = torch.randint(3, 240, shape, generator=generator).to(torch.uint8)
    levels[..., : shape[-2] // 3, :] = 40
    return levels


def layouts(size, channels):
    whole = noise((channels, *size))
    yield whole
    yield whole.permute(1, 2, 0).contiguous().permute(2, 0, 1)
    yield noise((channels, size[0] + 3, size[1] + 4))[:, 2:-1, 1:-3]
    yield noise((2, channels, *size))
    yield noise((2, channels, *size)).contiguous(memory_format=torch.channels_last)
    yield noise((2, 2, channels, *size))
    yield torch.full((channels, *size), 77, dtype=torch.uint8)


def check(theirs, name, image, args):
    place = f"{name}{args} of {image.dtype} {tuple(image.shape)} {image.stride()}"
    expected = getattr(theirs, name)(image, *args)
    got = getattr(F, name)(image, *args)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), place
    assert torch.equal(got, expected), place


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("name", CALLS)
def test_bytes(theirs, name):
    for size in SIZES:
        for channels in (1, 3):
            if channels == 1 and name in {"adjust_saturation", "adjust_hue", "permute_channels"}:
                continue
            for image in layouts(size, channels):
                for args in CALLS[name]:
                    check(theirs, name, image, args)


def test_other_numbers_of_channels(theirs):
    for name in ("adjust_gamma", "posterize", "solarize", "invert", "equalize"):
        for channels in (2, 4, 5):
            check(theirs, name, noise((channels, 7, 9)), CALLS[name][0])


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("name", ON_FLOATS)
def test_floats_that_were_bytes(theirs, name):
    """Some of them fill no vector of torch's, which it computes in another way."""
    for size in ((40, 41), (37, 53), (64, 64), (33, 127)):
        levels = noise((3, *size))
        for image in (levels / 255, levels.float() * (1.0 / 255), levels.float().mul(0.0041)):
            for args in CALLS[name]:
                check(theirs, name, image, args)


def test_powers_are_looked_up_only_where_they_are_known(theirs):
    image = noise((3, 37, 53)) / 255
    assert values.adjust_gamma(image, 1.2, 1.0) is not None
    for number in (-0.0, 0.5, -1.0, 3.0, math.inf, math.nan):
        image[1, 20, 30] = number
        assert values.adjust_gamma(image, 1.2, 1.0) is None
        expected = theirs.adjust_gamma(image, 1.2)
        assert torch.equal(F.adjust_gamma(image, 1.2).nan_to_num(7), expected.nan_to_num(7))
    threads = torch.get_num_threads()
    large = noise((3, 120, 120)) / 255
    try:
        torch.set_num_threads(2)
        assert values.adjust_gamma(large, 1.2, 1.0) is None  # each thread has an end of its own
        check(theirs, "adjust_gamma", large, (1.2,))
        check(theirs, "adjust_contrast", large, (1.2,))
    finally:
        torch.set_num_threads(threads)


def test_contrast_of_many_images(theirs):
    """Of some factors, a level is so near to the next one that torch's way of rounding decides."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        channels, height, width = int(rng.choice((1, 3))), *rng.integers(1, 40, 2).tolist()
        image = noise((channels, height, width), seed=int(rng.integers(1 << 30)))
        check(theirs, "adjust_contrast", image, (float(rng.uniform(0, 3)),))


def test_contrast_of_large_images_has_torchs_mean(theirs):
    image = noise((3, 300, 300))
    assert colours.adjust_contrast(image[..., :200], 1.3) is None  # not in one piece
    assert colours.adjust_contrast(image[..., :200].contiguous(), 1.3) is not None
    assert colours.adjust_contrast(image, 1.3) is None
    check(theirs, "adjust_contrast", image, (1.3,))


def test_factors_that_are_no_numbers(theirs):
    image = noise((3, 7, 9))
    for factor in (math.inf, 1e35):
        check(theirs, "adjust_brightness", image, (factor,))
    check(theirs, "adjust_brightness", image / 255, (math.inf,))


def test_the_core_does_what_it_is_there_for():
    """These tests would pass, too, if torch did everything."""
    image = noise((3, 2, 3))
    for native in (
        values.scale(image, 1.3),
        values.solarize(image, 3),
        values.autocontrast(image),
        values.adjust_gamma(image, 1.3, 1.0),
        colours.adjust_contrast(image, 1.3137),
        colours.permute_channels(image, [2, 0, 1]),
        tables.as_fractions(image),
    ):
        assert native is not None
    for name in ("adjust_contrast", "adjust_brightness", "solarize", "posterize", "adjust_gamma"):
        for inpt in (image, image / 255, noise((3, 40, 50)) / 255):
            getattr(F, name)(inpt, 1)
    tried = [colour._scale, colour._solarize, colour._posterize, colour._adjust_contrast]
    if torch.backends.cpu.get_cpu_capability() in {"AVX2", "AVX512"}:  # others round otherwise
        tried.append(colour._blend_level)
    assert all(one._is_equal in {True, None} for one in tried)


def test_another_type_as_default(theirs):
    """torch then computes with bytes in doubles."""
    image = noise((3, 7, 9))
    torch.set_default_dtype(torch.float64)
    try:
        for name in ("adjust_brightness", "adjust_contrast", "solarize"):
            for args in CALLS[name][1:4]:
                check(theirs, name, image, args)
    finally:
        torch.set_default_dtype(torch.float32)


def test_another_device_as_default(theirs):
    """What is made of an image lies where the image is."""
    image = noise((3, 40, 50))
    crop = ((3, 5, 20, 25, [30, 31]), "resized_crop")
    calls = [(name, args[0]) for name, args in CALLS.items()]
    calls += [("resize", ([20, 25],)), ("rotate", (30.0,)), ("pad", (3,)), crop[::-1]]
    expected = {name: getattr(theirs, name)(image, *args) for name, args in calls}
    torch.set_default_device("meta")
    try:
        got = {name: getattr(F, name)(image, *args) for name, args in calls}
    finally:
        torch.set_default_device(None)
    for name, result in got.items():
        assert result.device.type == "cpu", name
        assert torch.equal(result, expected[name]), name


@pytest.mark.usefixtures("isa")
def test_images_become_tensors_and_back(theirs):
    for size in SIZES:
        for channels, mode in ((1, "L"), (3, "RGB")):
            for image in list(layouts(size, channels))[:3]:
                made = F.to_pil_image(image)
                assert made.mode == mode
                assert made.tobytes() == theirs.to_pil_image(image).tobytes()
                back = F.pil_to_tensor(made)
                expected = theirs.pil_to_tensor(made)
                assert torch.equal(back, expected)
                assert torch.equal(back, image)
                assert back.stride() == expected.stride()


def test_arrays_become_images(theirs):
    for shape in ((5, 7), (5, 7, 1), (5, 7, 3), (5, 7, 4), (5, 7, 2)):
        pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
        for given in (pixels, pixels[::-1], pixels[:, ::2]):
            made, expected = F.to_pil_image(given), theirs.to_pil_image(given)
            assert (made.mode, made.tobytes()) == (expected.mode, expected.tobytes())
    assert isinstance(made, Image.Image)


def test_gamma_of_pillow_images(theirs):
    """Few pixels need few powers."""
    for size in ((1, 1), (3, 4), (9, 9), (60, 50)):
        for mode in ("RGB", "L"):
            image = F.to_pil_image(noise((3, *size))).convert(mode)
            for args in CALLS["adjust_gamma"][:-1]:
                expected = theirs.adjust_gamma(image, *args).tobytes()
                assert F.adjust_gamma(image, *args).tobytes() == expected
                on_array = F.adjust_gamma(np.asarray(image), *args)
                assert on_array.tobytes() == expected
