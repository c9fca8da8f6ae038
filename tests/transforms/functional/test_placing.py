"""Flips, crops and borders are torchvision's on every kind of image, in every instruction set."""

import io

import numpy as np
import pytest
import torch
from PIL import Image

from penstock.errors import TransformTypeError
from penstock.transforms import functional as F
from penstock.transforms.functional.native import memory, placing
from penstock.transforms.functional.native.tensors import placing as tensor_placing

SIZES = [(1, 1), (1, 7), (7, 1), (2, 300), (300, 2), (37, 53), (65, 131)]
DTYPES = [
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
]
FILLS = [None, 2.5, 255, [9]]
MODES = ["constant", "edge", "reflect", "symmetric"]


def crops_of(size):
    height, width = size
    return [
        (0, 0, height, width),
        (0, 0, 1, 1),
        (height - 1, width // 2, 1, width - width // 2),
        (height // 3, width // 3, height - height // 3, width - width // 3),
        (-1, 0, height, width),
        (0, width - 1, 2, 3),
    ]


def calls_of(size):
    """Names and arguments, for an image of that size."""
    half = (size[0] + 1) // 2, (size[1] + 1) // 2
    yield from (("horizontal_flip", ()), ("vertical_flip", ()))
    yield from (("crop", box) for box in crops_of(size))
    yield from (("center_crop", (wanted,)) for wanted in (1, half, size, (size[0] + 3, 1)))
    yield from ((name, (half,)) for name in ("five_crop", "ten_crop"))
    yield "ten_crop", (half, True)


def borders_of(size):
    """Of which some are wider than the image."""
    yield from (0, [3], [1, 2], (4, 0, 2, 1), [0, 0, 0, 5])
    yield from ([size[1] - 1, size[0] - 1], [size[1], size[0]], [size[1] + 2, 0])


def pixels_of(out):
    return [one.tobytes() for one in out] if isinstance(out, tuple) else out.tobytes()


def picture(size, mode, seed=0):
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)).convert(mode)


def outcome(call, *args, **kwargs):
    """The result, or that there was an error."""
    try:
        return call(*args, **kwargs)
    except (RuntimeError, ValueError, IndexError) as error:
        return error


def assert_same_pixels(got, expected, place):
    assert type(got) is type(expected), place
    pairs = zip(got, expected, strict=True) if isinstance(got, tuple) else [(got, expected)]
    for one, other in pairs:
        assert (one.mode, one.size) == (other.mode, other.size), place
        assert one.tobytes() == other.tobytes(), place


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_pillow_images_and_arrays(theirs, size, mode):
    image = picture(size, mode)
    for name, args in calls_of(size):
        place = f"{name}{args} of {mode} {size}"
        expected = getattr(theirs, name)(image, *args)
        assert_same_pixels(getattr(F, name)(image, *args), expected, place)
        on_array = getattr(F, name)(np.asarray(image), *args)
        assert pixels_of(on_array) == pixels_of(expected), place


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("padding_mode", MODES)
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_borders_of_pillow_images_and_arrays(theirs, mode, padding_mode):
    for size in SIZES:
        image = picture(size, mode)
        for padding in borders_of(size):
            for fill in [*FILLS, [1, 200, 3]]:
                if fill == [1, 200, 3] and mode == "L":
                    continue
                place = f"{padding} {fill} {size}"
                expected = theirs.pad(image, padding, fill, padding_mode)
                assert_same_pixels(F.pad(image, padding, fill, padding_mode), expected, place)
                on_array = F.pad(np.asarray(image), padding, fill, padding_mode)
                assert on_array.tobytes() == expected.tobytes(), place


def layouts(dtype, size, channels):
    """Planes, pixels side by side, a part of them, a batch in both ways, and a batch of two."""
    height, width = size
    levels = torch.randint(0, 256, (2, channels, height + 2, width + 2))
    batch = levels.to(dtype)
    whole = batch[0, :, :height, :width].contiguous()
    yield whole
    yield whole.permute(1, 2, 0).contiguous().permute(2, 0, 1)
    yield batch[0, :, 1:-1, 1:-1]
    yield batch
    yield batch.contiguous(memory_format=torch.channels_last)
    yield batch.view(2, 1, *batch.shape[1:])


def strides_of(tensor):
    """Those that matter: a side of one has no next one."""
    return [stride for stride, side in zip(tensor.stride(), tensor.shape, strict=True) if side > 1]


def assert_same_tensors(got, expected, place):
    pairs = zip(got, expected, strict=True) if isinstance(got, tuple) else [(got, expected)]
    for one, other in pairs:
        assert (one.dtype, one.shape) == (other.dtype, other.shape), place
        assert strides_of(one) == strides_of(other), place
        assert torch.equal(one, other), place


def check_calls(theirs, image):
    for name, args in calls_of(tuple(image.shape[-2:])):
        place = f"{name}{args} of {tuple(image.shape)} {image.stride()}"
        expected = outcome(getattr(theirs, name), image, *args)
        got = outcome(getattr(F, name), image, *args)
        if isinstance(expected, Exception):
            assert isinstance(got, Exception), place
        else:
            assert_same_tensors(got, expected, place)


def check_borders(theirs, image, padding_mode):
    channels = image.shape[-3]
    colours = [[1] * channels, [3.5] * channels] if padding_mode == "constant" else []
    for padding in borders_of(tuple(image.shape[-2:])):
        for fill in [None, *([7, 2.5] if colours else []), *colours]:
            place = f"{padding} {fill} of {tuple(image.shape)} {image.stride()}"
            args = image, padding, fill, padding_mode
            expected = outcome(theirs.pad, *args)
            got = outcome(F.pad, *args)
            if isinstance(expected, Exception):
                assert isinstance(got, Exception), place
            else:
                assert_same_tensors(got, expected, place)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors(theirs, dtype):
    for size in ((1, 1), (1, 7), (30, 2), (6, 9)):
        for channels in (1, 2, 3, 4):
            for image in layouts(dtype, size, channels):
                check_calls(theirs, image)


@pytest.mark.parametrize("padding_mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_borders_of_tensors(theirs, dtype, padding_mode):
    for size in ((1, 1), (30, 2), (5, 9)):
        for channels in (1, 3):
            for image in layouts(dtype, size, channels):
                check_borders(theirs, image, padding_mode)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64], ids=str)
def test_borders_of_wider_tensors(theirs, dtype):
    for size in SIZES[3:]:
        for padding_mode in MODES:
            check_borders(theirs, torch.randint(0, 256, (3, *size)).to(dtype), padding_mode)


def test_values_that_floats_cannot_count(theirs):
    """Borders that repeat large integers go by way of float32, as in torchvision."""
    for dtype in (torch.int32, torch.int64):
        image = torch.arange(2**30, 2**30 + 60, dtype=dtype).view(1, 6, 10)
        for mode in ("edge", "reflect", "symmetric"):
            assert torch.equal(F.pad(image, 2, None, mode), theirs.pad(image, 2, None, mode))


def test_crops_of_tensors_are_views():
    image = torch.zeros(3, 8, 9)
    for crop in (
        F.crop(image, 1, 2, 3, 4),
        F.center_crop(image, [4, 4]),
        *F.five_crop(image, [2, 3]),
        *F.ten_crop(image, [2, 3])[:5],
    ):
        assert crop._base is image
    F.five_crop(image, [2, 3])[3].fill_(1)
    assert image[:, -2:, -3:].min() == 1


def test_gradients_flow_through_crops_and_borders():
    calls = (
        lambda image: F.five_crop(image, [2, 3])[4],
        lambda image: F.pad(image, 2),
        lambda image: F.pad(image, 2, None, "symmetric"),
    )
    for call in calls:
        image = torch.rand(3, 8, 9, requires_grad=True)
        call(image).sum().backward()
        assert image.grad.sum() > 0


def test_the_core_does_what_it_is_there_for():
    """These tests would pass, too, if Pillow and torch did everything."""
    image = picture((37, 53), "RGB")
    for inpt in (image, np.asarray(image)):
        assert placing.horizontal_flip.attempt(inpt) is not None
        assert placing.vertical_flip.attempt(inpt) is not None
        assert placing.crop.attempt(inpt, 1, 2, 3, 4) is not None
        assert placing.five_crop.attempt(inpt, [3, 4]) is not None
        assert placing.pad.attempt(inpt, 3, None, "edge") is not None
    borders = (1, 2, 3, 4)
    for dtype in (torch.uint8, torch.float32):
        tensor = torch.zeros(3, 9, 9, dtype=dtype)
        assert tensor_placing.pad(tensor, borders, 7) is not None
        assert tensor_placing.pad_with_colour(tensor, borders, [1, 2, 3]) is not None
        assert tensor_placing.pad_by_repeating(tensor, borders, "symmetric") is not None


def test_numbers_that_are_no_ints(theirs):
    """They are left to Pillow and torch, which round them or refuse them."""
    image = picture((9, 9), "RGB")
    box = [np.int64(1), np.int32(2), np.int64(3), np.uint8(4)]
    assert F.crop(image, *box).tobytes() == theirs.crop(image, *box).tobytes()
    assert F.crop(image, 1.4, 2, 3, 4).tobytes() == theirs.crop(image, 1.4, 2, 3, 4).tobytes()
    tensor = torch.rand(3, 9, 9)
    assert torch.equal(F.crop(tensor, *box), theirs.crop(tensor, *box))
    expected = theirs.five_crop(tensor, box[2:])
    assert_same_tensors(F.five_crop(tensor, box[2:]), expected, "five_crop")


def test_what_an_image_knows_of_itself(theirs):
    image = picture((40, 50), "RGB")
    image.info["dpi"] = (300, 300)
    written = io.BytesIO()
    image.save(written, "PNG", dpi=(72, 72))
    opened = Image.open(written)
    for inpt in (image, opened):
        for name, args in (
            *(("horizontal_flip", ()), ("vertical_flip", ()), ("crop", (1, 1, 5, 5))),
            *(("center_crop", (9,)), ("pad", (3,)), ("pad", (3, 0, "edge")), ("invert", ())),
        ):
            expected = getattr(theirs, name)(inpt, *args)
            got = getattr(F, name)(inpt, *args)
            assert_same_pixels(got, expected, name)
            assert got.info == expected.info, name
            assert got.readonly == expected.readonly == 0


def test_images_of_older_pillows(theirs, monkeypatch):
    """They do not show their memory, and make new images in their own way."""
    monkeypatch.setattr(memory, "_SHOWS_MEMORY", False)
    image = picture((9, 12), "RGB")
    for name, args in calls_of((9, 12)):
        expected = getattr(theirs, name)(image, *args)
        assert_same_pixels(getattr(F, name)(image, *args), expected, name)


@pytest.mark.parametrize("mode", ["P", "LA", "RGBA", "1", "F", "CMYK"])
def test_other_modes(theirs, mode):
    image = picture((9, 12), "L" if mode == "F" else "RGB").convert(mode)
    for name, args in calls_of((9, 12)):
        expected = getattr(theirs, name)(image, *args)
        assert_same_pixels(getattr(F, name)(image, *args), expected, name)


def test_arrays_that_are_no_images():
    for pixels in (
        *(np.zeros(5, np.uint8), np.zeros((2, 3, 5), np.uint8), np.zeros((2, 3), np.float32)),
        *(np.zeros((4, 4), "datetime64[s]"), np.zeros((4, 4), object)),
    ):
        for call in (F.horizontal_flip, F.invert, F.get_size, lambda x: F.crop(x, 0, 0, 1, 1)):
            with pytest.raises(TransformTypeError, match="an array must be uint8"):
                call(pixels)


def test_arrays_of_any_strides():
    whole = np.asarray(picture((40, 60), "RGB"))
    for part in (whole[::2, 5:50:3], whole[::-1], whole[:, :, ::-1], whole.T[:1].T, whole[..., 0]):
        part.flags.writeable = False
        np.testing.assert_array_equal(F.horizontal_flip(part), part[:, ::-1])
        np.testing.assert_array_equal(F.vertical_flip(part), part[::-1])
        np.testing.assert_array_equal(F.crop(part, 1, 2, 3, 4), part[1:4, 2:6])
        widths = [(2, 2), (1, 1), (0, 0)][: part.ndim]
        np.testing.assert_array_equal(F.pad(part, [1, 2]), np.pad(part, widths))
