"""Runs a user's own callable, and says which file and step it was if that fails."""

from __future__ import annotations

import PIL.Image

from penstock.errors import TransformError
from penstock.loading.work import Part
from penstock.planner.plan import Segment
from penstock.sources import Source


class PythonCalls:
    """Calls the Python steps of a plan with draws that depend on seed, epoch and sample only."""

    def __init__(self, source: Source, seed: int) -> None:
        self._source = source
        self._seed = seed

    def call(
        self, segment: Segment, image: PIL.Image.Image, part: Part, item: int
    ) -> PIL.Image.Image:
        """Return what the segment's function makes of one image of a part."""
        sample, file = int(part.samples[item]), int(part.files[item])
        return self.call_one(segment, image, epoch=part.epoch, sample=sample, file=file)

    def call_one(
        self, segment: Segment, image: PIL.Image.Image, *, epoch: int, sample: int, file: int
    ) -> PIL.Image.Image:
        """The same for any image; `file` is the sample it was read from."""
        try:
            return segment.call_python(image, seed=self._seed, epoch=epoch, sample=sample)
        except TransformError:
            raise
        except Exception as error:
            step = segment.python
            where = f"{step.op.name} (step {step.stream + 1})" if step is not None else "A step"
            name = self._source.name(file)
            raise TransformError(
                f"{where}: failed on {name} with {type(error).__name__}: {error}"
            ) from error
