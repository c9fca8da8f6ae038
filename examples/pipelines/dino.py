"""Self-supervised training as DINO does it: two large and eight small views of each image.

The large views are blurred always and rarely, and the second is sometimes solarized; the blur is
that of DINOv2. A batch is a list of ten tensors.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

SMALL_VIEWS = 8
LARGE, SMALL = (0.4, 1.0), (0.05, 0.4)  # shares of the image's area


def _view(
    size: int, scale: tuple[float, float], blurred: float, solarized: float = 0.0
) -> T.Compose:
    return T.Compose(
        [
            T.RandomResizedCrop(size, scale=scale, interpolation="bicubic"),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.RandomApply([T.GaussianBlur(9, (0.1, 2.0))], p=blurred),
            T.RandomSolarize(128, p=solarized),
            T.ToDtype("float32", scale=True),
            T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )


transform = T.MultiView(
    [
        _view(224, LARGE, blurred=1.0),
        _view(224, LARGE, blurred=0.1, solarized=0.2),
        *[_view(96, SMALL, blurred=0.5)] * SMALL_VIEWS,
    ]
)


def torchvision_transform() -> list[Any]:
    """The same, of torchvision's transforms: one for each view."""
    import torch
    from torchvision.transforms import InterpolationMode, v2

    def view(
        size: int, scale: tuple[float, float], blurred: float, solarized: float = 0.0
    ) -> v2.Compose:
        return v2.Compose(
            [
                v2.RandomResizedCrop(size, scale=scale, interpolation=InterpolationMode.BICUBIC),
                v2.RandomHorizontalFlip(),
                v2.RandomApply([v2.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
                v2.RandomGrayscale(p=0.2),
                v2.RandomApply([v2.GaussianBlur(9, (0.1, 2.0))], p=blurred),
                v2.RandomSolarize(128, p=solarized),
                v2.PILToTensor(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            ]
        )

    return [
        view(224, LARGE, blurred=1.0),
        view(224, LARGE, blurred=0.1, solarized=0.2),
        *[view(96, SMALL, blurred=0.5)] * SMALL_VIEWS,
    ]
