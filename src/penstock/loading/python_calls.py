"""Calls the user's own functions among the transforms.

A function that takes `rng` gets a generator that depends on the loader's seed. A warning names a
function that draws from the generators of Python, NumPy or torch instead. Seeding these for each
sample would not help: they belong to the process, and other threads, such as the training loop,
draw from them at the same time.
"""

from __future__ import annotations

import random
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count

import numpy as np
import PIL.Image

from penstock.errors import TransformError
from penstock.loading.batch import Part
from penstock.loading.reuse import Reusing, draw_keys
from penstock.planner.plan import Node, Plan, Segment
from penstock.sources import Source
from penstock.transforms.declared import Declared
from penstock.transforms.python_step import Pixels, PythonStep

# Calls of a function declared per pixel that are checked: the first ones, then some.
_FIRST_CHECKS = 8
_CHECKED_OF = 512

_CALLS = 2  # in a row: the training loop may happen to draw during one


class PythonCalls:
    """Calls the Python steps of a plan with draws that depend on seed, epoch and sample only."""

    def __init__(self, source: Source, plan: Plan, reusing: Reusing | None = None) -> None:
        self._source = source
        self._reusing = reusing
        segments = [segment for one in (plan, *plan.views) for segment in one.segments]
        steps = [segment.python for segment in segments if segment.python is not None]
        self._watch = DrawWatch(steps)
        self._checks = {
            step.stream: count() for step in steps if step.op.declared == Declared.PER_PIXEL
        }

    def call(
        self, segment: Segment, image: PIL.Image.Image, part: Part, position: int
    ) -> PIL.Image.Image:
        """Return what the segment's function makes of one image of a part."""
        epoch, sample, file = self._key(segment, part, position)
        return self.call_one(segment, image, seed=part.seed, epoch=epoch, sample=sample, file=file)

    def call_on_array(self, segment: Segment, pixels: Pixels, part: Part, position: int) -> Pixels:
        """The same for an array, which may be changed; returns an array."""
        epoch, sample, file = self._key(segment, part, position)
        call = _checked if self._is_to_be_checked(segment) else Segment.call_python_on_array
        with self._named(segment, file):
            return call(segment, pixels, seed=part.seed, epoch=epoch, sample=sample)

    def call_one(
        self,
        segment: Segment,
        image: PIL.Image.Image,
        *,
        seed: int,
        epoch: int,
        sample: int,
        file: int,
    ) -> PIL.Image.Image:
        """The same for any image; `file` is the sample it was read from."""
        with self._named(segment, file):
            return segment.call_python(image, seed=seed, epoch=epoch, sample=sample)

    def _key(self, segment: Segment, part: Part, position: int) -> tuple[int, int, int]:
        """Epoch and sample of the draws for one image of a part, and the sample it comes from."""
        keys = part.keys[position : position + 1]
        epoch, keys = draw_keys(self._reusing, segment, part.epoch, keys)
        one = epoch if isinstance(epoch, int) else int(epoch[0])
        return one, int(keys[0]), int(part.samples[position])

    def _is_to_be_checked(self, segment: Segment) -> bool:
        if segment.python is None or segment.python.stream not in self._checks:
            return False
        number = next(self._checks[segment.python.stream])
        return number < _FIRST_CHECKS or number % _CHECKED_OF == 0

    @contextmanager
    def _named(self, segment: Segment, file: int) -> Iterator[None]:
        step = segment.python
        if step is None:
            yield
            return
        try:
            with self._watch.around(step):
                yield
        except TransformError:
            raise
        except Exception as error:
            where = f"{step.op.name} (step {step.stream + 1})"
            name = self._source.name(file)
            raise TransformError(
                f"{where}: failed on {name} with {type(error).__name__}: {error}"
            ) from error


def _checked(segment: Segment, pixels: Pixels, **key: int) -> Pixels:
    """Call a function that is declared per pixel, and compare a part of the result.

    Raises TransformError if the function makes something else of that part of the image alone.
    """
    height, width = pixels.shape[:2]
    part = (slice(height // 3, height - height // 4), slice(width // 4, width - width // 3))
    of_part = segment.call_python_on_array(np.ascontiguousarray(pixels[part]), **key)
    result = segment.call_python_on_array(pixels, **key)
    if segment.python is not None and not np.array_equal(of_part, result[part]):
        raise TransformError(
            f"{segment.python.op.name} (step {segment.python.stream + 1}): is declared per_pixel, "
            "but makes something else of a part of an image than of that part in the whole. It "
            "looks at other pixels too, or draws numbers for each pixel. Leave out "
            "@penstock.per_pixel."
        )
    return result


class DrawWatch:
    """Looks at the generators before and after the first calls of each step.

    Until all steps have been looked at, calls are made one at a time, so that no function is
    blamed for what another one drew.
    """

    def __init__(self, steps: Iterable[Node[PythonStep]]) -> None:
        self._left = {step.stream: _CALLS for step in steps}
        self._drawn: dict[int, set[str]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def around(self, step: Node[PythonStep]) -> Iterator[None]:
        """Watch one call, made inside this context."""
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
    """The states of the process's own generators; one that changes shows that it was drawn from."""
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
