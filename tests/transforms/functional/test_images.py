"""Functions on images give torchvision's bits, whatever the kind of image."""

import numpy as np
import pytest
import torch
from PIL import Image

from functional_samples import (
    DTYPES,
    IMAGE_CALLS,
    MODES,
    PILLOW_SIZES,
    SHAPES,
    assert_as_torchvision,
    make_pillow,
    make_tensor,
)
from penstock.transforms import functional as F


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", IMAGE_CALLS)
def test_tensors(theirs, name, dtype):
    for shape in SHAPES if dtype in {"uint8", "float32"} else (SHAPES[0], SHAPES[1], SHAPES[7]):
        for args, kwargs in IMAGE_CALLS[name]:
            assert_as_torchvision(theirs, name, make_tensor(shape, dtype), args, kwargs)


@pytest.mark.parametrize("name", IMAGE_CALLS)
def test_channels_last(theirs, name):
    """Strides decide in which order torch adds up, and so about the last bit."""
    for dtype in ("uint8", "float32"):
        image = make_tensor((17, 23, 3), dtype).permute(2, 0, 1)
        for args, kwargs in IMAGE_CALLS[name]:
            assert_as_torchvision(theirs, name, image, args, kwargs)


@pytest.mark.parametrize("kind", ["Image", "Video", "Mask"])
@pytest.mark.parametrize("name", IMAGE_CALLS)
def test_wrapped_tensors(theirs, tv_tensors, name, kind):
    """A tv_tensor comes back as what it was; kinds that a function does not take are refused."""
    shape = (2, 3, 11, 9) if kind == "Video" else (3, 11, 9)
    for dtype in ("uint8", "float32"):
        wrapped = getattr(tv_tensors, kind)(make_tensor(shape, dtype))
        for args, kwargs in IMAGE_CALLS[name]:
            assert_as_torchvision(theirs, name, wrapped, args, kwargs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", IMAGE_CALLS)
def test_pillow_images(theirs, name, mode):
    for size in PILLOW_SIZES if mode in {"RGB", "L"} else PILLOW_SIZES[:2]:
        for args, kwargs in IMAGE_CALLS[name]:
            assert_as_torchvision(theirs, name, make_pillow(mode, size), args, kwargs)


@pytest.mark.filterwarnings("ignore:Anti-alias option")
@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("name", IMAGE_CALLS)
def test_arrays(name, channels):
    """An array gets the pixels of the Pillow image that is made of it."""
    shape = (17, 23) if channels is None else (17, 23, channels)
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    image = Image.fromarray(pixels[..., 0] if channels == 1 else pixels)
    for args, kwargs in IMAGE_CALLS[name]:
        try:
            expected = getattr(F, name)(image, *args, **kwargs)
        except (ValueError, TypeError, OSError, KeyError, NotImplementedError) as error:
            with pytest.raises(type(error)):
                getattr(F, name)(pixels, *args, **kwargs)
            continue
        got = getattr(F, name)(pixels, *args, **kwargs)
        if not isinstance(expected, tuple):
            got, expected = (got,), (expected,)
        for one, other in zip(got, expected, strict=True):
            assert_array_is(one, other, has_one_channel=channels == 1)


def assert_array_is(got, expected, *, has_one_channel):
    if not isinstance(expected, Image.Image):
        assert got == expected
        return
    pixels = np.asarray(expected)
    if has_one_channel and pixels.ndim == 2:
        pixels = pixels[..., None]
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, pixels)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "int32"])
@pytest.mark.parametrize("clip", [True, False])
def test_noise_is_torchs(theirs, dtype, clip):
    image = make_tensor((3, 9, 8), dtype)
    results = []
    for functional in (F, theirs):
        torch.manual_seed(3)
        try:
            results.append(functional.gaussian_noise(image, mean=0.1, sigma=0.4, clip=clip))
        except ValueError as error:
            results.append(str(error).partition(",")[0])

    if dtype == "int32":
        assert results[0] == results[1]
    else:
        assert torch.equal(*results)


@pytest.mark.parametrize("name", IMAGE_CALLS)
def test_gradients(theirs, name):
    """Where torchvision's functions can be trained through, so can ours."""
    for args, kwargs in IMAGE_CALLS[name]:
        expected = gradient(getattr(theirs, name), args, kwargs)
        if expected is not None:
            got = gradient(getattr(F, name), args, kwargs)
            torch.testing.assert_close(got, expected, equal_nan=True)


def gradient(function, args, kwargs):
    image = make_tensor((3, 17, 23), "float32").mul(0.9).add(0.05).requires_grad_()
    try:
        out = function(image, *args, **kwargs)
        out = torch.stack(out) if isinstance(out, tuple) else out
        out.square().sum().backward()
    except (ValueError, TypeError, RuntimeError, AttributeError):
        return None
    return image.grad


def test_a_given_image_stays_as_it_is():
    for name, calls in IMAGE_CALLS.items():
        for dtype in ("uint8", "float32"):
            image = make_tensor((3, 17, 23), dtype)
            before = image.clone()
            for args, kwargs in calls:
                try:
                    getattr(F, name)(image, *args, **kwargs)
                except (ValueError, TypeError, RuntimeError):  # of torch: it lacks a combination
                    continue
                assert torch.equal(image, before), name


def test_functions_can_be_compiled():
    """Into one graph, after a first call has found the kernels; this backend needs no compiler."""
    image = make_tensor((3, 9, 8), "uint8")

    def augment(image):
        turned = F.rotate(F.horizontal_flip(image), 30, fill=3)
        return F.normalize(F.to_dtype(F.resize(turned, [6, 6]), scale=True), [0.5], [0.2])

    expected = augment(image)
    compiled = torch.compile(augment, backend="eager", fullgraph=True)

    assert torch.equal(compiled(image), expected)


def test_erasing_in_place():
    image = torch.ones(3, 4, 5)

    erased = F.erase(image, 1, 1, 2, 2, torch.zeros(3, 2, 2), inplace=True)

    assert erased is image
    assert image.sum() == 3 * (20 - 4)


def test_erasing_with_an_array():
    image = Image.new("RGB", (5, 4), (9, 9, 9))

    erased = F.erase(image, 0, 0, 2, 2, np.zeros((3, 2, 2), dtype=np.uint8))

    assert np.asarray(erased)[:2, :2].max() == 0
    assert np.asarray(erased)[2:].min() == 9


def test_jpeg_loses_what_pillow_loses():
    """torchvision has another copy of the JPEG library, so it is only near on tensors."""
    image = make_pillow("RGB", (40, 33))
    by_pillow = np.asarray(F.jpeg(image, quality=40))
    tensor = F.pil_to_tensor(image)

    assert np.array_equal(F.jpeg(np.asarray(image), 40), by_pillow)
    assert np.array_equal(F.jpeg(tensor, 40).permute(1, 2, 0).numpy(), by_pillow)
    assert F.jpeg(tensor[None, :1].repeat(2, 1, 1, 1), 40).shape == (2, 1, 40, 33)
    assert F.jpeg(torch.empty(0, 3, 5, 5, dtype=torch.uint8), 40).shape == (0, 3, 5, 5)


def test_videos_are_sampled_over_time(theirs):
    video = make_tensor((2, 9, 3, 4, 5), "uint8")
    for count in (1, 2, 4, 9, 20):
        assert_as_torchvision(theirs, "uniform_temporal_subsample", video, (count,))
    assert F.get_num_frames(video) == 9
