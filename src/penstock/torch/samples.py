"""Single samples of a batch, and batches in the form that torch's own loader gives them."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.utils.data._utils.collate import collate, default_collate_fn_map

from penstock.torch.segments import ready_to_send


class Sample(tuple[Any, ...]):
    """A tuple that torch's `default_collate` knows as one of ours."""

    __slots__ = ()


class NamedSample(dict[str, Any]):
    """The same as a dictionary."""

    __slots__ = ()


class Samples(list[Any]):
    """The samples of a batch, which torch's `default_collate` need not copy into one again."""

    def __init__(self, samples: list[Any], whole: Any) -> None:
        kind = NamedSample if isinstance(whole, dict) else Sample
        super().__init__(map(kind, samples))
        self._made = tuple(self)
        self._whole = whole

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as a list: whoever gets it has left collating to somebody else."""
        return list, (list(self),)

    @property
    def whole(self) -> Any:
        """The batch that they lie in; None if the list was changed since."""
        is_whole = len(self) == len(self._made) and all(map(operator.is_, self, self._made))
        return self._whole if is_whole else None


def as_samples(delivered: Any, image_key: str, *, has_views: bool) -> list[Any]:
    """Return what a loader delivers, sample by sample, for torch's loader to collate."""
    samples = split_samples(delivered, image_key, has_views=has_views)
    if not isinstance(delivered, (tuple, dict)):
        return samples
    images = delivered[image_key] if isinstance(delivered, dict) else delivered[0]
    # Images of several sizes are in lists; torch says so when it is to collate them.
    is_stacked = all(isinstance(one, torch.Tensor) for one in (images if has_views else [images]))
    return Samples(samples, delivered) if is_stacked and _is_collated(delivered) else samples


def _is_collated(delivered: Any) -> bool:
    """Whether torch would make nothing else of the samples: it only stacks tensors."""
    if isinstance(delivered, dict):
        return all(map(_is_collated, delivered.values()))
    if isinstance(delivered, (tuple, list)):
        return all(map(_is_collated, delivered))
    return isinstance(delivered, torch.Tensor)


def _collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Collate samples as the tuples or dictionaries that they are."""
    whole = batch.whole if isinstance(batch, Samples) else None
    if whole is not None:
        return _to_send(as_torch_batches(whole))
    kind = dict if isinstance(batch[0], dict) else tuple
    return collate([kind(sample) for sample in batch], collate_fn_map=collate_fn_map)


def _to_send(collated: Any) -> Any:
    """Return the batch so that another process gets it uncopied."""
    if isinstance(collated, dict):
        return {name: _to_send(value) for name, value in collated.items()}
    if isinstance(collated, list):
        return [_to_send(value) for value in collated]
    return ready_to_send(collated)


default_collate_fn_map[Sample] = default_collate_fn_map[NamedSample] = _collate


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
