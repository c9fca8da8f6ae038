"""The study's augmentations after a random crop and a flip: for torchvision and for penstock.

Each list is (what, how much): pixels of padding, degrees of rotation, a side in pixels to resample
to, the standard deviation of noise for values of 0 to 1. `dali.py` has the same in DALI's words.
"""

from __future__ import annotations

from typing import Any

from penstock.demo.torchvision_import import import_torchvision
from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD

CROP_PX = 224
Steps = tuple[tuple[str, float], ...]

AUGMENTATIONS: dict[str, Steps] = {
    "none": (),
    "padding": (("pad", 16),),
    "rotation": (("rotate", 15),),
    "noise": (("noise", 0.05),),
    "down-sampling": (("resize", 112),),
    "up-sampling": (("resize", 336),),
    "all": (("pad", 16), ("rotate", 15), ("resize", 112), ("resize", CROP_PX), ("noise", 0.05)),
}
PLAIN, ALL = "none", "all"


def torchvision_pipeline(name: str) -> Any:
    """Return torchvision's transforms of a Pillow image."""
    torch, torchvision = import_torchvision()
    v2 = torchvision.transforms.v2
    makers = _makers(v2)
    steps = AUGMENTATIONS[name]
    return v2.Compose(
        [
            v2.RandomResizedCrop(CROP_PX),
            v2.RandomHorizontalFlip(),
            *(makers[what](much) for what, much in steps if what != "noise"),
            v2.PILToTensor(),
            # Noise is for tensors, so it comes last in every list.
            *(makers[what](much) for what, much in steps if what == "noise"),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )


def penstock_pipeline(name: str) -> Any:
    """Return the same transforms of ours."""
    from penstock import transforms as T

    makers = _makers(T)
    return T.Compose(
        [
            T.RandomResizedCrop(CROP_PX),
            T.RandomHorizontalFlip(),
            *(makers[what](much) for what, much in AUGMENTATIONS[name]),
            T.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )


def _makers(transforms: Any) -> dict[str, Any]:
    return {
        "pad": lambda pixels: transforms.Pad(int(pixels)),
        "rotate": transforms.RandomRotation,
        "resize": lambda side: transforms.Resize([int(side), int(side)]),
        "noise": lambda sigma: transforms.GaussianNoise(0.0, sigma),
    }
