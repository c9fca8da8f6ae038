"""What is called in `benchmarks.calls`: functions and transforms, and the images for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import PIL.Image

from penstock import transforms as T

Call = Callable[[Any, Any], Any]  # of a module's functions and an image

CORNERS = [[0, 0], [499, 0], [499, 374], [0, 374]]
MOVED = [[20, 10], [480, 25], [490, 360], [5, 350]]


@cache
def black() -> Any:
    """A value to erase with."""
    return torch_module().zeros(())


FUNCTIONS: dict[str, Call] = {
    "resize": lambda f, x: f.resize(x, [224, 224]),
    "resize up": lambda f, x: f.resize(x, [600, 800]),
    "resized_crop": lambda f, x: f.resized_crop(x, 40, 60, 200, 300, [224, 224]),
    "crop": lambda f, x: f.crop(x, 40, 60, 224, 224),
    "center_crop": lambda f, x: f.center_crop(x, [224, 224]),
    "pad": lambda f, x: f.pad(x, [4, 4]),
    "horizontal_flip": lambda f, x: f.horizontal_flip(x),
    "vertical_flip": lambda f, x: f.vertical_flip(x),
    "rotate": lambda f, x: f.rotate(x, 17.0),
    "rotate bilinear": lambda f, x: f.rotate(x, 17.0, interpolation="bilinear"),
    "affine": lambda f, x: f.affine(x, 10.0, [5, 7], 1.1, [3.0, 2.0]),
    "perspective": lambda f, x: f.perspective(x, CORNERS, MOVED),
    "adjust_brightness": lambda f, x: f.adjust_brightness(x, 1.3),
    "adjust_contrast": lambda f, x: f.adjust_contrast(x, 1.3),
    "adjust_saturation": lambda f, x: f.adjust_saturation(x, 1.3),
    "adjust_hue": lambda f, x: f.adjust_hue(x, 0.1),
    "adjust_sharpness": lambda f, x: f.adjust_sharpness(x, 1.3),
    "adjust_gamma": lambda f, x: f.adjust_gamma(x, 1.2),
    "autocontrast": lambda f, x: f.autocontrast(x),
    "equalize": lambda f, x: f.equalize(x),
    "invert": lambda f, x: f.invert(x),
    "posterize": lambda f, x: f.posterize(x, 4),
    "solarize": lambda f, x: f.solarize(x, 0.5 if is_float(x) else 128),
    "rgb_to_grayscale": lambda f, x: f.rgb_to_grayscale(x, 3),
    "gaussian_blur": lambda f, x: f.gaussian_blur(x, [5, 5], [1.1, 1.1]),
    "permute_channels": lambda f, x: f.permute_channels(x, [2, 0, 1]),
    "to_image": lambda f, x: f.to_image(x),
    "to_pil_image": lambda f, x: f.to_pil_image(x),
    "erase": lambda f, x: f.erase(x, 40, 60, 90, 100, black()),
    "five_crop": lambda f, x: f.five_crop(x, [224, 224]),
    "ten_crop": lambda f, x: f.ten_crop(x, [224, 224]),
    "pad edge": lambda f, x: f.pad(x, [4, 4], padding_mode="edge"),
    "pad reflect": lambda f, x: f.pad(x, [4, 4], padding_mode="reflect"),
    "pad colour": lambda f, x: f.pad(x, [4, 4], fill=[10, 20, 30]),
    "grayscale_to_rgb": lambda f, x: f.grayscale_to_rgb(x),
}
# torchvision has no such call for this kind of image.
MISSING = frozenset(
    {
        ("to_pil_image", "Pillow"),
        ("to_image", "float32"),
        ("Compose of training", "float32"),
    }
)
# Those that only make sense for one kind of image.
ON_BYTES: dict[str, Call] = {
    "to_dtype": lambda f, x: f.to_dtype(x, torch_module().float32, scale=True)
}
ON_FLOATS: dict[str, Call] = {
    "normalize": lambda f, x: f.normalize(x, list(T.IMAGENET_MEAN), list(T.IMAGENET_STD))
}
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "RandomResizedCrop": lambda v: v.RandomResizedCrop(224),
    "RandomHorizontalFlip": lambda v: v.RandomHorizontalFlip(),
    "ColorJitter": lambda v: v.ColorJitter(0.4, 0.4, 0.2, 0.1),
    "RandAugment": lambda v: v.RandAugment(),
    "AutoAugment": lambda v: v.AutoAugment(),
    "TrivialAugmentWide": lambda v: v.TrivialAugmentWide(),
    "RandomRotation": lambda v: v.RandomRotation(30),
    "RandomGrayscale": lambda v: v.RandomGrayscale(0.5),
    "Compose of SimCLR": lambda v: v.Compose(
        [
            v.RandomResizedCrop(224),
            v.RandomHorizontalFlip(),
            v.RandomApply([v.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
            v.RandomGrayscale(0.2),
            v.GaussianBlur(23),
        ]
    ),
    "Compose of training": lambda v: v.Compose(
        [
            v.RandomResizedCrop(224),
            v.RandomHorizontalFlip(),
            v.ToImage(),
            v.ToDtype(torch_module().float32, scale=True),
            v.Normalize(list(T.IMAGENET_MEAN), list(T.IMAGENET_STD)),
        ]
    ),
}


def make_images(size: tuple[int, int]) -> dict[str, Any]:
    """A photo of that size, as an image of each kind."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (1 + size[0] // 8, 1 + size[1] // 8, 3), dtype=np.uint8)
    photo = PIL.Image.fromarray(coarse).resize((size[1], size[0]), PIL.Image.Resampling.BICUBIC)
    planes = torch_module().stack(torch_module().from_numpy(np.array(photo)).unbind(-1))
    return {"Pillow": photo, "uint8": planes, "float32": planes.float() / 255}


def is_float(image: Any) -> bool:
    """Whether it is a tensor of fractions."""
    return getattr(getattr(image, "dtype", None), "is_floating_point", False)


def torch_module() -> Any:
    """torch, which is imported when it is first needed."""
    import torch

    return torch
