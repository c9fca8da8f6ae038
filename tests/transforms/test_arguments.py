"""Every argument that cannot work is refused when the transform is made, with a way out."""

import re

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.planner.plan import as_written

GRAY = T.Grayscale()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.Resize((1, 2, 3)), "Resize: size must be an integer or (height, width)"),
        (lambda: T.Resize(0), "Resize: size must be an integer between 1 and 16777216, got 0."),
        (lambda: T.Resize("224"), "got '224'"),
        (lambda: T.Resize(True), "got True"),
        (lambda: T.Resize(2.5), "got 2.5"),
        (lambda: T.Resize(None), "size and max_size are both None"),
        (lambda: T.Resize((4, 5), max_size=6), "max_size=6 has no meaning beside size=(4, 5)"),
        (lambda: T.Resize(6, max_size=6), "max_size=6 must be greater than the shorter side"),
        (lambda: T.Resize(6, max_size=-1), "max_size must be an integer between 1"),
        (lambda: T.Resize(6, "cubic"), "interpolation is 'cubic'. Use \"nearest\""),
        (lambda: T.Resize(6, 6), "interpolation is 6"),
        (lambda: T.CenterCrop([]), "size must be an integer or (height, width), got []"),
        (lambda: T.CenterCrop((3, -1)), "got -1"),
        (lambda: T.RandomCrop(1 << 30), "between 1 and 16777216, got 1073741824"),
        (lambda: T.RandomCrop(3, padding=(1, 2, 3)), "a sequence of 1, 2 or 4 integers"),
        (lambda: T.RandomCrop(3, padding_mode="wrap"), "padding_mode must be constant, edge"),
        (lambda: T.Pad("1"), "padding must be an integer between -16777216"),
        (lambda: T.Pad(None), "got None"),
        (lambda: T.Pad(1, fill=(1, 2)), "fill must be a number, or three"),
        (lambda: T.Pad(1, fill={"others": "red"}), "fill must be"),
        (lambda: T.Pad(1, fill={"image": 1}), "has types and \"others\" as keys, got 'image'"),
        (lambda: T.FixedSizeCrop(1, fill={"others": 1}), "fill must be a number, or three"),
        (lambda: T.Pad(1, fill="red"), "fill must be"),
        (lambda: T.Pad(1, fill=float("nan")), "fill must be"),
        (lambda: T.Pad(1, fill=()), "fill must be"),
        (lambda: T.RandomHorizontalFlip(1.5), "p must be between 0 and 1, got 1.5"),
        (lambda: T.RandomVerticalFlip(-0.1), "RandomVerticalFlip: p must be"),
        (lambda: T.RandomVerticalFlip("0.5"), "got '0.5'"),
        (lambda: T.RandomResizedCrop(8, scale=(1.0, 0.5)), "scale must be two numbers (min, max)"),
        (lambda: T.RandomResizedCrop(8, scale=0.5), "scale must be two numbers (min, max)"),
        (
            lambda: T.RandomResizedCrop(8, scale=(-0.5, 1)),
            "scale must be two numbers (min, max) of at least 0",
        ),
        (
            lambda: T.RandomResizedCrop(8, ratio=(0, 1)),
            "ratio must be two numbers (min, max) greater than 0",
        ),
        (lambda: T.RandomResizedCrop(8, ratio=(1, float("inf"))), "ratio must be"),
        (lambda: T.Normalize((0.5,), (1, 0, 1)), "std must not contain 0, got (1, 0, 1)"),
        (lambda: T.Normalize((0.5,), (1,), flavor="v1"), 'flavor must be "torchvision" or'),
        (lambda: T.Normalize("abc", (1,)), "mean must be a sequence of numbers"),
        (lambda: T.ToDtype("float64"), "dtype is 'float64'. Use uint8, float16, bfloat16"),
        (lambda: T.ToDtype(np.int32), "Use uint8"),
        (lambda: T.ToDtype({"a": 1}), "Use uint8"),
        (lambda: T.Compose(T.CenterCrop(3)), "must be a list of transforms"),
        (lambda: T.Compose([3]), "3 is not a transform"),
        (lambda: T.Compose([T.RandomHorizontalFlip]), "Write RandomHorizontalFlip(...)"),
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
        (lambda: T.RandomChoice([GRAY], p=[1, 2]), "p has 2 numbers for 1 transforms"),
        (lambda: T.RandomChoice([GRAY, GRAY], p=[0, 0]), "p must not be negative, nor all 0"),
        (lambda: T.RandAugment(magnitude=31), "less than num_magnitude_bins = 31, got 31"),
        (lambda: T.RandAugment(-1), "num_ops must be an integer"),
        (lambda: T.RandAugment(flavor="timm"), 'write RandAugment.from_timm("rand-m9'),
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


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (T.Pad(1, fill={"others": 1}), "Pad: fill has one colour for each type of input"),
        (T.RandAugment(fill={"others": 1}), "RandAugment: fill has one colour for each type"),
        (T.RandomErasing(1.0), None),
        (T.Normalize((0.5, 0.5), (1, 1)), "Normalize: the loader's images are red, green and blue"),
        (T.ToDtype({"others": None}), "ToDtype: the loader gives images of uint8, float16"),
        (T.RandomApply([abs]), "RandomApply: abs is a function of yours"),
        (T.RandomOrder([T.ToDtype("uint8")]), "RandomOrder: ToDtype ends a pipeline"),
        (T.RandomApply([T.RandomOrder([abs])]), "RandomOrder: abs is a function of yours"),
        (T.FiveCrop(3), "FiveCrop: can be called, but not loaded: it gives several images"),
        (T.TenCrop(3), "TenCrop: can be called, but not loaded"),
        (T.JPEG(50), "JPEG: can be called, but not loaded"),
        (T.ClampKeyPoints(), "ClampKeyPoints: can be called, but not loaded"),
        (T.SanitizeKeyPoints(), "SanitizeKeyPoints: can be called, but not loaded"),
        (T.SetClampingMode(None), "SetClampingMode: can be called, but not loaded"),
        (T.UniformTemporalSubsample(3), "UniformTemporalSubsample: can be called, but not"),
        (T.RandomChoice([T.TenCrop(3)]), "TenCrop: can be called, but not loaded"),
    ],
    ids=repr,
)
def test_what_can_be_called_but_not_loaded(transform, message):
    """It is made, and composed; the loader's plan says what it cannot do."""
    composed = T.Compose([T.CenterCrop(8), transform])
    if message is None:
        as_written(composed)
        return
    with pytest.raises(TransformError, match=re.escape(message)):
        as_written(composed)


@pytest.mark.parametrize("size", [224, 224.0, np.int64(224), [224], (224, 224)])
def test_a_square_may_be_written_in_many_ways(size):
    assert T.CenterCrop(size)._box == T.CenterCrop((224, 224))._box


@pytest.mark.parametrize(
    ("padding", "expected"),
    [(1, (1, 1, 1, 1)), ([2], (2, 2, 2, 2)), ((1, 2), (1, 2, 1, 2)), ((1, 2, 3, 4), (1, 2, 3, 4))],
)
def test_padding_may_be_written_in_many_ways(padding, expected):
    assert T.Pad(padding)._borders == expected


def test_interpolation_takes_pillows_numbers():
    from PIL.Image import Resampling

    for name in ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"):
        number = Resampling[name.upper()]
        assert T.Resize(4, int(number))._mode == T.InterpolationMode(name)
        assert T.Resize(4, number)._mode.pillow_filter == number
