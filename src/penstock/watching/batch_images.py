"""How many images are in a batch, whatever its form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEEPEST = 4  # containers in containers


def count_images(batch: Any) -> int:
    """Return the first length found: of a tensor, or of the first in a tuple or dictionary.

    A list of tensors or arrays is a list of images, as detection models take them. 0 where nothing
    has a length.
    """
    try:
        return _first_length(batch)
    except Exception:  # noqa: BLE001 (objects of users: whatever they do, their loop must go on)
        return 0


def _first_length(batch: Any) -> int:
    for _ in range(DEEPEST):
        if hasattr(batch, "shape"):
            return int(batch.shape[0]) if len(batch.shape) else 0
        if isinstance(batch, Mapping):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, tuple) and batch:
            batch = batch[0]
        elif isinstance(batch, list) and batch:
            if _is_list_of_images(batch):
                return len(batch)
            batch = batch[0]
        else:
            break
    return 0


def _is_list_of_images(batch: list[Any]) -> bool:
    """Tell a list of images from the [images, labels] that torch's collate makes."""
    first = batch[0]
    dimensions = len(getattr(first, "shape", ()))
    return dimensions in {2, 3} and all(
        len(getattr(other, "shape", ())) == dimensions for other in batch
    )
