"""Batches of random numbers, a new one per step: the "Synthetic" input of the first study.

The step on one batch that stays in memory is what the accelerator can do. With a new batch per
step, the time to make it and to copy it is part of the rate, as it is in a real training.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock.watching.loader_facts import is_list_of_images

_RANDOM = np.random.default_rng(0)


def fresh_batch(batch: Any) -> Any | None:
    """Return a batch like this one with new random images; None if its images are not known.

    Labels and targets stay as they are. Nothing is known of images that are neither tensors nor
    arrays.
    """
    if isinstance(batch, Mapping):
        name = next(iter(batch), None)
        images = None if name is None else fresh_batch(batch[name])
        return None if images is None else {**batch, name: images}
    if isinstance(batch, (tuple, list)):
        if not batch:
            return None
        images = batch if isinstance(batch, list) else batch[0]
        if isinstance(images, (tuple, list)) and images and is_list_of_images(images):
            made = [_random_like(image) for image in images]
            return made if images is batch else (made, *batch[1:])
        first = fresh_batch(batch[0])
        if first is None:
            return None
        return [first, *batch[1:]] if isinstance(batch, list) else (first, *batch[1:])
    return _random_like(batch)


def _random_like(images: Any) -> Any | None:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(images, torch.Tensor):
        if images.is_floating_point():
            return torch.rand(images.shape, dtype=images.dtype)
        return torch.randint(0, 256, images.shape, dtype=images.dtype)
    if not isinstance(images, np.ndarray):
        return None
    if images.dtype.kind == "f":
        random = np.asarray(_RANDOM.random(images.shape, dtype=np.float32))
        return random.astype(images.dtype, copy=False)
    return _RANDOM.integers(0, 256, images.shape, dtype=np.uint8).astype(images.dtype, copy=False)
