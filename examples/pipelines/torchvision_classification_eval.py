"""Evaluating a classifier as torchvision's references do for their newer weights.

The shorter side is resized to 232 pixels, of which the middle 224 are kept.
`T.classification_eval(224, resize_size=232)` is the same list.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

transform = T.Compose(
    [
        T.Resize(232),
        T.CenterCrop(224),
        T.ToDtype("float32", scale=True),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def torchvision_transform() -> Any:
    """The same, of torchvision's transforms."""
    import torch
    from torchvision.transforms import v2

    return v2.Compose(
        [
            v2.Resize(232),
            v2.CenterCrop(224),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
