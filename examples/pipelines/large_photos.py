"""Training on photos of 12 megapixels and more, written in the order one thinks of it.

The rotation comes first, so as written it turns the whole photo; the plan turns only what the crop
keeps.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

transform = T.Compose(
    [
        T.RandomRotation(10, interpolation="bilinear"),
        T.RandomCrop(2048),
        T.Resize((512, 512)),
        T.RandomHorizontalFlip(),
        T.ColorJitter(brightness=0.2, contrast=0.2, saturation=0.2),
        T.ToDtype("float32", scale=True),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def torchvision_transform() -> Any:
    """The same, of torchvision's transforms."""
    import torch
    from torchvision.transforms import InterpolationMode, v2

    return v2.Compose(
        [
            v2.RandomRotation(10, interpolation=InterpolationMode.BILINEAR),
            v2.RandomCrop(2048),
            v2.Resize((512, 512)),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.2, contrast=0.2, saturation=0.2),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
