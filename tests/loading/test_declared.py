"""Functions of the user's with a declaration: crops pass them, and what they say is checked."""

import threading

import numpy as np
import pytest

import penstock
from penstock import Loader, TransformError
from penstock import transforms as T
from penstock.transforms.python_step import PythonStep

PIPELINE_END = (T.RandomHorizontalFlip(), T.CenterCrop((20, 24)), T.RandomInvert())


class Seen:
    """A function per pixel that remembers the sizes that it was given."""

    def __init__(self):
        self.sizes = []
        self._lock = threading.Lock()

    def __call__(self, pixels, rng):
        with self._lock:
            self.sizes.append(pixels.shape[:2])
        factor = rng.random()
        return (pixels * factor).astype(np.uint8)


def load(folder, function, *, masks=None, **options):
    transform = T.Compose(
        [
            T.Resize((50, 60)),
            T.RandomRotation(9),
            PythonStep(function, as_array=True),
            *PIPELINE_END,
        ]
    )
    loader = Loader(folder, transform=transform, batch_size=8, output="numpy", **options)
    return np.concatenate([images for images, _ in loader])


def test_crops_are_done_before_a_function_per_pixel(folder):
    closed, declared = Seen(), penstock.per_pixel(Seen())
    expected = load(folder, closed)
    np.testing.assert_array_equal(load(folder, declared), expected)
    assert set(closed.sizes) == {(50, 60)}
    assert (20, 24) in declared.sizes
    assert (50, 60) not in declared.sizes
    np.testing.assert_array_equal(load(folder, declared, backend="pillow"), expected)
    declared.sizes.clear()
    np.testing.assert_array_equal(load(folder, declared, plan=False), expected)
    assert (50, 60) in declared.sizes


def test_explain_tells_it(folder):
    function = penstock.per_pixel(Seen())
    transform = T.Compose([PythonStep(function, as_array=True), T.CenterCrop(20)])
    explained = Loader(folder, transform=transform).explain()
    assert [rule.name for rule in explained.rules] == ["crop_before_function"]
    assert explained.planned_stages[0][0] == "crop to 20x20"
    assert not explained.notes
    del function.__penstock_declares__
    explained = Loader(folder, transform=transform).explain()
    assert explained.rules == ()
    assert "declared with @penstock.per_pixel" in explained.notes[0]


def local_mean(pixels):
    return np.clip(pixels + pixels.mean(), 0, 255).astype(np.uint8)


def grain(pixels, rng):
    return np.clip(pixels + rng.normal(0, 9, pixels.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("function", [local_mean, grain])
def test_a_wrong_declaration_is_an_error(folder, function):
    def wrapped(pixels, rng):
        return function(pixels, rng) if function is grain else function(pixels)

    with pytest.raises(TransformError, match="is declared per_pixel, but makes something else"):
        load(folder, penstock.per_pixel(wrapped))


def test_another_size_is_an_error(folder):
    @penstock.keeps_size
    def halved(pixels):
        return pixels[::2]

    with pytest.raises(TransformError, match="declared keeps_size, but made 25x60 of 50x60"):
        load(folder, halved)

    @penstock.keeps_size
    def darker(image):
        return image.point(lambda level: level // 2)

    loader = Loader(folder, transform=T.Compose([T.Resize((20, 20)), darker]), batch_size=4)
    assert len(list(loader)) == 6


def test_what_cannot_be_marked():
    with pytest.raises(TransformError, match="per_pixel: takes a function, got 3"):
        penstock.per_pixel(3)
    with pytest.raises(TransformError, match="cannot be marked"):
        penstock.keeps_size(len)
