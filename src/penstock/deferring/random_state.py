"""All generators that a Dataset may draw from, and how to put them back where they were."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

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


def generators_in(thing: Any) -> tuple[Any, ...]:
    """The generators among the attributes of a Dataset, of its transforms, and so on."""
    seen: set[int] = set()
    return tuple(_find(thing, _DEEPEST, seen))


def _find(thing: Any, levels: int, seen: set[int]) -> Iterator[Any]:
    if id(thing) in seen or isinstance(thing, (str, bytes, int, float, torch.Tensor, np.ndarray)):
        return
    seen.add(id(thing))
    if isinstance(thing, _GENERATORS):
        if not isinstance(thing, random.SystemRandom):  # which has no state
            yield thing
        return
    if levels == 0:
        return
    if isinstance(thing, (list, tuple, set)):
        members = list(thing) if len(thing) <= _MOST_MEMBERS else []
    elif isinstance(thing, dict):
        members = list(thing.values()) if len(thing) <= _MOST_MEMBERS else []
    else:
        members = list(getattr(thing, "__dict__", {}).values())
    for member in members:
        yield from _find(member, levels - 1, seen)
