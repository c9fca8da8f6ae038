"""Generators of one side: torch's, NumPy's and Python's, seeded alike for each side.

Both sides run in turns, a batch at a time. Each has the generators of the process for itself while
it runs, so that what one draws moves nothing for the other.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

NUMPY_SEEDS = 1 << 32  # NumPy's own generator takes no larger ones


@dataclass(slots=True)
class _States:
    python: Any
    numpy: Any
    torch: Any  # None where torch is not imported


class Generators:
    """The generators of the process, as one side sees them."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._states: _States | None = None  # None until the side runs for the first time

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Let them be those of the process until the end of the block."""
        before = _take()
        if self._states is None:
            _seed(self._seed)
        else:
            _put(self._states)
        try:
            yield
        finally:
            self._states = _take()
            _put(before)


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % NUMPY_SEEDS)  # noqa: NPY002 (that generator is the one users draw from)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def _take() -> _States:
    torch = sys.modules.get("torch")
    return _States(
        random.getstate(),
        np.random.get_state(),  # noqa: NPY002 (the same)
        None if torch is None else torch.get_rng_state(),
    )


def _put(states: _States) -> None:
    random.setstate(states.python)
    np.random.set_state(states.numpy)  # noqa: NPY002 (the same)
    torch = sys.modules.get("torch")
    if torch is not None and states.torch is not None:
        torch.set_rng_state(states.torch)
