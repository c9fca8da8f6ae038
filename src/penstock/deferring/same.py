"""Whether two samples are the same, to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image


def first_difference(one: Any, other: Any, where: str = "the sample") -> str:
    """Say where two samples differ; nothing if they do not."""
    return next(_differences(one, other, where), "")


def _differences(one: Any, other: Any, where: str) -> Iterator[str]:  # noqa: C901, PLR0912 (a case for each kind)
    if one is other:
        return
    if type(one) is not type(other):
        yield f"{where} is of type {type(one).__name__} once, {type(other).__name__} then"
    elif isinstance(one, torch.Tensor):
        yield from _in_values(one.dtype, one.shape, _tensor_bytes(one), other, where)
    elif isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape or one.dtype.hasobject:
            same = one.dtype == other.dtype and one.shape == other.shape and (one == other).all()
        else:
            same = one.tobytes() == other.tobytes()
        if not same:
            yield f"{where} has other values"
    elif isinstance(one, Image.Image):
        if (one.mode, one.size, one.tobytes()) != (other.mode, other.size, other.tobytes()):
            yield f"{where} has other pixels"
    elif isinstance(one, dict):
        if list(one) != list(other):
            yield f"{where} has other keys"
            return
        for name in one:
            yield from _differences(one[name], other[name], f"{where}[{name!r}]")
    elif isinstance(one, (list, tuple)):
        if len(one) != len(other):
            yield f"{where} has another length"
            return
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differences(left, right, f"{where}[{number}]")
    elif is_dataclass(one) and not isinstance(one, type):
        for name in (field.name for field in fields(one)):
            yield from _differences(getattr(one, name), getattr(other, name), f"{where}.{name}")
    elif hasattr(one, "__dict__") and vars(type(one)).get("__eq__") is None:
        yield from _differences(vars(one), vars(other), where)
    elif not _are_equal(one, other):
        yield f"{where} is {one!r} once, {other!r} then"


def _in_values(dtype: Any, shape: Any, stored: bytes, other: Any, where: str) -> Iterator[str]:
    if (dtype, shape) != (other.dtype, other.shape):
        then = f"{other.dtype} of {tuple(other.shape)}"
        yield f"{where} is {dtype} of {tuple(shape)} once, {then} then"
    elif stored != _tensor_bytes(other):
        yield f"{where} has other values"


def _tensor_bytes(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().cpu().as_subclass(torch.Tensor).contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and one != one:  # noqa: PLR0124 (it is not a number)
        return bool(other != other)  # noqa: PLR0124 (the same)
    return bool(one == other)
