import numpy as np
import pytest
from PIL import Image

from penstock import transforms as T
from penstock._core import Element
from penstock.planner.plan import as_written
from penstock.reference.pipeline import finish, run_reference
from penstock.rng import Draws
from penstock.transforms.values import FinalSpec
from strategies import make_image

IMAGE = make_image((8, 10))


def run(transform, sample=3, layout="hwc"):
    return run_reference(
        as_written(transform), IMAGE, seed=5, epoch=2, sample=sample, layout=layout
    )


def test_no_transform_leaves_the_image_alone():
    np.testing.assert_array_equal(run(None), IMAGE)
    np.testing.assert_array_equal(run(None, layout="chw"), np.asarray(IMAGE).transpose(2, 0, 1))


def test_functions_run_between_moves_with_generators_of_their_own():
    seen = []

    def first(image, rng):
        seen.append(rng.random())
        return image.rotate(90, expand=True)

    def second(image, rng):
        seen.append(rng.random())
        return np.asarray(image) // 2

    finished = run(T.Compose([T.CenterCrop(6), first, second, T.Resize((3, 4))]))

    expected = IMAGE.crop((2, 1, 8, 7)).rotate(90, expand=True)
    expected = Image.fromarray(np.asarray(expected) // 2).resize((4, 3), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(finished, expected)
    assert seen == [Draws(5, 2, np.array([3]), stream).generator(0).random() for stream in (1, 2)]


def test_ops_after_a_function_see_the_size_it_left():
    enlarged = run(T.Compose([lambda image: image.resize((40, 30)), T.RandomCrop((30, 40))]))

    np.testing.assert_array_equal(enlarged, IMAGE.resize((40, 30)))


@pytest.mark.parametrize(
    ("value", "bits"),
    [(1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (1.00391, 0x3F81), (-3.0, 0xC040)],
)
def test_bfloat16_rounds_to_nearest_even(value, bits):
    """1.00390625 and 1.01171875 lie halfway between two bfloat16 numbers."""
    spec = FinalSpec(Element.BFLOAT16, scale=1.0, mean=(1.0 - value,) * 3, std=(1.0,) * 3)
    one = Image.new("RGB", (1, 1), (1, 1, 1))

    assert np.all(finish(one, spec) == bits)
