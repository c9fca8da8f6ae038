"""The core's kernels on single images give the bytes of Pillow's, for every instruction set."""

import io
import os
import threading

import numpy as np
import pytest
from PIL import Image

from penstock._core import Effect, Element, Pixels, effect_one
from penstock.errors import PenstockError
from penstock.transforms.functional.native import colour, conversions, geometry, placing
from penstock.transforms.functional.native.memory import pixels_of
from penstock.transforms.functional.pillow import colour as pillow_colour
from penstock.transforms.functional.pillow import geometry as pillow_geometry

SIZES = [(1, 1), (1, 7), (7, 1), (3, 2), (37, 53), (64, 224), (2, 300), (300, 2), (97, 131)]
MODES = ["L", "RGB"]
FACTORS = [0, 0.3, 1, 1.7, 5]

COLOUR = {
    **{
        f"{name}({factor})": (name, (factor,))
        for name in (
            *("adjust_brightness", "adjust_contrast"),
            *("adjust_saturation", "adjust_sharpness"),
        )
        for factor in FACTORS
    },
    **{f"adjust_hue({turn})": ("adjust_hue", (turn,)) for turn in (-0.5, -0.1, 0, 0.2, 0.5)},
    **{
        f"adjust_gamma{numbers}": ("adjust_gamma", numbers)
        for numbers in ((0.0,), (0.5, 0.9), (1.0,), (2.2, 1.0), (3, 2.5), (1.0, -1.0))
    },
    **{f"posterize({bits})": ("posterize", (bits,)) for bits in range(1, 9)},
    **{
        f"solarize({level})": ("solarize", (level,))
        for level in (-3, 0, 1, 127.5, 128, 255, 256, 300)
    },
    **{f"gray({count})": ("rgb_to_grayscale", (count,)) for count in (1, 3)},
    **{name: (name, ()) for name in ("invert", "autocontrast", "equalize")},
}


def picture(size: tuple[int, int], mode: str = "RGB", seed: int = 0) -> Image.Image:
    """Noise over a slope, so that neighbours are alike and every level comes."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(0, 255, size[0] * size[1]).reshape(*size, 1)
    pixels = np.clip(slope + rng.normal(0, 40, (*size, 3)), 0, 255).astype(np.uint8)
    return Image.fromarray(pixels).convert(mode)


def assert_same_image(got: Image.Image, expected: Image.Image) -> None:
    assert (got.mode, got.size) == (expected.mode, expected.size)
    assert got.tobytes() == expected.tobytes()


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", COLOUR)
def test_colours_are_pillows(case, mode):
    name, arguments = COLOUR[case]
    native, oracle = getattr(colour, name), getattr(pillow_colour, name)
    for size in SIZES:
        image = picture(size, mode)
        expected = oracle(image, *arguments)

        assert_same_image(native.on_pillow(image, *arguments), expected)
        np.testing.assert_array_equal(
            native.on_arrays(np.asarray(image), *arguments), np.asarray(expected)
        )


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("mode", MODES)
def test_mirrored_images_are_pillows(mode):
    for size in [*SIZES, (64, 64), (65, 63), (131, 97)]:
        image = picture(size, mode)
        expected = pillow_geometry.horizontal_flip(image)

        assert_same_image(placing.horizontal_flip.on_pillow(image), expected)
        np.testing.assert_array_equal(
            placing.horizontal_flip.on_arrays(np.asarray(image)), np.asarray(expected)
        )


@pytest.mark.usefixtures("isa")
def test_channels_change_places():
    image = picture((37, 53))
    assert_same_image(
        colour.permute_channels.on_pillow(image, [2, 0, 1]),
        pillow_colour.permute_channels(image, [2, 0, 1]),
    )


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("filter", range(6))
def test_resizes_are_pillows(filter, mode):
    for size in SIZES:
        image = picture(size, mode)
        for wanted in [(1, 1), (5, 9), (70, 224), (size[0], 3), (64, size[1])]:
            assert_same_image(
                geometry.resize.on_pillow(image, wanted, filter),
                pillow_geometry.resize(image, wanted, filter),
            )
        height, width = size
        box = (height // 3, width // 4, height - height // 3, width - width // 4)
        assert_same_image(
            geometry.resized_crop.on_pillow(image, *box, [20, 30], filter),
            pillow_geometry.resized_crop(image, *box, [20, 30], filter),
        )


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("filter", [0, 2, 3])
def test_warps_are_pillows(filter, mode):
    fills = [None, 7, (1, 200, 3) if mode == "RGB" else (9,)]
    for size in SIZES:
        image, (height, width) = picture(size, mode), size
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        moved = [[2, 1], [width - 3, 2], [width - 1, height - 2], [1, height - 1]]
        for fill in fills:
            calls = [
                ("rotate", (angle, filter, expand, centre, fill))
                for angle in (0, 90, 13.7, -77, 180, 450.5)
                for expand in (False, True)
                for centre in (None, (2, 5))
            ]
            calls.append(("affine", (11, (3, -2), 1.3, (5, 2), filter, fill)))
            if min(size) > 4:
                calls.append(("perspective", (corners, moved, filter, fill)))
            for name, arguments in calls:
                assert_same_image(
                    getattr(geometry, name).on_pillow(image, *arguments),
                    getattr(pillow_geometry, name)(image, *arguments),
                )


@pytest.mark.parametrize("mode", ["1", "P", "LA", "RGBA", "CMYK", "I;16", "F", "HSV"])
def test_other_modes_are_left_to_pillow(mode):
    image = Image.new(mode, (20, 30)) if mode == "I;16" else picture((30, 20)).convert(mode)
    assert pixels_of(image) is None
    assert_same_image(
        geometry.resize.on_pillow(image, [10, 12], 0), pillow_geometry.resize(image, [10, 12], 0)
    )


@pytest.mark.parametrize("factor", [-1.0, float("nan"), 1e9])
def test_strange_factors_are_left_to_pillow(factor):
    image = picture((5, 6))
    assert_same_image(
        colour.adjust_brightness.on_pillow(image, factor),
        pillow_colour.adjust_brightness(image, factor),
    )


def test_an_image_in_pieces():
    """Pillow keeps more than 16 MB in several pieces of memory."""
    image = picture((2100, 2300))
    assert not image.im.isblock()
    assert_same_image(colour.invert.on_pillow(image), pillow_colour.invert(image))
    assert_same_image(
        geometry.resize.on_pillow(image, [70, 90]), pillow_geometry.resize(image, [70, 90])
    )


def test_a_file_that_was_not_read_yet():
    written = io.BytesIO()
    picture((40, 50)).save(written, "PNG")
    opened = Image.open(io.BytesIO(written.getvalue()))
    expected = Image.open(io.BytesIO(written.getvalue()))
    assert_same_image(colour.invert.on_pillow(opened), pillow_colour.invert(expected))


def test_what_an_image_knows_of_itself_stays():
    image = picture((4, 5))
    image.info["dpi"] = (300, 300)
    inverted = colour.invert.on_pillow(image)
    assert inverted.info == {"dpi": (300, 300)}
    assert type(inverted) is Image.Image


def test_results_are_images_like_any_other():
    """They can be written to, and the source stays as it was."""
    image = picture((6, 7))
    before = image.tobytes()
    inverted = colour.invert.on_pillow(image)
    inverted.putpixel((0, 0), (1, 2, 3))
    inverted.paste((9, 9, 9), (2, 2, 4, 4))
    assert inverted.getpixel((0, 0)) == (1, 2, 3)
    assert inverted.convert("RGBA").getpixel((3, 3)) == (9, 9, 9, 255)
    assert image.tobytes() == before


def test_arrays_of_any_strides():
    whole = np.asarray(picture((40, 60)))
    part = whole[::2, 5:50:3]
    part.flags.writeable = False
    np.testing.assert_array_equal(colour.invert.on_arrays(part), 255 - part)
    assert colour.invert.on_arrays(part[:, :, :1]).shape == (*part.shape[:2], 1)


@pytest.mark.parametrize("mode", MODES)
def test_arrays_and_images_become_each_other(mode):
    for size in SIZES:
        image = picture(size, mode)
        pixels = conversions.to_array(image)
        np.testing.assert_array_equal(np.squeeze(pixels), np.squeeze(np.array(image)))
        assert_same_image(conversions.to_pillow(pixels), image)


def test_threads_do_not_disturb_each_other():
    image = picture((61, 47))
    expected = [pillow_geometry.resize(image, [20 + n, 30]).tobytes() for n in range(8)]
    wrong = []

    def work(n):
        results = [geometry.resize.on_pillow(image, [20 + n, 30]) for _ in range(50)]
        wrong.extend(result for result in results if result.tobytes() != expected[n])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_after_a_fork():
    image = picture((30, 20))
    expected = colour.invert.on_pillow(image).tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if colour.invert.on_pillow(image).tobytes() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_memory_that_does_not_fit_is_refused():
    pixels = np.zeros((4, 5, 3), np.uint8)
    address = pixels.__array_interface__["data"][0]
    image = Pixels.at(address, 4, 5, 3, True, Element.UINT8, pixels)
    small = np.zeros((3, 5, 3), np.uint8)
    room = Pixels.at(small.__array_interface__["data"][0], 3, 5, 3, True, Element.UINT8, small)
    with pytest.raises(PenstockError, match="cannot change an image's size"):
        effect_one(room, image, Effect.INVERT, [])
    with pytest.raises(PenstockError, match="not the target itself"):
        effect_one(image, image, Effect.INVERT, [])
    with pytest.raises(PenstockError, match="1 or 3 channels"):
        Pixels.at(address, 4, 5, 2, True, Element.UINT8, pixels)
    capsule = Image.new("RGB", (5, 4)).im.__arrow_c_array__()
    with pytest.raises(PenstockError, match="not that of an image of 5x4"):
        Pixels.of_pillow(capsule, 5, 4, 1)
