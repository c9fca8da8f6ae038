"""Finds the deferred images and tensors in the samples of a batch, and has them made together."""

from __future__ import annotations

import copy
import weakref
from collections import UserDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from penstock.deferring.array import DeferredArray
from penstock.deferring.array_memory import Place
from penstock.deferring.batches import Batch
from penstock.deferring.carry_out import Job, carry_out, note_batch
from penstock.deferring.chain import Pixels
from penstock.deferring.image import DeferredImage
from penstock.deferring.rows import Row, split_rows
from penstock.deferring.tensor import OURS as OURS_OF_TENSORS
from penstock.deferring.tensor import Deferred, with_added
from penstock.loading.to_torch import TorchMemory

OURS = (DeferredImage, DeferredArray, Deferred)

_LEAVES = frozenset({int, float, bool, str, bytes, type(None)})  # most labels; nothing is in them

_Path = tuple[object, ...]  # how a value is reached within a sample
_Key = tuple[object, ...]  # what tensors of one batch have in common


def make_samples(samples: list[Any], lender: TorchMemory | None, threads: int) -> list[Any]:
    """Return the samples with ordinary images and tensors, computed together; empties the list.

    Tensors of one shape at one place of the samples lie in one batch. Memory comes from `lender`,
    if there is one.
    """
    made, tensors = _made_of(samples, lender, threads)
    samples.clear()  # from here on, only tensors that somebody keeps are there
    return _with_kept(made, tensors)


def _made_of(
    samples: list[Any], lender: TorchMemory | None, threads: int
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """The samples, and each deferred tensor in them (by a weak reference) with its row."""
    images, arrays, groups = _found_in(samples)
    rooms = [(image, room) for image in images if (room := _room_for(image)) is not None]
    jobs = [Job(image.chain, room) for image, room in rooms if image.chain is not None]
    places = [(array, Place(array, array.chain)) for array in arrays if array.chain is not None]
    jobs += [place.job() for _, place in places]
    batches = [(members, Batch(members, lender)) for members in groups.values()]
    for _, batch in batches:
        jobs += batch.jobs()
    if jobs:
        note_batch(jobs)
        carry_out(jobs, threads)
    for image, room in rooms:  # not before: whoever keeps one would have it half made
        image.settle(room)
    for array, place in places:
        array.settle(place.array())
    made: dict[int, Any] = {id(image): image.plain() for image in images}
    for members, batch in batches:
        made |= _rows_of(members, batch)
    rebuilt = [_rebuilt(sample, made.get) for sample in samples]
    found = [one for members in groups.values() for one in members]
    return rebuilt, [(weakref.ref(one), made[id(one)]) for one in found]


def _rows_of(members: list[Any], batch: Batch) -> dict[int, Any]:
    """What the tensors of a batch have become."""
    rows = split_rows(batch.tensor(), type(members[0]).plain_class)
    for value, row in zip(members, rows, strict=True):
        value.put_patches(row)
        with_added(row, value, OURS_OF_TENSORS)
    return {id(value): row for value, row in zip(members, rows, strict=True)}


def _with_kept(samples: list[Any], tensors: list[tuple[Any, Any]]) -> list[Any]:
    """Return the samples with what a Dataset has kept for itself as it keeps it.

    Somebody who changes a batch must not change such a tensor; somebody who changes the sample, in
    a collate function, does.
    """
    kept: dict[int, Any] = {}
    for ref, row in tensors:
        value = ref()
        if value is not None:
            value.settle(row.plain().clone())
            kept[id(row)] = value.ordinary()
    return [_rebuilt(sample, kept.get, Row) for sample in samples] if kept else samples


def _found_in(
    samples: list[Any],
) -> tuple[list[DeferredImage], list[DeferredArray], dict[_Key, list[Any]]]:
    """Deferred images, arrays, and the tensors of each batch that they make; each of them once."""
    images: list[DeferredImage] = []
    arrays: list[DeferredArray] = []
    groups: dict[_Key, list[Any]] = defaultdict(list)
    seen: set[int] = set()
    for sample in samples:
        for path, value in _walk(sample, ()):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, DeferredImage):
                images.append(value)
            elif not (value.is_open and value.is_alone):
                continue
            elif isinstance(value, DeferredArray):
                arrays.append(value)
            else:
                key = (path, *value.key)
                groups[key].append(value)
    return images, arrays, groups


def plain_samples(samples: list[Any]) -> list[Any]:
    """The same samples with tensors that know nothing of a batch."""
    rows = {id(row): row.plain() for sample in samples for _, row in _walk(sample, (), Row)}
    return [_rebuilt(sample, rows.get, Row) for sample in samples]


def _walk(value: Any, path: _Path, wanted: Any = OURS) -> Iterator[tuple[_Path, Any]]:
    """All values of these classes in a sample; within containers of Python's own, that is."""
    if isinstance(value, wanted):
        yield path, value
        return
    for name, inner in _members(value):
        if type(inner) not in _LEAVES:
            yield from _walk(inner, (*path, name), wanted)


def _rebuilt(value: Any, find: Callable[[int], Any], wanted: Any = OURS) -> Any:
    """The sample with what was made in the place of what was deferred."""
    if isinstance(value, wanted):
        found = find(id(value))
        return _as_ordinary(value) if found is None else found
    inner = dict(_members(value))
    new = {
        name: one if type(one) in _LEAVES else _rebuilt(one, find, wanted)
        for name, one in inner.items()
    }
    if all(new[name] is inner[name] for name in inner):
        return value
    if isinstance(value, tuple):
        make = type(value)._make if hasattr(value, "_make") else _tuple_class(value)
        return make(new.values())
    return _changed(copy.copy(value), new)  # whoever keeps the container keeps what is in it


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    """What is in a container, and under which name."""
    if isinstance(value, (tuple, list)):
        return enumerate(value)
    if isinstance(value, (dict, UserDict)):
        return value.items()
    if is_dataclass(value) and not isinstance(value, type):
        return ((one.name, getattr(value, one.name)) for one in fields(value))
    return ()


def _tuple_class(value: Any) -> Any:
    return type(value) if type(value) is tuple else tuple


def _changed(value: Any, inner: dict[Any, Any]) -> Any:
    """A container, with other values in it."""
    for name, one in inner.items():
        if is_dataclass(value):
            object.__setattr__(value, name, one)  # it may be frozen
        else:
            value[name] = one
    return value


def _as_ordinary(value: Any) -> Any:
    return value if isinstance(value, Row) else _plain_of(value)


def _plain_of(value: Any) -> Any:
    if isinstance(value, DeferredArray):
        return value.values()
    return value.ordinary() if isinstance(value, Deferred) else value.plain()


def _room_for(image: DeferredImage) -> Pixels | None:
    """Memory for the pixels of an image, unless it has them already."""
    chain = image.chain
    if chain is None or chain.pixels is not None:
        return None
    return np.empty((chain.height, chain.width, 3), dtype=np.uint8)
