"""Finds functions of the user's that draw from generators which the loader's seed does not reach.

Seeding those generators for each sample would not help: they belong to the whole process, so other
threads draw from them at the same time, the training loop among them. So the user is told.
"""

from __future__ import annotations

import random
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from penstock.planner.plan import Node
from penstock.transforms.python_step import PythonStep

_CALLS = 2  # in a row: the training loop may happen to draw during one


class DrawWatch:
    """Looks at the generators before and after the first calls of each step.

    Until all steps have been looked at, calls are made one at a time, so that none is blamed for
    what another drew.
    """

    def __init__(self, steps: Iterable[Node[PythonStep]]) -> None:
        self._left = {step.stream: _CALLS for step in steps}
        self._drawn: dict[int, set[str]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def around(self, step: Node[PythonStep]) -> Iterator[None]:
        """Make one call."""
        if not self._left:
            yield
            return
        with self._lock:
            if step.stream not in self._left:
                yield
                return
            before = _states()
            yield
            after = _states()
            self._note(step, {name for name, state in after.items() if state != before.get(name)})

    def _note(self, step: Node[PythonStep], changed: set[str]) -> None:
        number = step.stream
        self._drawn[number] = self._drawn.get(number, changed) & changed
        self._left[number] -= 1
        if self._left[number]:
            return
        del self._left[number]
        if self._drawn[number]:
            warnings.warn(
                f"{step.op.name} (step {number + 1}): draws from the generator of "
                f"{' and '.join(sorted(self._drawn[number]))}, which does not depend on the "
                "loader's seed, so the same seed gives other batches. A function of yours can take "
                "a parameter named rng, and draw from that.",
                stacklevel=2,
            )


def _states() -> dict[str, object]:
    """What tells whether anything was drawn, for each generator that a process has one of."""
    numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002  the user's
    inner = numpy_state["state"]
    states: dict[str, object] = {
        "Python's random": random.getstate(),
        "np.random": (
            inner["key"].tobytes(),
            inner["pos"],
            numpy_state["has_gauss"],
            numpy_state["gauss"],
        ),
    }
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):
        states["torch"] = torch.get_rng_state().numpy().tobytes()
    return states
