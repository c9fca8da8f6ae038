"""All batches of a loader from a seed, and whether two loaders gave the same, to the bit."""

from __future__ import annotations

import dataclasses
import inspect
import random
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import PIL.Image
import torch

import penstock

NO_WAY = "accelerate has no way='deferred'"


def has_way() -> bool:
    """Say whether `accelerate` can run a Dataset's own `__getitem__`."""
    return "way" in inspect.signature(penstock.accelerate).parameters


def accelerated(loader: Any) -> Any:
    """Return what becomes of a DataLoader; TranslationError if nothing does."""
    if not has_way():
        raise penstock.TranslationError(f"{NO_WAY}.", (NO_WAY,))
    options: dict[str, Any] = {"way": "deferred"}
    return penstock.accelerate(loader, **options)


def batches(loader: Iterable[Any], seed: int, epochs: int) -> list[list[Any]]:
    """Seed the generators that everybody uses, and return the batches of each epoch."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  the generator that strangers draw from
    return [list(loader) for _ in range(epochs)]


def same(first: Any, second: Any) -> None:
    """Raise an AssertionError with the first difference, if there is one."""
    found = difference(first, second)
    if found is not None:
        raise AssertionError(found)


def difference(first: Any, second: Any, where: str = "batches") -> str | None:
    """Return where two values differ first and how, or None if they are the same to the bit.

    Types, nesting, the order of keys and data types count; so does the sign of a zero. Two values
    that are not numbers are the same. How the values of a tensor lie in memory does not count.
    """
    if type(first) is not type(second):
        return f"{where}: {_named(type(first))}, and {_named(type(second))} in the second."
    if isinstance(first, torch.Tensor):
        return _tensors(first, second, where)
    if isinstance(first, np.ndarray | np.generic):
        return _arrays(np.asarray(first), np.asarray(second), where)
    if isinstance(first, PIL.Image.Image):
        return _images(first, second, where)
    if isinstance(first, Mapping):
        return _mappings(first, second, where)
    if isinstance(first, list | tuple):
        return _sequences(first, second, where)
    if dataclasses.is_dataclass(first):
        return difference(vars(first), vars(second), where)
    if isinstance(first, float):
        return _arrays(np.asarray(first), np.asarray(second), where)
    if first != second:
        return f"{where}: {first!r}, and {second!r} in the second."
    return None


def _tensors(first: torch.Tensor, second: torch.Tensor, where: str) -> str | None:
    for name in ("dtype", "shape", "device", "requires_grad"):
        one, other = getattr(first, name), getattr(second, name)
        if one != other:
            return f"{where}: {name} {one}, and {other} in the second."
    found = difference(vars(first), vars(second), f"{where}, what the tensor carries")
    return found or _arrays(_as_array(first), _as_array(second), where)


def _as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    plain = tensor.detach().as_subclass(torch.Tensor)
    if plain.dtype == torch.bfloat16:  # of which NumPy knows nothing; a float32 holds each of them
        plain = plain.float()
    return plain.numpy()


def _arrays(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], where: str) -> str | None:
    for name in ("dtype", "shape"):
        one, other = getattr(first, name), getattr(second, name)
        if one != other:
            return f"{where}: {name} {one}, and {other} in the second."
    if first.dtype.hasobject:
        return difference(first.tolist(), second.tolist(), where)
    if first.tobytes() == second.tobytes():
        return None
    differ = _bits_differ(first, second)
    if not differ.any():
        return None
    place = tuple(map(int, np.unravel_index(np.argmax(differ), differ.shape)))
    at = f" at {list(place)}" if place else ""
    return (
        f"{where}: {first[place]!r}{at}, and {second[place]!r} in the second; "
        f"{np.count_nonzero(differ):,} of {differ.size:,} values differ."
    )


def _bits_differ(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    size = first.dtype.itemsize
    shape = (*first.shape, size)
    one, other = (
        np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(shape)
        for array in (first, second)
    )
    differ: np.ndarray[Any, Any] = (one != other).any(axis=-1)
    if first.dtype.kind in "fc":
        differ &= ~(np.isnan(first) & np.isnan(second))
    return differ


def _images(first: PIL.Image.Image, second: PIL.Image.Image, where: str) -> str | None:
    for name in ("mode", "size", "format", "info"):
        found = difference(getattr(first, name), getattr(second, name), f"{where}, {name}")
        if found is not None:
            return found
    if first.getpalette() != second.getpalette():
        return f"{where}: the palettes differ."
    return _arrays(np.asarray(first), np.asarray(second), where)


def _mappings(first: Any, second: Any, where: str) -> str | None:
    found = difference(list(first), list(second), f"{where}, keys")
    if found is not None:
        return found
    pairs = ((difference(first[key], second[key], f"{where}[{key!r}]")) for key in first)
    return next((found for found in pairs if found is not None), None)


def _sequences(first: Any, second: Any, where: str) -> str | None:
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        found = difference(one, other, f"{where}[{number}]")
        if found is not None:
            return found
    if len(first) != len(second):
        return f"{where}: {len(first)} items, and {len(second)} in the second."
    return None


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
