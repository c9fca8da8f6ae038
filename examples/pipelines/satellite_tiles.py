"""Training on tiles of large scenes seen from above, where no direction is up.

Flips and quarter turns, some light; a tile of 512 x 512 pixels out of a scene of any size.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

QUARTERS = (0, 90, 180, 270)

transform = T.Compose(
    [
        T.ColorJitter(brightness=0.2),
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(),
        T.RandomCrop(512),
        T.RandomChoice([T.RandomRotation((degrees, degrees)) for degrees in QUARTERS]),
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
            v2.ColorJitter(brightness=0.2),
            v2.RandomHorizontalFlip(),
            v2.RandomVerticalFlip(),
            v2.RandomCrop(512),
            v2.RandomChoice([v2.RandomRotation((degrees, degrees)) for degrees in QUARTERS]),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
