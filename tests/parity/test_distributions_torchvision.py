"""The same distributions as torchvision v2, which draws from a generator of its own."""

import numpy as np
import pytest

from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.rng import Draws
from statistics_of_draws import assert_same_distribution
from strategies import make_image


@pytest.fixture(scope="module")
def v2(torchvision):
    from torchvision.transforms import v2

    return v2


@pytest.mark.parametrize(
    ("size", "scale", "ratio"),
    [
        ((333, 500), (0.08, 1.0), (3 / 4, 4 / 3)),
        ((480, 360), (0.5, 0.9), (0.5, 1.1)),
        ((60, 600), (0.08, 1.0), (3 / 4, 4 / 3)),  # too wide: often the central box
        ((600, 40), (0.3, 1.0), (3 / 4, 4 / 3)),  # too high: mostly the central box
    ],
)
def test_random_resized_crop_draws_from_the_same_distribution(v2, size, scale, ratio):
    import torch

    torch.manual_seed(0)
    theirs = v2.RandomResizedCrop(8, scale, ratio)
    image = make_image(size)
    boxes = [theirs.make_params([image]) for _ in range(3000)]
    count = 30_000
    sizes = Sizes(np.full(count, size[0]), np.full(count, size[1]))
    crop, _ = T.RandomResizedCrop(8, scale, ratio).sample(Draws(0, 0, np.arange(count), 0), sizes)

    for name in ("top", "left", "height", "width"):
        expected = np.array([box[name] for box in boxes])
        assert_same_distribution(getattr(crop, name), expected)
    assert_same_distribution(
        crop.height / crop.width, np.array([box["height"] / box["width"] for box in boxes])
    )
    spare = np.maximum(size[0] - crop.height, 1)
    assert_same_distribution(
        crop.top / spare,
        np.array([box["top"] / max(size[0] - box["height"], 1) for box in boxes]),
    )


def test_random_crop_draws_from_the_same_distribution(v2):
    import torch

    torch.manual_seed(0)
    image = make_image((40, 70))
    theirs = v2.RandomCrop((30, 90), padding=3, pad_if_needed=True)
    boxes = [theirs.make_params([image]) for _ in range(3000)]
    count = 30_000
    sizes = Sizes(np.full(count, 40), np.full(count, 70))
    border, crop = T.RandomCrop((30, 90), padding=3, pad_if_needed=True).sample(
        Draws(0, 0, np.arange(count), 0), sizes
    )

    assert boxes[0]["padding"] == [border.left[0], border.top[0], border.right[0], border.bottom[0]]
    for name in ("top", "left"):
        assert_same_distribution(getattr(crop, name), np.array([box[name] for box in boxes]))
