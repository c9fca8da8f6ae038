"""Single samples of a batch, and batches in the form that torch's own loader gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from penstock.errors import LoaderError
from penstock.loading.deliver import IMAGE, ColumnDelivery, Delivery

Names = Mapping[str, str]  # what keys of dictionaries are called instead


def read_names(as_dict: Any) -> Names:
    """Return the other names that `as_dict` has for keys: none if it is True or False."""
    if isinstance(as_dict, bool):
        return {}
    given = dict(as_dict) if isinstance(as_dict, Mapping) else {}
    if given and all(isinstance(name, str) for pair in given.items() for name in pair):
        return given
    raise LoaderError(
        "Dataset: as_dict must be True, False or a dictionary from names to other names, such as "
        f"{{'image': 'pixel_values', 'label': 'labels'}}, got {as_dict!r}."
    )


def check_names(names: Names, delivery: Delivery) -> None:
    """Raise LoaderError if there is nothing of some name, or two things would have the same."""
    if not names or not isinstance(delivery, ColumnDelivery):
        return
    targets = () if delivery.targets is None else (delivery.targets.key,)
    there = [IMAGE, *targets, *delivery.columns]
    for name in names:
        if name not in there:
            raise LoaderError(
                f"Dataset: as_dict: samples have no {name!r} to be renamed. There are "
                f"{', '.join(there)}; further columns are asked for with columns=[...]."
            )
    renamed = [names.get(name, name) for name in there]
    twice = next((name for name in renamed if renamed.count(name) > 1), None)
    if twice is not None:
        raise LoaderError(f"Dataset: as_dict: two keys of a sample would be called {twice!r}.")


def split_samples(delivered: Any, names: Names, *, has_views: bool) -> list[Any]:
    """Return what a loader delivers, sample by sample: views of the batch's memory.

    A label that is a whole number becomes a Python int, as torchvision's datasets have it.
    """
    if isinstance(delivered, dict):
        columns = [
            _images(value, has_views) if name == IMAGE else _values(value)
            for name, value in delivered.items()
        ]
        keys = [names.get(name, name) for name in delivered]
        return [dict(zip(keys, sample, strict=True)) for sample in zip(*columns, strict=True)]
    if isinstance(delivered, tuple):
        images, *beside = delivered
        return list(zip(_images(images, has_views), *map(_values, beside), strict=True))
    return _images(delivered, has_views)


def as_torch_batches(delivered: Any, names: Names) -> Any:
    """Return a batch as torch's `default_collate` would: a list, where samples are tuples."""
    if isinstance(delivered, dict):
        return {names.get(name, name): value for name, value in delivered.items()}
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
