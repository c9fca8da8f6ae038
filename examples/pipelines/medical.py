"""Segmenting medical images: small turns and elastic bending, which the masks follow.

Tissue bends, and scanners do not always hold it upright; U-Net made this kind of augmentation
common. Needs a mask for each image: folders `images` and `masks`, or any data set that has them.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

transform = T.Compose(
    [
        T.Resize((288, 288)),
        T.RandomRotation(15, interpolation="bilinear"),
        T.ElasticTransform(alpha=40.0, sigma=6.0),
        T.RandomCrop(256),
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(),
        T.ColorJitter(brightness=0.2, contrast=0.2),
        T.ToDtype("float32", scale=True),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def torchvision_transform() -> Any:
    """The same, of torchvision's transforms."""
    import torch
    from torchvision import tv_tensors
    from torchvision.transforms import InterpolationMode, v2

    return v2.Compose(
        [
            v2.Resize((288, 288)),
            v2.RandomRotation(15, interpolation=InterpolationMode.BILINEAR),
            v2.ElasticTransform(alpha=40.0, sigma=6.0),
            v2.RandomCrop(256),
            v2.RandomHorizontalFlip(),
            v2.RandomVerticalFlip(),
            v2.ColorJitter(brightness=0.2, contrast=0.2),
            v2.ToImage(),
            v2.ToDtype({tv_tensors.Image: torch.float32, "others": torch.int64}, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
