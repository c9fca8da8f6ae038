"""Presets are made of the transforms that torchvision's reference training scripts list.

Those scripts are not installed with torchvision, so their lists are written down here, by name and
arguments, and made of torchvision v2's classes: every argument not given must have its default.
"""

import inspect

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.planner.plan import as_written
from target_samples import make_targets, sizes_of

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
COLOUR = (123.0, 117.0, 104.0)
CROP = ("RandomResizedCrop", {"size": 224})
FLIP = ("RandomHorizontalFlip", {"p": 0.5})
FLOAT = ("ToDtype", {"dtype": "float32", "scale": True})
NORMALIZE = ("Normalize", {"mean": MEAN, "std": STD})
BOXES = [("ConvertBoundingBoxFormat", {"format": "XYXY"}), ("SanitizeBoundingBoxes", {})]
SHORT_SIDES = (480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800)


PRESETS = [
    pytest.param(T.classification, [CROP, FLIP, FLOAT, NORMALIZE], id="classification"),
    pytest.param(
        lambda: T.classification(176, hflip_prob=0),
        [("RandomResizedCrop", {"size": 176}), FLOAT, NORMALIZE],
        id="classification_no_flip",
    ),
    pytest.param(
        lambda: T.classification(auto_augment_policy="ra", ra_magnitude=7, random_erase_prob=0.1),
        [
            CROP,
            FLIP,
            ("RandAugment", {"magnitude": 7, "interpolation": "bilinear"}),
            FLOAT,
            NORMALIZE,
            ("RandomErasing", {"p": 0.1}),
        ],
        id="ra",
    ),
    pytest.param(
        lambda: T.classification(auto_augment_policy="ta_wide"),
        [CROP, FLIP, ("TrivialAugmentWide", {"interpolation": "bilinear"}), FLOAT, NORMALIZE],
        id="ta_wide",
    ),
    pytest.param(
        lambda: T.classification(auto_augment_policy="augmix", augmix_severity=5),
        [CROP, FLIP, ("AugMix", {"severity": 5, "interpolation": "bilinear"}), FLOAT, NORMALIZE],
        id="augmix",
    ),
    pytest.param(
        lambda: T.classification(auto_augment_policy="cifar10"),
        [
            CROP,
            FLIP,
            ("AutoAugment", {"policy": "cifar10", "interpolation": "bilinear"}),
            FLOAT,
            NORMALIZE,
        ],
        id="autoaugment",
    ),
    pytest.param(
        T.classification_eval,
        [("Resize", {"size": 256}), ("CenterCrop", {"size": 224}), FLOAT, NORMALIZE],
        id="classification_eval",
    ),
    pytest.param(lambda: T.detection("hflip"), [FLIP, *BOXES, FLOAT], id="hflip"),
    pytest.param(
        lambda: T.detection("lsj", hflip_prob=0.3),
        [
            ("ScaleJitter", {"target_size": (1024, 1024)}),
            ("FixedSizeCrop", {"size": (1024, 1024), "fill": COLOUR}),
            ("RandomHorizontalFlip", {"p": 0.3}),
            *BOXES,
            FLOAT,
        ],
        id="lsj",
    ),
    pytest.param(
        lambda: T.detection("multiscale"),
        [
            ("RandomShortestSize", {"min_size": SHORT_SIDES, "max_size": 1333}),
            FLIP,
            *BOXES,
            FLOAT,
        ],
        id="multiscale",
    ),
    pytest.param(
        T.ssd,
        [
            ("RandomPhotometricDistort", {}),
            ("RandomZoomOut", {"fill": COLOUR}),
            ("RandomIoUCrop", {}),
            FLIP,
            *BOXES,
            FLOAT,
        ],
        id="ssd",
    ),
    pytest.param(
        lambda: T.detection("ssdlite", size=(320, 320)),
        [("RandomIoUCrop", {}), FLIP, ("Resize", {"size": (320, 320)}), *BOXES, FLOAT],
        id="ssdlite",
    ),
]


@pytest.fixture(scope="module")
def v2(torchvision):
    from torchvision.transforms import v2

    return v2


@pytest.mark.parametrize(("make", "steps"), PRESETS)
def test_presets_are_torchvisions(v2, make, steps):
    transforms = make().transforms

    assert [type(transform).__name__ for transform in transforms] == [name for name, _ in steps]
    for transform, (name, given) in zip(transforms, steps, strict=True):
        expected = defaults_of(v2, name) | given
        for argument, value in expected.items():
            assert as_plain(getattr(transform, argument)) == as_plain(value), (name, argument)


def defaults_of(v2, name):
    """What torchvision takes where nothing is given; FixedSizeCrop is in its scripts only."""
    if not hasattr(v2, name):
        return {"fill": 0, "padding_mode": "constant"}
    return {
        argument.name: argument.default
        for argument in inspect.signature(getattr(v2, name)).parameters.values()
        if argument.default is not argument.empty
    }


def as_plain(value):
    """The same whether written as an enum or by name, as a list or as a tuple."""
    value = getattr(value, "value", value)
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("policy", ["hflip", "lsj", "multiscale", "ssdlite"])
def test_detection_presets_deliver_good_boxes(policy):
    sizes = sizes_of((333, 500), (240, 100), (500, 375))
    targets = make_targets(sizes, [9, 0, 7], format="XYWH")
    segment = as_written(T.detection(policy)).segments[-1]
    moves, moved = segment.sample_targets(0, 0, np.arange(3), sizes, targets)
    for move in moves:
        sizes = move.out_sizes(sizes)
    left, top, right, bottom = moved.formatted_boxes().T
    owners = moved.owners

    assert moved.format == T.BoxFormat.XYXY
    assert len(left) > 0
    assert ((left >= 0) & (top >= 0) & (right - left >= 1) & (bottom - top >= 1)).all()
    assert ((right <= sizes.width[owners]) & (bottom <= sizes.height[owners])).all()


def test_an_unknown_policy_is_named():
    with pytest.raises(TransformError, match="detection: data_augmentation must be hflip, lsj"):
        T.detection("mosaic")
