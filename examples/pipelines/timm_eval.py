"""Evaluating a model of timm's: the middle 95 % of an image, resized by a bicubic filter."""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

transform = T.Compose(
    [
        T.Resize(235, interpolation="bicubic"),
        T.CenterCrop(224),
        T.ToTensor(),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def torchvision_transform() -> Any:
    """The same, by timm: of torchvision's transforms."""
    from timm.data.transforms_factory import create_transform

    return create_transform(224, is_training=False, interpolation="bicubic", crop_pct=0.95)
