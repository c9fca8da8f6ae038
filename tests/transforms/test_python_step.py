import re

import numpy as np
import pytest
from PIL import Image

from penstock.errors import TransformError
from penstock.transforms import Compose, PythonStep
from strategies import make_image

IMAGE = make_image((4, 6))


def apply(function, image=IMAGE):
    return PythonStep(function).apply(image, np.random.default_rng(0), step=2)


def test_a_pillow_image_may_be_returned():
    np.testing.assert_array_equal(apply(lambda image: image.rotate(90, expand=True)).size, (4, 6))


def test_an_array_may_be_returned_whatever_its_strides():
    flipped = apply(lambda image: np.asarray(image)[:, ::-1])

    np.testing.assert_array_equal(flipped, np.asarray(IMAGE)[:, ::-1])


def test_other_modes_become_rgb():
    gray = apply(lambda image: image.convert("L"))

    assert gray.mode == "RGB"
    np.testing.assert_array_equal(gray, IMAGE.convert("L").convert("RGB"))


def test_a_parameter_named_rng_receives_a_generator():
    def shift(image, *, rng):
        return np.asarray(image) + rng.integers(1, 2, dtype=np.uint8)

    np.testing.assert_array_equal(apply(shift), np.asarray(IMAGE) + np.uint8(1))


def darken_top(pixels):
    pixels[0] //= 2
    return pixels


def darken_image(image):
    return darken_top(np.array(image))


@pytest.mark.parametrize(
    "step",
    [PythonStep(darken_top, as_array=True), PythonStep(darken_image)],
    ids=["array", "image"],
)
def test_arrays_and_images_give_the_same(step):
    rng, before = np.random.default_rng(0), np.asarray(IMAGE).copy()
    from_image = step.apply(IMAGE, rng, step=1)
    from_array = step.apply_to_array(before.copy(), rng, step=1)

    np.testing.assert_array_equal(from_image, darken_top(before.copy()))
    np.testing.assert_array_equal(from_array, from_image)
    np.testing.assert_array_equal(IMAGE, before)


def test_what_comes_of_an_array_is_contiguous():
    step = PythonStep(lambda pixels: pixels[:, ::-1], as_array=True)
    flipped = step.apply_to_array(np.asarray(IMAGE), np.random.default_rng(0), step=1)

    assert flipped.flags.c_contiguous
    np.testing.assert_array_equal(flipped, np.asarray(IMAGE)[:, ::-1])


@pytest.mark.parametrize("returned", [None, np.zeros((4, 6), np.uint8), IMAGE.crop((0, 0, 0, 3))])
def test_what_may_not_come_of_an_array(returned):
    step = PythonStep(lambda _: returned, as_array=True)
    with pytest.raises(TransformError, match=r"\(step 2\): returned "):
        step.apply_to_array(np.asarray(IMAGE), np.random.default_rng(0), step=2)


def test_callable_objects_and_builtins_are_functions_too():
    class Same:
        def __call__(self, image, rng):
            assert isinstance(rng, np.random.Generator)
            return image

    assert apply(Same()) is IMAGE
    assert PythonStep(Same()).name == "Same"
    assert not PythonStep(max).wants_rng


@pytest.mark.parametrize(
    ("returned", "got"),
    [
        (None, "NoneType"),
        (np.zeros((4, 6, 3)), "a float64 array of shape (4, 6, 3)"),
        (np.zeros((4, 6), np.uint8), "a uint8 array of shape (4, 6)"),
        (np.zeros((3, 4, 6), np.uint8), "a uint8 array of shape (3, 4, 6)"),
    ],
)
def test_anything_else_names_the_step(returned, got):
    def mine(image):
        return returned

    message = f"mine (step 2): returned {got}. Return a Pillow image or a uint8 array"
    with pytest.raises(TransformError, match=re.escape(message)):
        apply(mine)


def test_an_empty_image_is_refused():
    with pytest.raises(TransformError, match="returned an empty image of 0x6"):
        apply(lambda image: image.crop((0, 0, 6, 0)))


def test_a_function_in_a_compose_is_wrapped():
    (step,) = Compose([Image.Image.copy]).transforms

    assert isinstance(step, PythonStep)
    assert step.name == "Image.copy"
