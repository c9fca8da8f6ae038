"""Single samples of a batch, and batches in the form that torch's own loader gives them."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.utils.data._utils.collate import collate, default_collate_fn_map


class Sample(tuple[Any, ...]):
    """A tuple that torch's `default_collate` knows as one of ours."""

    __slots__ = ()


class Samples(list[Any]):
    """The samples of a batch, which torch's `default_collate` need not copy into one again."""

    def __init__(self, samples: list[Any], whole: tuple[torch.Tensor, ...]) -> None:
        super().__init__(map(Sample, samples))
        self._made = tuple(self)
        self._whole = whole

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as a list: whoever gets it has left collating to somebody else."""
        return list, (list(self),)

    @property
    def whole(self) -> tuple[torch.Tensor, ...] | None:
        """The tensors that they lie in; None if the list was changed since."""
        is_whole = len(self) == len(self._made) and all(map(operator.is_, self, self._made))
        return self._whole if is_whole else None


def as_samples(delivered: Any, image_key: str, *, has_views: bool) -> list[Any]:
    """Return what a loader delivers, sample by sample, for torch's loader to collate."""
    samples = split_samples(delivered, image_key, has_views=has_views)
    is_plain = isinstance(delivered, tuple) and all(isinstance(x, torch.Tensor) for x in delivered)
    return Samples(samples, delivered) if is_plain else samples  # torch collates others otherwise


def _collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Collate `Sample`s as tuples are collated: into a list."""
    whole = batch.whole if isinstance(batch, Samples) else None
    if whole is not None:
        return as_torch_batches(whole)
    return collate([tuple(sample) for sample in batch], collate_fn_map=collate_fn_map)


default_collate_fn_map[Sample] = _collate


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
