"""How many images a batch holds, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def count_images(batch: Any) -> int:
    """Return the number of samples in a batch: the length of the first thing that has one.

    A batch is an array, a tensor, a list of images, or a tuple, list or dictionary that begins
    with one of these.
    """
    if hasattr(batch, "shape"):
        return int(batch.shape[0]) if len(batch.shape) else 1
    if isinstance(batch, Mapping):
        return count_images(next(iter(batch.values()))) if batch else 0
    if isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        if not batch:
            return 0
        first = batch[0]
        # A list of images of different sizes is the samples themselves.
        is_samples = hasattr(first, "shape") and len(first.shape) == 3
        return (
            len(batch)
            if is_samples or isinstance(first, (str, int, float))
            else (count_images(first))
        )
    return 1
