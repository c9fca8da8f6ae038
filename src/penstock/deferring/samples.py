"""Finds the deferred images and tensors in the samples of a batch, and has them made together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from penstock.deferring.carry_out import Job, carry_out
from penstock.deferring.image import DeferredImage
from penstock.deferring.rows import Row, split_rows
from penstock.deferring.tensor import Batch, Deferred
from penstock.loading.to_torch import TorchMemory

OURS = (DeferredImage, Deferred)

_Path = tuple[object, ...]  # how a value is reached within a sample
_Key = tuple[object, ...]  # what tensors of one batch have in common


def make_samples(samples: list[Any], lender: TorchMemory | None, threads: int) -> list[Any]:
    """Return the samples with ordinary images and tensors, computed together.

    Tensors of one shape at one place of the samples lie in one batch. Memory comes from `lender`,
    if there is one.
    """
    images, groups = _found_in(samples)
    jobs = [job for image in images for job in _image_job(image)]
    batches = [(members, Batch(members, lender)) for members in groups.values()]
    for _, batch in batches:
        jobs += batch.jobs()
    if jobs:
        carry_out(jobs, threads)
    made: dict[int, Any] = {id(image): image.plain() for image in images}
    for members, batch in batches:
        rows = split_rows(batch.tensor(), type(members[0]).plain_class)
        for value, row in zip(members, rows, strict=True):
            made[id(value)] = row
            value.settle(row)
    return [_rebuilt(sample, made.get) for sample in samples]


def _found_in(samples: list[Any]) -> tuple[list[DeferredImage], dict[_Key, list[Any]]]:
    """All deferred images, and the tensors of each batch that they make; each of them once."""
    images: list[DeferredImage] = []
    groups: dict[_Key, list[Any]] = defaultdict(list)
    seen: set[int] = set()
    for sample in samples:
        for path, value in _walk(sample, ()):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, DeferredImage):
                images.append(value)
            elif value.is_open:
                key = (path, *value.key)
                groups[key].append(value)
    return images, groups


def plain_samples(samples: list[Any]) -> list[Any]:
    """The same samples with tensors that know nothing of a batch."""
    rows = {id(row): row.plain() for sample in samples for _, row in _walk(sample, (), Row)}
    return [_rebuilt(sample, rows.get, Row) for sample in samples]


def _walk(value: Any, path: _Path, wanted: Any = OURS) -> Iterator[tuple[_Path, Any]]:
    """All values of these classes in a sample; within containers of Python's own, that is."""
    if isinstance(value, wanted):
        yield path, value
    elif isinstance(value, (tuple, list)):
        for number, inner in enumerate(value):
            yield from _walk(inner, (*path, number), wanted)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, (*path, name), wanted)


def _rebuilt(value: Any, find: Callable[[int], Any], wanted: Any = OURS) -> Any:
    """The sample with what was made in the place of what was deferred."""
    if isinstance(value, wanted):
        found = find(id(value))
        return _as_ordinary(value) if found is None else found
    if isinstance(value, (tuple, list)):
        inner = [_rebuilt(one, find, wanted) for one in value]
        if all(new is old for new, old in zip(inner, value, strict=True)):
            return value
        if hasattr(value, "_fields"):  # a named tuple
            return type(value)(*inner)
        return _of_type(value, inner)
    if isinstance(value, dict):
        rebuilt = {name: _rebuilt(one, find, wanted) for name, one in value.items()}
        if all(rebuilt[name] is value[name] for name in value):
            return value
        return rebuilt if type(value) is dict else _changed(value, rebuilt)
    return value


def _as_ordinary(value: Any) -> Any:
    return value.values() if isinstance(value, Deferred) else value.plain()


def _of_type(value: Any, inner: list[Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(inner)
    if isinstance(value, list):
        return _changed(value, dict(enumerate(inner)))
    return tuple(inner)


def _changed(value: Any, inner: dict[Any, Any]) -> Any:
    """A container of a class of somebody's, with other values in it."""
    for name, one in inner.items():
        value[name] = one
    return value


def _image_job(image: DeferredImage) -> Iterator[Job]:
    chain = image.chain
    if chain is None or chain.pixels is not None:
        return
    pixels = np.empty((chain.height, chain.width, 3), dtype=np.uint8)
    yield Job(chain, pixels)
    image.settle(pixels)
