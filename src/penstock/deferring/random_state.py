"""All generators that a Dataset may draw from, and how to put them back where they were."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import torch
from PIL import Image

_DEEPEST = 4  # levels of attributes and containers that are looked into
_MOST_MEMBERS = 64  # of a container; longer ones hold data


@dataclass(frozen=True, slots=True)
class RandomState:
    """Where generators stood."""

    torch_state: torch.Tensor
    python_state: tuple[Any, ...]
    numpy_state: Any
    own: tuple[tuple[Any, Any], ...]

    @staticmethod
    def now(generators: tuple[Any, ...] = ()) -> RandomState:
        """The generators of the process, and others."""
        return RandomState(
            torch.get_rng_state(),
            random.getstate(),
            np.random.get_state(),  # noqa: NPY002 (whatever the user draws from)
            tuple((generator, _state_of(generator)) for generator in generators),
        )

    def restore(self) -> None:
        """Put all of them back."""
        torch.set_rng_state(self.torch_state)
        random.setstate(self.python_state)
        np.random.set_state(self.numpy_state)  # noqa: NPY002 (the same)
        for generator, state in self.own:
            _put_back(generator, state)


def _state_of(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state()  # of NumPy's RandomState and torch's Generator


def _put_back(generator: Any, state: Any) -> None:
    if isinstance(generator, random.Random):
        generator.setstate(state)
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    else:
        generator.set_state(state)


_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator, torch.Generator)
_LEAVES = (str, bytes, int, float, torch.Tensor, np.ndarray, Image.Image)
_STATELESS = random.SystemRandom
_CONTAINERS = (list, tuple, set)


class _Kind(Enum):
    """What becomes of a value while generators are looked for."""

    LEAF = "leaf"
    GENERATOR = "generator"
    CONTAINER = "container"
    MAPPING = "mapping"
    OBJECT = "object"


class _Kinds(dict[type, _Kind]):
    """The kinds of classes. Some take their time to be asked, and all are asked for every batch."""

    def __missing__(self, type_: type) -> _Kind:
        self[type_] = kind = _kind_of(type_)
        return kind


def _kind_of(type_: type) -> _Kind:
    if issubclass(type_, (*_LEAVES, _STATELESS)):
        return _Kind.LEAF
    if issubclass(type_, _GENERATORS):
        return _Kind.GENERATOR
    if issubclass(type_, _CONTAINERS):
        return _Kind.CONTAINER
    return _Kind.MAPPING if issubclass(type_, dict) else _Kind.OBJECT


_kinds = _Kinds()


def generators_in(thing: Any) -> tuple[Any, ...]:
    """The generators among the attributes of a Dataset, of its transforms, and so on."""
    found: list[Any] = []
    seen: set[int] = set()
    level: list[Any] = [thing]
    for _ in range(_DEEPEST + 1):
        inner: list[Any] = []
        for one in level:
            if id(one) in seen:
                continue
            seen.add(id(one))
            kind = _kinds[type(one)]
            if kind is _Kind.GENERATOR:
                found.append(one)
            elif kind is not _Kind.LEAF:
                members = _members(one, kind)
                inner += [member for member in members if _kinds[type(member)] is not _Kind.LEAF]
        level = inner
    return tuple(found)


def _members(thing: Any, kind: _Kind) -> Iterable[Any]:
    if kind is _Kind.OBJECT:
        attributes: dict[str, Any] = getattr(thing, "__dict__", {})
        return attributes.values()
    members: Iterable[Any] = thing.values() if kind is _Kind.MAPPING else thing
    return members if len(thing) <= _MOST_MEMBERS else ()
