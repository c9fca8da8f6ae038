"""Numbers of tensors, and conversions between images, arrays and tensors."""

import itertools

import numpy as np
import pytest
import torch
from PIL import Image

from functional_samples import (
    DTYPES,
    MODES,
    assert_as_torchvision,
    assert_same,
    make_pillow,
    make_tensor,
    outcome,
)
from penstock.transforms import functional as F


@pytest.mark.parametrize("given", [*DTYPES, "bfloat16"])
@pytest.mark.parametrize("scale", [True, False])
def test_types(theirs, given, scale):
    image = make_tensor((3, 5, 6), given) if given != "bfloat16" else torch.rand(3, 5, 6).bfloat16()
    for wanted in DTYPES:
        for name in ("to_dtype", "to_dtype_video"):
            call = {"dtype": getattr(torch, wanted), "scale": scale}
            assert_as_torchvision(theirs, name, image, (), call)
    assert_as_torchvision(theirs, "to_dtype", image)
    assert_as_torchvision(theirs, "convert_image_dtype", image)


def test_types_that_are_there_already_cost_nothing():
    image = torch.zeros(3, 4, 4)

    assert F.to_dtype(image, torch.float32, scale=True) is image


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_normalizing(theirs, tv_tensors, dtype):
    numbers = [
        ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ((0.5,), (0.25,)),
        (0.5, 2),
        (torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1.0, 2.0, 3.0])),
        (np.array([0.1, 0.2, 0.3]), [1, 2, 3]),
    ]
    for shape, (mean, std) in itertools.product([(3, 5, 6), (2, 3, 4, 4), (0, 3, 2, 2)], numbers):
        image = make_tensor(shape, dtype)
        for inpt in (image, tv_tensors.Image(image)):
            assert_as_torchvision(theirs, "normalize", inpt, (mean, std))
    image = make_tensor((3, 5, 6), dtype)
    expected = F.normalize(image, [0.1, 0.2, 0.3], [1, 2, 3])
    assert F.normalize(image, [0.1, 0.2, 0.3], [1, 2, 3], inplace=True) is image
    assert torch.equal(image, expected)


@pytest.mark.parametrize("mode", [*MODES, "I;16"])
def test_pillow_images_to_tensors(theirs, mode):
    image = make_pillow(mode, (7, 5)) if mode != "I;16" else Image.new("I;16", (5, 7), 777)
    for name in ("pil_to_tensor", "to_image", "to_tensor", "get_image_size"):
        assert_as_torchvision(theirs, name, image)


def test_arrays_to_tensors(theirs):
    rng = np.random.default_rng(0)
    for shape in ((4, 5), (4, 5, 1), (4, 5, 3), (4, 5, 7), (5,), (2, 3, 4, 5)):
        for pixels in (rng.integers(0, 256, shape, dtype=np.uint8), rng.random(shape)):
            for name in ("to_image", "to_tensor"):
                if name == "to_image" and len(shape) == 4:
                    continue
                assert_as_torchvision(theirs, name, pixels)


def test_tensors_stay_tensors(theirs, tv_tensors):
    for tensor in (
        torch.zeros(3, 4, 5),
        torch.zeros(4, 5),
        tv_tensors.Video(torch.zeros(2, 3, 4, 5)),
    ):
        assert_as_torchvision(theirs, "to_image", tensor)
        assert_as_torchvision(theirs, "get_image_size", tensor)


@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4, 5])
def test_to_pillow(theirs, tv_tensors, channels):
    shape = (6, 7) if channels is None else (channels, 6, 7)
    modes = [None, "L", "F", "I", "I;16", "LA", "RGB", "HSV", "YCbCr", "RGBA", "CMYK", "RGBX"]
    for dtype in ("uint8", "float32", "float64", "int16", "int32", "int64"):
        tensor = make_tensor(shape, dtype)
        array = tensor.numpy() if channels is None else tensor.permute(1, 2, 0).numpy()
        for mode in modes:
            call = {} if mode is None else {"mode": mode}
            for pic in (tensor, array, np.ascontiguousarray(array)):
                expected, refused = outcome(theirs.to_pil_image, pic, (), call)
                got, error = outcome(F.to_pil_image, pic, (), call)
                assert (refused is None) == (error is None), (dtype, mode, refused, error)
                if refused is None:
                    assert_same(f"{dtype} {mode}", got, expected)
    if channels == 3:
        image = make_tensor(shape, "uint8")
        assert_same("Image", F.to_pil_image(tv_tensors.Image(image)), theirs.to_pil_image(image))


def test_a_pillow_image_does_not_share_memory():
    tensor = torch.zeros(1, 4, 4, dtype=torch.uint8)
    image = F.to_pil_image(tensor)

    tensor.fill_(9)

    assert np.asarray(image).max() == 0


def test_older_functions_warn():
    with pytest.warns(UserWarning, match="deprecated and will be removed"):
        F.to_tensor(Image.new("L", (2, 2)))
    with pytest.warns(UserWarning, match="deprecated and will be removed"):
        assert F.get_image_size(torch.zeros(1, 2, 3)) == [3, 2]
