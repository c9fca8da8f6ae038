import numpy as np
import pytest

from penstock.watching.loader_facts import count_images

IMAGES = np.zeros((5, 3, 4, 4))
IMAGE = np.zeros((3, 4, 4))


class Shapeless:
    """As torch's nested tensors are."""

    @property
    def shape(self):
        raise RuntimeError("has no shape")


@pytest.mark.parametrize(
    ("batch", "images"),
    [
        (IMAGES, 5),
        ((IMAGES, np.zeros(5)), 5),
        ([IMAGES, np.zeros(5)], 5),
        ({"pixel_values": IMAGES, "labels": np.zeros(5)}, 5),
        ([{"image": IMAGES}], 5),
        (([IMAGE, IMAGE], [{}, {}]), 2),
        ([IMAGE], 1),
        (([np.zeros((3, 4, 5)), np.zeros((3, 7, 2))], [{}, {}]), 2),
        ([np.zeros((4, 2)), 1], 4),
        ([], 0),
        ({}, 0),
        ("text", 0),
        (None, 0),
        (Shapeless(), 0),
        (np.float32(1), 0),
    ],
)
def test_images_are_counted(batch, images):
    assert count_images(batch) == images
