"""The core's kernels on tensors give torchvision's bits, in every layout and instruction set."""

import math
import warnings

import pytest
import torch
from torch.autograd import forward_ad

from penstock.transforms import functional as F
from penstock.transforms.functional.native.tensors import colours as native_colours
from penstock.transforms.functional.native.tensors import sampling
from penstock.transforms.functional.native.tensors import values as native_values
from penstock.transforms.functional.native.tensors.tried import Tried, is_plain
from penstock.transforms.functional.tensors import colour, resize, values, warp

SIZES = [(37, 53), (21, 40), (300, 5), (5, 300), (64, 64)]

COLOUR_CALLS = {
    "rgb_to_grayscale": [(1,), (3,)],
    "adjust_saturation": [(0.0,), (0.3,), (1.7,)],
    "adjust_contrast": [(0.0,), (0.3,), (1.7,)],
    "adjust_hue": [(-0.5,), (-1 / 6,), (0.0,), (0.13,), (0.5,)],
}
FLOAT_CALLS = {
    "adjust_brightness": [(0.0,), (0.3,), (1.7,)],
    "posterize": [(1,), (4,), (8,)],
    "solarize": [(0.0,), (0.1,), (1.0,)],
    "autocontrast": [()],
    "invert": [()],
    "adjust_sharpness": [(0.0,), (1.7,)],
    "gaussian_blur": [([5, 3], [0.5, 2.0]), ([3, 3], [1.1, 1.1])],
    "normalize": [([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), ([0.5], [0.25])],
}
QUAD = [[0, 0], [52, 0], [52, 36], [0, 36]]
MOVED = [[4, 3], [50, -6], [47, 30], [-2, 39]]
WARPS = {
    "rotate": [(17.0,), (90.0,), (-133.3,)],
    "affine": [(10.0, [5, 7.5], 1.1, [3.0, 2.0]), (-60.0, [0, 0], 0.4, [20.0, -9.0])],
    "perspective": [(QUAD, MOVED)],
}


def noise(shape, dtype, seed=0):
    """With gray and flat parts; floats leave 0 to 1 on both sides."""
    generator = torch.Generator().manual_seed(seed)
    levels = torch.randint(0, 256, shape, generator=generator)
    levels[..., :2, :] = levels[..., :1, :2, :]
    levels[..., 2, :] = 70
    if dtype == torch.uint8:
        return levels.to(dtype)
    return levels.to(dtype).mul_(0.0043).sub_(0.05)


def layouts(dtype, size, channels=3):
    """The same noise, as planes, as pixels side by side, as a part of either, and as a batch."""
    height, width = size
    whole = noise((channels, height + 3, width + 4), dtype)
    beside = whole.permute(1, 2, 0).contiguous().permute(2, 0, 1)
    yield whole.contiguous()
    yield beside
    yield whole[:, 2:-1, 1:-3]
    yield beside[:, 2:-1, 1:-3]
    yield noise((2, channels, height, width), dtype)
    if channels == 3:
        yield whole[:1].expand(3, -1, -1)


def assert_same_bits(got, expected, place):
    assert got.dtype == expected.dtype, place
    assert got.shape == expected.shape, place
    if got.ndim == 3:  # of a batch, torchvision may return a part of something larger
        assert got.stride() == expected.stride(), place
    assert torch.equal(got.nan_to_num(nan=-7.0), expected.nan_to_num(nan=-7.0)), place


def check(theirs, name, image, args, **kwargs):
    place = f"{name}{args}{kwargs} of {image.dtype} {tuple(image.shape)} {image.stride()}"
    expected = getattr(theirs, name)(image, *args, **kwargs)
    assert_same_bits(getattr(F, name)(image, *args, **kwargs), expected, place)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32], ids=["uint8", "float32"])
@pytest.mark.parametrize("name", COLOUR_CALLS)
def test_colours(theirs, name, dtype):
    for size in SIZES:
        for image in layouts(dtype, size):
            for args in COLOUR_CALLS[name]:
                check(theirs, name, image, args)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("name", FLOAT_CALLS)
def test_floats(theirs, name):
    for size in SIZES:
        for image in layouts(torch.float32, size):
            for args in FLOAT_CALLS[name]:
                check(theirs, name, image, args)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("name", [*COLOUR_CALLS, *FLOAT_CALLS])
def test_what_is_no_number(theirs, name):
    """Infinite values and NaN take the way that they take in torch."""
    image = noise((3, 30, 40), torch.float32)
    image[0, 5, 5] = math.nan
    image[1, 6, 6] = math.inf
    image[2, 7, 7] = -math.inf
    image[:, 8, 8] = math.inf
    image[:2, 9, 9] = -math.inf
    for args in {**COLOUR_CALLS, **FLOAT_CALLS}[name]:
        check(theirs, name, image, args)


@pytest.mark.usefixtures("isa")
def test_infinite_values_are_resized(theirs):
    image = noise((3, 30, 40), torch.float32)
    image[1, 6, 6] = math.inf
    image[2, 7, 9] = math.nan
    for size in ((30, 55), (13, 40), (13, 55)):
        check(theirs, "resize", image, (size,))


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32], ids=["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 3, 2, 4])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_resizes(theirs, mode, channels, dtype):
    for size in SIZES:
        for image in layouts(dtype, size, channels):
            for new in [(7, 9), (224, 64), (image.shape[-2] - 1, 2), (image.shape[-2], 90)]:
                for antialias in (True, False):
                    check(theirs, "resize", image, (new,), interpolation=mode, antialias=antialias)


@pytest.mark.usefixtures("isa")
def test_resized_crops_of_bytes(theirs):
    image = noise((3, 60, 80), torch.uint8)
    for place in image, image.permute(1, 2, 0).contiguous().permute(2, 0, 1):
        check(theirs, "resized_crop", place, (4, 9, 33, 21, [24, 24]))
        check(theirs, "resized_crop", place, (-4, 70, 33, 21, [24, 24]))


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32], ids=["uint8", "float32"])
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("name", WARPS)
def test_warps(theirs, name, mode, dtype):
    for size in SIZES[:3]:
        for channels in (1, 3):
            for image in layouts(dtype, size, channels):
                for fill in (None, 0, 7.5, [200.0] * channels):
                    for args in WARPS[name]:
                        check(theirs, name, image, args, interpolation=mode, fill=fill)
    image = noise((3, 33, 20), dtype)
    check(theirs, "rotate", image, (29.0,), interpolation=mode, expand=True)
    check(theirs, "rotate", image, (29.0,), interpolation=mode, fill=[1.0, -400.0, 3.0])


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_a_horizon_in_the_image(theirs, mode):
    """Places beyond it are infinite, or no numbers."""
    numbers = [1.0, 0.1, 2.0, 0.0, 1.0, 1.0, -0.05, 0.0]
    for dtype in (torch.uint8, torch.float32):
        image = noise((3, 40, 41), dtype)
        check(theirs, "perspective", image, (None, None), interpolation=mode, coefficients=numbers)


def test_the_core_does_what_it_is_there_for():
    """These tests would pass, too, if torch did everything."""
    for dtype in (torch.uint8, torch.float32):
        for image in list(layouts(dtype, (37, 53)))[:2]:
            assert native_colours.gray(image, torch.float32) is not None
            assert native_colours.saturate(image, 1.2) is not None
            assert native_colours.turn_hue(image, 0.2) is not None
            for grid in warp._TRIED_GRIDS:
                assert sampling.sample(image, grid, True, None) is not None
    for image in list(layouts(torch.uint8, (37, 53)))[:5]:
        assert sampling.resize(image, (20, 30), 2, True) is not None
    for image in list(layouts(torch.float32, (37, 53)))[:2]:
        assert native_values.scale(image, 0.5) is not None
    assert sampling.resize(image.contiguous(), (20, 30), 2, True) is not None
    assert native_values.convolve(image.contiguous(), torch.ones(3, 5)) is not None
    for tried in (colour._turn_hue, colour._saturate, *resize._RESIZES.values(), values._normalize):
        assert isinstance(tried, Tried)


def test_a_kernel_that_differs_is_left_alone():
    """In one of the types is enough: bytes do not show what they are rounded from."""
    calls = []

    def add(image, number):
        calls.append((image.dtype, number))
        return image + number + (image.dtype == torch.float32)

    def check_unused(kernel, dtype):
        calls.clear()
        assert kernel(torch.zeros(3, 4, 4, dtype=dtype), 5).max() == 5
        assert (dtype, 5) not in calls

    both = Tried(add, lambda image, number: image + number, [(2,)])
    for dtype in (torch.uint8, torch.float32, torch.float64):
        check_unused(both, dtype)
        check_unused(both, dtype)
    bytes_alone = Tried(add, lambda image, number: image + number, [(2,)], [torch.uint8])
    check_unused(bytes_alone, torch.float32)
    assert bytes_alone(torch.zeros(3, 4, 4, dtype=torch.uint8), 5).max() == 5
    assert calls.count((torch.uint8, 5)) == 1


def test_the_core_only_takes_plain_memory():
    image = noise((3, 30, 40), torch.float32)
    assert is_plain(image)
    assert not is_plain(image.clone().requires_grad_())
    with torch.no_grad():
        assert is_plain(image.clone().requires_grad_())
    assert not is_plain(torch.nn.Parameter(image))
    assert not is_plain(image.to_sparse())
    assert not is_plain(image.to("meta"))
    assert not is_plain(torch.complex(image, image).conj().imag)


def test_gradients_flow():
    for call in (
        lambda image: F.adjust_saturation(image, 0.5),
        lambda image: F.rotate(image, 20.0, interpolation="bilinear"),
        lambda image: F.normalize(image, [0.5] * 3, [0.5] * 3),
    ):
        image = noise((3, 30, 40), torch.float32).requires_grad_()
        call(image).sum().backward()
        assert image.grad.abs().sum() > 0
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(noise((3, 30, 40), torch.float32), torch.ones(3, 30, 40))
        assert forward_ad.unpack_dual(F.adjust_brightness(dual, 0.5)).tangent is not None


def test_torch_can_look_on(theirs):
    images = noise((4, 3, 30, 40), torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, about rules that it lacks
        mapped = torch.func.vmap(lambda image: F.adjust_saturation(image, 1.3))(images)
        traced = torch.jit.trace(lambda image: F.posterize(image, 3), images[0])
    assert torch.equal(mapped, theirs.adjust_saturation(images, 1.3))
    assert torch.equal(traced(images[1]), theirs.posterize(images[1], 3))
