"""What augmentations refuse, and how they print."""

import json
import pickle
import re

import pytest

from penstock import transforms as T
from penstock.errors import TransformError

GRAY = T.Grayscale()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.ColorJitter(-1), "ColorJitter: brightness must be a number of at least 0"),
        (
            lambda: T.ColorJitter(hue=0.6),
            "hue must be numbers between -0.5 and 0.5, got 0.6, which means",
        ),
        (lambda: T.ColorJitter(contrast=(2, 1)), "contrast must be two numbers (min, max)"),
        (lambda: T.ColorJitter(saturation=(-1, 1)), "saturation must be numbers of at least 0"),
        (lambda: T.ColorJitter("0.5"), "got '0.5'"),
        (lambda: T.RandomPhotometricDistort(p=2), "RandomPhotometricDistort: p must be between"),
        (lambda: T.Grayscale(2), "num_output_channels must be 1 or 3, got 2"),
        (lambda: T.RandomGrayscale(-1), "RandomGrayscale: p must be"),
        (lambda: T.RandomPosterize(9), "bits must be an integer between 0 and 8, got 9"),
        (lambda: T.RandomPosterize(2.5), "bits must be an integer"),
        (lambda: T.RandomSolarize("a"), "threshold must be a number, got 'a'"),
        (lambda: T.RandomAdjustSharpness(-1), "sharpness_factor must be a number of at least 0"),
        (lambda: T.GaussianBlur(4), "kernel_size must be odd, got 4"),
        (lambda: T.GaussianBlur((1, 3, 5)), "must be an integer or (width, height)"),
        (lambda: T.GaussianBlur(3, (2, 1)), "sigma must be positive and (min, max)"),
        (lambda: T.GaussianBlur(3, 0), "sigma must be positive"),
        (lambda: T.GaussianBlur(3, flavor="v1"), 'flavor must be "torchvision"'),
        (lambda: T.GaussianBlur(57, flavor="torchvision"), "up to 28 different weights"),
        (lambda: T.GaussianNoise(sigma=-1), "sigma must be a number of at least 0, got -1"),
        (lambda: T.RandomRotation(-1), "degrees must be a number of at least 0, got -1"),
        (lambda: T.RandomRotation((1, 2, 3)), "degrees must be a number or (min, max)"),
        (lambda: T.RandomRotation(1, "lanczos"), "'lanczos' can only resize. Use \"nearest\""),
        (lambda: T.RandomRotation(1, center=(1,)), "center must be two numbers (x, y), got (1,)"),
        (lambda: T.RandomAffine(1, center=7), "center must be two numbers (x, y), got 7"),
        (lambda: T.RandomAffine(1, translate=(1, 2)), "translate must be two numbers"),
        (
            lambda: T.RandomAffine(1, scale=(0, 1)),
            "scale must be two numbers (min, max) greater than 0",
        ),
        (lambda: T.RandomAffine(1, shear=(1, 2, 3)), "(min, max) or two such ranges"),
        (lambda: T.RandomPerspective(2), "distortion_scale must be a number between 0 and 1"),
        (lambda: T.ElasticTransform(sigma=-1), "sigma must be a number of at least 0"),
        (lambda: T.ElasticTransform(sigma=(0, 1)), "sigma must be 0 in both directions or in"),
        (
            lambda: T.RandomErasing(scale=(0.5, 2)),
            "scale must be two numbers (min, max) between 0 and 1",
        ),
        (lambda: T.RandomErasing(value="noise"), "three numbers or \"random\", got 'noise'"),
        (lambda: T.RandomErasing(value=(1, 2)), "one for each of red, green and blue"),
        (lambda: T.RandomApply(GRAY), "transforms must be a list"),
        (lambda: T.RandomApply([abs]), "RandomApply: abs is a function of yours"),
        (lambda: T.RandomOrder([T.ToDtype("uint8")]), "RandomOrder: ToDtype ends a pipeline"),
        (lambda: T.RandomChoice([GRAY], p=[1, 2]), "p has 2 numbers for 1 transforms"),
        (lambda: T.RandomChoice([GRAY, GRAY], p=[0, 0]), "p must not be negative, nor all 0"),
        (lambda: T.RandAugment(magnitude=31), "less than num_magnitude_bins = 31, got 31"),
        (lambda: T.RandAugment(-1), "num_ops must be an integer"),
        (lambda: T.RandAugment(flavor="timm"), 'write RandAugment.from_timm("rand-m9'),
        (lambda: T.RandAugment(fill={"others": 1}), "RandAugment: fill must be a number, or three"),
        (lambda: T.RandAugment.from_timm("augmix-m3"), 'config must begin with "rand"'),
        (lambda: T.RandAugment.from_timm("rand-x9"), "unknown section \"x9\" in 'rand-x9'"),
        (lambda: T.RandAugment.from_timm("rand-m9-t3a"), "needs Pillow's GaussianBlur"),
        (lambda: T.RandAugment.from_timm("rand-n1.5"), "must have a whole number"),
        (lambda: T.RandAugment.from_timm("rand-n16-tweights"), "16 ops without repetition"),
        (lambda: T.RandAugment.from_timm("rand", {"a": 1}), "unknown hparams ['a']"),
        (lambda: T.AutoAugment("mnist"), 'policy must be one of "imagenet", "cifar10", "svhn"'),
        (lambda: T.TrivialAugmentWide(1), "num_magnitude_bins must be an integer between 2"),
        (lambda: T.AugMix(severity=11), "severity must be an integer between 1 and 10, got 11"),
        (lambda: T.AugMix(severity=0), "severity must be an integer between 1 and 10, got 0"),
        (lambda: T.AugMix(alpha=0), "alpha must be a number greater than 0"),
        (lambda: T.PopulationBasedAugment("no.json"), "no.json: cannot be read"),
    ],
)
def test_refused(make, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        make()


STAGE = {"from_epoch": 0, "ops": [["Rotate", 0.5, 3]]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "must hold an object"),
        ({"epochs": 1, "counts": [1.0]}, "the key 'stages' is missing"),
        ({"epochs": 1, "counts": [0.5], "stages": [STAGE]}, "that sum to 1, got [0.5]"),
        ({"epochs": 1, "counts": [1.0], "stages": []}, "a list of at least one"),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "from_epoch": 2}]},
            "must begin at epoch 0 and be in order, got from_epoch [2]",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": [["Rotat", 1, 1]]}]},
            "unknown op 'Rotat'. Known are AutoContrast",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": [["Rotate", 1, 11]]}]},
            "level of Rotate must be a number between 0 and 10, got 11",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": ["Rotate"]}]},
            "an op must be [name, probability, level], got 'Rotate'",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": 3}]},
            "ops must be a list, got 3",
        ),
    ],
)
def test_schedules_refused(tmp_path, content, message):
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TransformError, match=re.escape(message)):
        T.PopulationBasedAugment(path)


@pytest.mark.parametrize(
    "text",
    [
        "ColorJitter(brightness=0.4, hue=(-0.1, 0.1))",
        "RandomPhotometricDistort(p=0.3)",
        "GaussianBlur(kernel_size=(3, 5))",
        "RandomErasing(value='random')",
        "RandomRotation(degrees=10, expand=True)",
        "RandomAffine(degrees=(-5, 5), translate=(0.1, 0.2))",
        "RandomApply(transforms=[Grayscale()], p=0.3)",
        "RandomOrder(transforms=(Grayscale(), RandomInvert()))",
        "RandAugment()",
        "RandAugment(num_ops=3, flavor='tpu')",
        "RandAugment.from_timm('rand-m9-mstd0.5-inc1')",
        "RandAugment.from_timm('rand-m9', {'translate_pct': 0.3})",
        "AutoAugment(policy=AutoAugmentPolicy.SVHN)",
        "TrivialAugmentWide(num_magnitude_bins=11)",
        "AugMix(severity=5)",
        "PopulationBasedAugment(epochs=100)",
    ],
)
def test_an_augmentation_prints_as_the_call_that_makes_it(text):
    transform = eval(text, vars(T).copy())  # noqa: S307

    assert repr(transform) == text
    assert pickle.loads(pickle.dumps(transform)) == transform  # noqa: S301
