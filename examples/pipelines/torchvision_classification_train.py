"""Training a classifier as torchvision's references do for their newer weights.

TrivialAugment and a little random erasing, at 176 pixels: the recipe that gave ResNet-50 its second
set of weights. What it does to whole batches is `Loader(batch_transform=T.RandomChoice([
T.MixUp(alpha=0.2, num_classes=1000), T.CutMix(alpha=1.0, num_classes=1000)]))`.
`T.classification(176, auto_augment_policy="ta_wide", random_erase_prob=0.1)` is the same list.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

transform = T.Compose(
    [
        T.RandomResizedCrop(176),
        T.RandomHorizontalFlip(),
        T.TrivialAugmentWide(interpolation="bilinear"),
        T.ToDtype("float32", scale=True),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        T.RandomErasing(p=0.1),
    ]
)


def torchvision_transform() -> Any:
    """The same, of torchvision's transforms."""
    import torch
    from torchvision.transforms import InterpolationMode, v2

    return v2.Compose(
        [
            v2.RandomResizedCrop(176),
            v2.RandomHorizontalFlip(),
            v2.TrivialAugmentWide(interpolation=InterpolationMode.BILINEAR),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            v2.RandomErasing(p=0.1),
        ]
    )
