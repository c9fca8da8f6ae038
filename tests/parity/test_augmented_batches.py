"""The core and Pillow give the same batches for every augmentation, with every instruction set."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from penstock import Loader
from penstock import transforms as T

CROP = T.RandomResizedCrop(96)
EXACT = {
    "jitter": T.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "photometric": T.RandomPhotometricDistort(p=0.8),
    "gray": T.RandomGrayscale(0.5),
    "invert": T.RandomInvert(),
    "posterize": T.RandomPosterize(3),
    "solarize": T.RandomSolarize(100),
    "equalize": T.RandomEqualize(),
    "autocontrast": T.RandomAutocontrast(),
    "sharpness": T.RandomAdjustSharpness(3, p=0.7),
    "rotation": T.RandomRotation(180, interpolation="bilinear", fill=(9, 200, 30)),
    "affine": T.RandomAffine(30, (0.1, 0.2), (0.5, 2), 20, interpolation="bicubic"),
    "perspective": T.RandomPerspective(0.5, p=0.9),
    "erasing": T.RandomErasing(0.9, value=(300, 0, -5)),
    "erasing by noise": T.RandomErasing(0.9, value="random"),
    "RandAugment": T.RandAugment(3, 15, interpolation="bilinear", fill=128),
    "RandAugment tpu": T.RandAugment(2, 9, flavor="tpu"),
    "RandAugment timm": T.RandAugment.from_timm("rand-m9-mstd0.5-inc1"),
    "AutoAugment": T.AutoAugment(),
    "AutoAugment CIFAR10": T.AutoAugment(T.AutoAugmentPolicy.CIFAR10),
    "AutoAugment SVHN": T.AutoAugment(T.AutoAugmentPolicy.SVHN),
    "TrivialAugmentWide": T.TrivialAugmentWide(),
    "AugMix": T.AugMix(),
    "PopulationBasedAugment": T.PopulationBasedAugment(),
    "apply": T.RandomApply([T.RandomRotation(20, expand=True), T.Pad(3), T.Resize((96, 96))]),
    "choice": T.RandomChoice([T.RandomInvert(1), T.RandomVerticalFlip(1), T.RandomRotation(90)]),
    "order": T.RandomOrder([T.RandAugment(1), T.RandomCrop(96, padding=4), T.RandomEqualize()]),
}
WITHIN_ONE_LEVEL = {  # the reference sums in another order, or takes its logarithms elsewhere
    "noise": T.GaussianNoise(0.02, 0.2),
    "blur": T.GaussianBlur((9, 5), (0.1, 3)),
    "elastic": T.ElasticTransform(60.0, 4.0, fill=(1, 2, 250)),
}


def load(data, transform, **options):
    """The batches of one epoch, of which `by_pillow` must not keep the loader's own memory."""
    if not isinstance(data, Path):
        options["labels"] = range(len(data))
    common = {"transform": transform, "batch_size": 32, "seed": 5, "output": "numpy"}
    loader = Loader(data if isinstance(data, Path) else list(data), **common, **options)
    return [(images.copy(), labels.copy()) for images, labels in loader]


@lru_cache(maxsize=len(EXACT | WITHIN_ONE_LEVEL))
def by_pillow(photos: tuple[Path, ...], name: str):
    """What every instruction set must give."""
    steps = T.Compose([CROP, (EXACT | WITHIN_ONE_LEVEL)[name]])
    return load(photos, steps, backend="pillow")


def pairs_of(photos, name):
    """Batches of photos and what they should be."""
    photos = tuple(photos)
    steps = T.Compose([CROP, (EXACT | WITHIN_ONE_LEVEL)[name]])
    for (images, labels), (expected, expected_labels) in zip(
        load(photos, steps), by_pillow(photos, name), strict=True
    ):
        np.testing.assert_array_equal(labels, expected_labels)
        yield images, expected


def both_ways(data, transform, **options):
    """Pairs of batches of a folder, one epoch."""
    pairs = zip(
        load(data, transform, **options),
        load(data, transform, backend="pillow", **options),
        strict=True,
    )
    for (images, labels), (expected, expected_labels) in pairs:
        np.testing.assert_array_equal(labels, expected_labels)
        yield images, expected


@pytest.mark.parametrize("name", EXACT)
def test_the_same_bytes(in1k, isa, name) -> None:
    for images, expected in pairs_of(in1k[:64], name):
        np.testing.assert_array_equal(images, expected)


@pytest.mark.parametrize("name", WITHIN_ONE_LEVEL)
def test_within_one_level(in1k, isa, name) -> None:
    for images, expected in pairs_of(in1k[:32], name):
        assert np.abs(images.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("name", ["RandAugment", "AugMix", "jitter", "erasing"])
def test_between_other_steps(folder, isa, name) -> None:
    """Effects before, between and after geometry; to floating point."""
    geometry = [T.Resize(70), T.CenterCrop(64), T.RandomHorizontalFlip()]
    mixed = [step for move in geometry for step in (EXACT[name], move)]
    end = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
    transform = T.Compose([*mixed, EXACT[name], end])
    for images, expected in both_ways(folder, transform):
        np.testing.assert_array_equal(images, expected)


@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize("dtype", ["float32", "float16", None])
@pytest.mark.parametrize("value", [0, (0.5, -1, 2), "random"])
def test_erasing_finished_images(folder, layout, dtype, value) -> None:
    """In its usual place, behind Normalize."""
    end = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
    transform = T.Compose([T.Resize((40, 60)), end, T.RandomErasing(0.8, value=value)])
    options = {"layout": layout, "dtype": dtype}
    for images, expected in both_ways(folder, transform, **options):
        tolerance = 1e-2 if dtype == "float16" else 1e-5
        tolerance = tolerance if value == "random" else 0
        np.testing.assert_allclose(images.astype(np.float32), expected, atol=tolerance)
