"""Self-supervised training as SimCLR does it: two strongly distorted views of each image.

A batch is a list of two tensors.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

view = T.Compose(
    [
        T.RandomResizedCrop(224),
        T.RandomHorizontalFlip(),
        T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
        T.RandomGrayscale(p=0.2),
        T.RandomApply([T.GaussianBlur(23, (0.1, 2.0))], p=0.5),
        T.ToDtype("float32", scale=True),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)
transform = T.MultiView([view, view])


def torchvision_transform() -> list[Any]:
    """The same, of torchvision's transforms: one for each view."""
    import torch
    from torchvision.transforms import v2

    view = v2.Compose(
        [
            v2.RandomResizedCrop(224),
            v2.RandomHorizontalFlip(),
            v2.RandomApply([v2.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
            v2.RandomGrayscale(p=0.2),
            v2.RandomApply([v2.GaussianBlur(23, (0.1, 2.0))], p=0.5),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
    return [view, view]
