"""A user's own callable between native steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest

from penstock import Loader, TransformError
from penstock import transforms as T


def jitter(image: PIL.Image.Image, rng: np.random.Generator) -> np.ndarray:
    """Adds a random number, and makes the image one pixel taller."""
    pixels = np.asarray(image) // 2 + rng.integers(0, 100, dtype=np.uint8)
    return np.concatenate([pixels, pixels[:1]])


PIPELINES = [
    T.Compose([PIL.ImageOps.invert, T.RandomResizedCrop(20)]),
    T.Compose([T.RandomResizedCrop(30), jitter, T.RandomHorizontalFlip(), T.Resize((20, 20))]),
    T.Compose([jitter, PIL.ImageOps.mirror, jitter, T.Resize((20, 20))]),
]


@pytest.mark.parametrize("transform", PIPELINES)
def test_python_steps_see_the_same_on_both_backends(folder: Path, transform: T.Compose) -> None:
    """Sizes may change in between; draws do not depend on who runs them."""
    common = {"batch_size": 7, "transform": transform, "shuffle": True, "output": "numpy"}

    native = [images for images, _ in Loader(folder, **common, threads=3)]
    pillow = [images for images, _ in Loader(folder, **common, backend="pillow")]

    for one, other in zip(native, pillow, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_exception_in_a_python_step_reaches_the_user(folder: Path) -> None:
    """With step, file and the original cause."""

    def explode(image: PIL.Image.Image) -> PIL.Image.Image:
        raise KeyError("boom")

    loader = Loader(folder, transform=T.Compose([T.Resize((9, 9)), explode]), output="numpy")

    with pytest.raises(
        TransformError, match=r"explode \(step 2\).*000\.jpg.*KeyError.*boom"
    ) as info:
        next(iter(loader))
    assert isinstance(info.value.__cause__, KeyError)


def test_a_wrong_result_is_named(folder: Path) -> None:
    """Not an image, not a uint8 array."""
    loader = Loader(
        folder, transform=T.Compose([lambda image: np.asarray(image) / 255.0]), output="numpy"
    )

    with pytest.raises(TransformError, match=r"step 1.*returned a float64 array"):
        next(iter(loader))
