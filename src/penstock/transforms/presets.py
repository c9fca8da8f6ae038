"""Whole pipelines: those of torchvision's reference training scripts, on Pillow images.

The last steps come in another order where that makes no difference: bad boxes are dropped before
the final pass over the pixels, not after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from penstock.errors import TransformError
from penstock.transforms.arguments import Interpolation, InterpolationMode
from penstock.transforms.boxes import ConvertBoundingBoxFormat, RandomIoUCrop, SanitizeBoundingBoxes
from penstock.transforms.colour import RandomPhotometricDistort
from penstock.transforms.containers import Compose
from penstock.transforms.crop import CenterCrop, FixedSizeCrop, RandomHorizontalFlip, RandomZoomOut
from penstock.transforms.filter import RandomErasing
from penstock.transforms.op import ImageOp
from penstock.transforms.policies.auto_augment import AutoAugment
from penstock.transforms.policies.rand_augment import AugMix, RandAugment, TrivialAugmentWide
from penstock.transforms.resize import RandomResizedCrop, RandomShortestSize, Resize, ScaleJitter
from penstock.transforms.targets import BoxFormat
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD, Normalize, ToDtype

DetectionPolicy = Literal["hflip", "lsj", "multiscale", "ssd", "ssdlite"]

_DETECTION_MEAN = (123.0, 117.0, 104.0)  # a colour, of values 0 .. 255
_MULTISCALE_PX = (480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800)
_MULTISCALE_LONGEST_PX = 1333
_LSJ_PX = (1024, 1024)


def classification(
    crop_size: int | Sequence[int] = 224,
    *,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    hflip_prob: float = 0.5,
    auto_augment_policy: str | None = None,
    ra_magnitude: int = 9,
    augmix_severity: int = 3,
    random_erase_prob: float = 0.0,
) -> Compose:
    """The pipeline that classifiers are trained with.

    `auto_augment_policy` is ra (RandAugment), ta_wide (TrivialAugmentWide), augmix (AugMix), or a
    policy of AutoAugment: imagenet, cifar10 or svhn.
    """
    steps: list[Any] = [RandomResizedCrop(crop_size, interpolation=interpolation)]
    if hflip_prob > 0:
        steps.append(RandomHorizontalFlip(hflip_prob))
    if auto_augment_policy is not None:
        steps.append(_policy(auto_augment_policy, interpolation, ra_magnitude, augmix_severity))
    steps += [ToDtype("float32", scale=True), Normalize(mean, std)]
    if random_erase_prob > 0:
        steps.append(RandomErasing(random_erase_prob))
    return Compose(steps)


def classification_eval(
    crop_size: int | Sequence[int] = 224,
    *,
    resize_size: int | Sequence[int] = 256,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
) -> Compose:
    """The pipeline that trained classifiers are evaluated with."""
    return Compose(
        [
            Resize(resize_size, interpolation),
            CenterCrop(crop_size),
            ToDtype("float32", scale=True),
            Normalize(mean, std),
        ]
    )


def detection(
    data_augmentation: DetectionPolicy,
    *,
    hflip_prob: float = 0.5,
    mean: Sequence[float] = _DETECTION_MEAN,
    size: int | Sequence[int] | None = None,
) -> Compose:
    """The pipeline that detectors are trained with: boxes come out as XYXY, empty ones dropped.

    `mean` is the colour of borders, of values 0 .. 255. `size`, which torchvision's presets do not
    have, resizes to (height, width) after the rest, so that the images form a batch of one shape.
    """
    flip = RandomHorizontalFlip(hflip_prob)
    steps: list[Any]
    match data_augmentation:
        case "hflip":
            steps = [flip]
        case "lsj":
            steps = [ScaleJitter(_LSJ_PX), FixedSizeCrop(_LSJ_PX, fill=mean), flip]
        case "multiscale":
            steps = [RandomShortestSize(_MULTISCALE_PX, _MULTISCALE_LONGEST_PX), flip]
        case "ssd":
            zoom = RandomZoomOut(fill=mean)
            steps = [RandomPhotometricDistort(), zoom, RandomIoUCrop(), flip]
        case "ssdlite":
            steps = [RandomIoUCrop(), flip]
        case _:
            raise TransformError(
                f"detection: data_augmentation must be hflip, lsj, multiscale, ssd or ssdlite, "
                f"got {data_augmentation!r}."
            )
    if size is not None:
        steps.append(Resize(size))
    steps += [ConvertBoundingBoxFormat(BoxFormat.XYXY), SanitizeBoundingBoxes()]
    return Compose([*steps, ToDtype("float32", scale=True)])


def ssd(
    *,
    hflip_prob: float = 0.5,
    mean: Sequence[float] = _DETECTION_MEAN,
    size: int | Sequence[int] | None = None,
) -> Compose:
    """The pipeline that SSD is trained with; see `detection`."""
    return detection("ssd", hflip_prob=hflip_prob, mean=mean, size=size)


def _policy(
    name: str, interpolation: Interpolation, ra_magnitude: int, augmix_severity: int
) -> ImageOp:
    match name:
        case "ra":
            return RandAugment(magnitude=ra_magnitude, interpolation=interpolation)
        case "ta_wide":
            return TrivialAugmentWide(interpolation=interpolation)
        case "augmix":
            return AugMix(severity=augmix_severity, interpolation=interpolation)
    return AutoAugment(name, interpolation)
