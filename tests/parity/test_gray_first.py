"""Gray before other steps: the core makes it row by row while it decodes; Pillow from the whole."""

import numpy as np
import pytest
from PIL import Image

from penstock import Loader
from penstock import transforms as T

PIPELINES = {
    "alone": [T.Resize((40, 40)), T.Grayscale()],
    "crop": [T.Grayscale(), T.CenterCrop((31, 33))],
    "crop before": [T.RandomCrop((31, 33), pad_if_needed=True), T.Grayscale()],
    "flip before": [T.RandomHorizontalFlip(1.0), T.Grayscale(), T.Resize((20, 30))],
    "resize": [T.Grayscale(), T.Resize((37, 50))],
    "resize and crop": [T.Grayscale(), T.Resize(48), T.RandomCrop(40), T.RandomVerticalFlip()],
    "resized crop": [T.Grayscale(), T.RandomResizedCrop(32)],
    "coloured border": [T.Grayscale(), T.Pad(3, fill=(200, 10, 90)), T.Resize((30, 30))],
    "border first": [T.Pad(3, fill=(200, 10, 90)), T.Grayscale(), T.Resize((30, 30))],
    "effects after": [T.Grayscale(), T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.Resize((30, 30))],
    "effects before": [T.RandomInvert(1.0), T.Grayscale(), T.Resize((30, 30))],
    "sometimes": [T.RandomGrayscale(0.5), T.Resize((30, 30))],
    "twice": [T.Grayscale(), T.Grayscale(), T.Resize((30, 30))],
    "mixed": [T.Grayscale(), T.AugMix(), T.Resize((30, 30))],
    "erased": [T.Grayscale(), T.Resize((30, 30)), T.RandomErasing(1.0, value=(9, 8, 7))],
}


@pytest.fixture(scope="module")
def files(folder, tmp_path_factory):
    """JPEG files in colour, and one of a single channel."""
    gray = tmp_path_factory.mktemp("gray") / "gray.jpg"
    colour = sorted(folder.rglob("*.jpg"))
    Image.open(colour[0]).convert("L").save(gray)
    return [*colour, gray]


@pytest.mark.parametrize("name", PIPELINES)
def test_the_same_as_pillow(files, name):
    common = {
        "labels": [0] * len(files),
        "batch_size": len(files),
        "transform": T.Compose(PIPELINES[name]),
        "output": "numpy",
        "seed": 3,
    }
    ((images, _),) = Loader(files, **common)
    ((expected, _),) = Loader(files, backend="pillow", **common)

    np.testing.assert_array_equal(images, expected)
