"""Single samples of a batch, and batches in the form that torch's own loader gives them."""

from __future__ import annotations

from typing import Any

import torch


def split_samples(delivered: Any, image_key: str, *, has_views: bool) -> list[Any]:
    """Return what a loader delivers, sample by sample: views of the batch's memory.

    In a dictionary, images are under `image_key`.

    A label that is a whole number becomes a Python int, as torchvision's datasets have it.
    """
    if isinstance(delivered, dict):
        columns = [
            _images(value, has_views) if name == image_key else _values(value)
            for name, value in delivered.items()
        ]
        return [dict(zip(delivered, sample, strict=True)) for sample in zip(*columns, strict=True)]
    if isinstance(delivered, tuple):
        images, *beside = delivered
        return list(zip(_images(images, has_views), *map(_values, beside), strict=True))
    return _images(delivered, has_views)


def as_torch_batches(delivered: Any) -> Any:
    """Return a batch as torch's `default_collate` would: a list, where samples are tuples."""
    return list(delivered) if isinstance(delivered, tuple) else delivered


def _images(images: Any, has_views: bool) -> list[Any]:
    if has_views:
        return [list(views) for views in zip(*images, strict=True)]
    return list(images)


def _values(values: Any) -> list[Any]:
    if isinstance(values, dict):  # padded targets
        columns = [_values(value) for value in values.values()]
        return [dict(zip(values, row, strict=True)) for row in zip(*columns, strict=True)]
    if isinstance(values, torch.Tensor) and values.ndim == 1 and values.dtype == torch.int64:
        return values.tolist()
    return list(values)
