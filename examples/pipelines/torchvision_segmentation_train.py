"""Training a segmentation model as torchvision's references do: any scale, then 480 x 480 of it.

The shorter side is resized to something between half and twice 520 pixels. A crop that is larger
than the image is filled up, in masks with the class to ignore: `Loader(mask_fill=255)`.
Needs a mask for each image: folders `images` and `masks`, or any data set that has them.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

SHORT_SIDES = tuple(range(260, 1040))
IGNORED = 255

transform = T.Compose(
    [
        T.RandomShortestSize(SHORT_SIDES),
        T.RandomHorizontalFlip(),
        T.RandomCrop(480, pad_if_needed=True),
        T.ToDtype("float32", scale=True),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def torchvision_transform() -> Any:
    """The same, of torchvision's transforms."""
    import torch
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    return v2.Compose(
        [
            v2.RandomShortestSize(SHORT_SIDES),
            v2.RandomHorizontalFlip(),
            v2.RandomCrop(480, pad_if_needed=True, fill={tv_tensors.Mask: IGNORED, "others": 0}),
            v2.ToImage(),
            v2.ToDtype({tv_tensors.Image: torch.float32, "others": torch.int64}, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
