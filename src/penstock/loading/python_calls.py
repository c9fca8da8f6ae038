"""Runs a user's own callable, and says which file and step it was if that fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import PIL.Image

from penstock.errors import TransformError
from penstock.loading.unkeyed_draws import DrawWatch
from penstock.loading.parts import Part
from penstock.planner.plan import Plan, Segment
from penstock.sources import Source
from penstock.transforms.python_step import Pixels


class PythonCalls:
    """Calls the Python steps of a plan with draws that depend on seed, epoch and sample only."""

    def __init__(self, source: Source, plan: Plan, seed: int) -> None:
        self._source = source
        self._seed = seed
        steps = [segment.python for segment in plan.segments if segment.python is not None]
        self._watch = DrawWatch(steps)

    def call(
        self, segment: Segment, image: PIL.Image.Image, part: Part, item: int
    ) -> PIL.Image.Image:
        """Return what the segment's function makes of one image of a part."""
        sample, file = int(part.keys[item]), int(part.samples[item])
        return self.call_one(segment, image, epoch=part.epoch, sample=sample, file=file)

    def call_on_array(self, segment: Segment, pixels: Pixels, part: Part, item: int) -> Pixels:
        """The same from an array, which may be changed, to another."""
        sample, file = int(part.keys[item]), int(part.samples[item])
        with self._named(segment, file):
            return segment.call_python_on_array(
                pixels, seed=self._seed, epoch=part.epoch, sample=sample
            )

    def call_one(
        self, segment: Segment, image: PIL.Image.Image, *, epoch: int, sample: int, file: int
    ) -> PIL.Image.Image:
        """The same for any image; `file` is the sample it was read from."""
        with self._named(segment, file):
            return segment.call_python(image, seed=self._seed, epoch=epoch, sample=sample)

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
