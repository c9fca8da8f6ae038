"""Training a vision transformer as DeiT did, with timm: RandAugment and random erasing by noise.

timm's `rand-m9-mstd0.5-inc1` has its own ops and ranges; `RandAugment.from_timm` draws from them.
What the recipe does to whole batches is `Loader(batch_transform=T.MixUp.timm(mixup_alpha=0.8,
cutmix_alpha=1.0, num_classes=1000))`.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

POLICY = "rand-m9-mstd0.5-inc1"
GRAY = (124, 116, 104)  # ImageNet's mean, for what lies outside a warped image

transform = T.Compose(
    [
        T.RandomResizedCrop(224, interpolation="bicubic"),
        T.RandomHorizontalFlip(),
        T.RandAugment.from_timm(POLICY, {"img_mean": GRAY, "interpolation": "bicubic"}),
        T.ToTensor(),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        T.RandomErasing(p=0.25, scale=(0.02, 1 / 3), ratio=(0.3, 1 / 0.3), value="random"),
    ]
)


def torchvision_transform() -> Any:
    """The same, by timm: of torchvision's transforms and of some of its own."""
    from timm.data.transforms_factory import create_transform

    return create_transform(
        224,
        is_training=True,
        auto_augment=POLICY,
        interpolation="bicubic",
        re_prob=0.25,
        re_mode="pixel",
    )
