"""How near OpenCV and NumPy come to Pillow, with the same draws: the table in the docs.

Bounds are on the mean difference of a batch of photos, in levels of 255.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from penstock import Loader
from penstock import transforms as T

CROP = T.CenterCrop(128)
SAME = 0.0

# name: transform, bound for OpenCV, bound for NumPy
NEAR = {
    "decode": (CROP, 0.1, SAME),
    "nearest": (T.Resize((96, 96), "nearest"), 0.1, SAME),
    "reduce, box": (T.Resize((96, 96), "box"), 2, 0.3),
    "reduce, bilinear": (T.Resize((96, 96), "bilinear"), 3, 0.2),
    "reduce, hamming": (T.Resize((96, 96), "hamming"), 2, 0.2),
    "reduce, bicubic": (T.Resize((96, 96), "bicubic"), 3, 0.2),
    "reduce, lanczos": (T.Resize((96, 96), "lanczos"), 4, 0.2),
    "enlarge, nearest": (T.Compose([CROP, T.Resize((224, 224), "nearest")]), 0.1, SAME),
    # At 224 / 128 every seventh place lies between two pixels, and OpenCV takes the other one.
    "enlarge, box": (T.Compose([CROP, T.Resize((224, 224), "box")]), 5, 0.1),
    "enlarge, bilinear": (T.Compose([CROP, T.Resize((224, 224), "bilinear")]), 0.3, 0.3),
    "enlarge, hamming": (T.Compose([CROP, T.Resize((224, 224), "hamming")]), 2, 0.3),
    "enlarge, bicubic": (T.Compose([CROP, T.Resize((224, 224), "bicubic")]), 2, 0.3),
    "enlarge, lanczos": (T.Compose([CROP, T.Resize((224, 224), "lanczos")]), 2, 0.3),
    "higher, narrower": (T.Compose([CROP, T.Resize((200, 80), "bilinear")]), 2, 0.3),
    "pad": (T.Compose([CROP, T.Pad((3, 20, 7, 1), fill=(1, 2, 3))]), SAME, SAME),
    "pad, edge": (T.Compose([CROP, T.Pad(20, padding_mode="edge")]), SAME, SAME),
    "pad, reflect": (T.Compose([CROP, T.Pad(20, padding_mode="reflect")]), SAME, SAME),
    "pad, symmetric": (T.Compose([CROP, T.Pad(20, padding_mode="symmetric")]), SAME, SAME),
    "flip": (T.Compose([CROP, T.RandomHorizontalFlip(), T.RandomVerticalFlip()]), SAME, SAME),
    "crop": (T.RandomCrop(100, padding=4, pad_if_needed=True), SAME, SAME),
}
NEAR_EFFECTS = {
    "brightness": (T.ColorJitter(brightness=0.6), SAME, SAME),
    "contrast": (T.ColorJitter(contrast=0.6), 0.1, SAME),
    "saturation": (T.ColorJitter(saturation=0.6), 0.6, SAME),
    "hue": (T.ColorJitter(hue=0.3), 0.6, 0.05),
    "sharpness": (T.RandomAdjustSharpness(1.7, p=0.8), 0.8, SAME),
    "gray": (T.RandomGrayscale(0.8), 0.1, SAME),
    "invert": (T.RandomInvert(0.8), SAME, SAME),
    "posterize": (T.RandomPosterize(3, p=0.8), SAME, SAME),
    "posterize to black": (T.RandomPosterize(0, p=0.8), SAME, SAME),
    "solarize": (T.RandomSolarize(100.5, p=0.8), SAME, SAME),
    "equalize": (T.RandomEqualize(0.8), SAME, SAME),
    "autocontrast": (T.RandomAutocontrast(0.8), SAME, SAME),
    "channels": (T.RandomPhotometricDistort(p=1.0), 1, 0.05),
    "affine, nearest": (T.RandomAffine(30, (0.1, 0.2), (0.5, 2), 20), 0.1, 0.1),
    "affine, bilinear": (T.RandomAffine(30, scale=(0.5, 2), interpolation="bilinear"), 1, 0.01),
    "affine, bicubic": (T.RandomAffine(30, scale=(0.5, 2), interpolation="bicubic"), 2, 0.01),
    "perspective, nearest": (T.RandomPerspective(p=1, interpolation="nearest"), 0.1, 0.1),
    "perspective, bilinear": (T.RandomPerspective(p=1), 1, 0.01),
    "perspective, bicubic": (T.RandomPerspective(p=1, interpolation="bicubic"), 2, 0.05),
    "blur": (T.GaussianBlur((9, 5), (0.1, 3)), 0.2, SAME),
    "noise": (T.GaussianNoise(0.02, 0.2), SAME, SAME),
    "erasing": (T.RandomErasing(0.9, value=(300, 0, -5)), SAME, SAME),
    "erasing by noise": (T.RandomErasing(0.9, value="random"), SAME, SAME),
    "elastic, nearest": (T.ElasticTransform(60.0, 4.0, "nearest"), 0.1, SAME),
    "elastic, bilinear": (T.ElasticTransform(60.0, 4.0), 0.5, SAME),
    "elastic, bicubic": (T.ElasticTransform(60.0, 4.0, "bicubic"), 1, SAME),
    "RandAugment": (T.RandAugment(3, 15, interpolation="bilinear", fill=128), 1, 0.05),
    "RandAugment, tpu": (T.RandAugment(2, 9, flavor="tpu"), 1, 0.05),
    "AutoAugment": (T.AutoAugment(), 1, 0.05),
    "TrivialAugmentWide": (T.TrivialAugmentWide(), 1, 0.05),
    "AugMix": (T.AugMix(), 1, 0.05),
}
NEAR |= {
    name: (T.Compose([CROP, effect]), *bounds) for name, (effect, *bounds) in NEAR_EFFECTS.items()
}


def first_batch(data, transform, backend):
    loader = Loader(
        data, transform=transform, batch_size=32, seed=5, output="numpy", backend=backend
    )
    batch = next(iter(loader))
    return (batch[0] if isinstance(batch, tuple) else batch).copy()


@lru_cache(maxsize=len(NEAR))
def pillow_batch(photos, name):
    """What both backends are compared with."""
    return first_batch(list(photos), NEAR[name][0], "pillow").astype(np.int16)


def mean_difference(photos, name, backend):
    expected = pillow_batch(tuple(photos), name)
    return np.abs(first_batch(photos, NEAR[name][0], backend) - expected).mean()


@pytest.mark.parametrize("name", NEAR)
def test_opencv_is_near(in1k, name) -> None:
    pytest.importorskip("cv2")
    assert mean_difference(in1k[:32], name, "opencv") <= NEAR[name][1]


@pytest.mark.parametrize("name", NEAR)
def test_numpy_is_near(in1k, name) -> None:
    assert mean_difference(in1k[:32], name, "numpy") <= NEAR[name][2]
