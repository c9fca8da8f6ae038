"""Images before and after a pipeline, as uint8, with the boxes they carry."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock._core import Element
from penstock.drawing import NO_BOXES, Boxes
from penstock.errors import DecodeError
from penstock.geometry import Sizes
from penstock.limits import limits_in_force
from penstock.loading.packed_source import PackedSource
from penstock.loading.python_calls import PythonCalls
from penstock.planner.plan import Plan
from penstock.reference.libraries.pillow import open_listening, open_rgb
from penstock.reference.pipeline import erase_finished, finish, run_moves
from penstock.sources import Source
from penstock.transforms.targets import Targets
from penstock.transforms.values import FinalSpec


@dataclass(frozen=True, slots=True)
class Example:
    """An image, and what is drawn into it."""

    image: Image.Image
    boxes: Boxes


class Examples:
    """What `Loader(source, transform=..., seed=seed)` makes of samples, one at a time."""

    def __init__(self, source: Source, plan: Plan, seed: int) -> None:
        self._source = source
        self._plan = plan
        self._seed = seed
        # As stored, for names alone matter here, and those of older files are known as well.
        self._targets = source.targets if isinstance(source, PackedSource) else None
        self._python = PythonCalls(source, plan, seed)
        self._names = source.box_classes if isinstance(source, PackedSource) else None

    def original(self, sample: int) -> Example:
        """The sample as it is in the data set."""
        return Example(self._open(sample), self._boxes(self._targets_of(sample)))

    def result(self, sample: int, epoch: int) -> Example:
        """The sample after the pipeline, with the draws of an epoch."""
        image, targets = self._open(sample), self._targets_of(sample)
        key = (self._seed, epoch, np.array([sample], dtype=np.int64))
        for segment in self._plan.segments:
            moves, targets = segment.sample_targets(*key, _sizes_of(image), targets)
            image = run_moves(image, moves, row=0)
            image = self._python.call_one(segment, image, epoch=epoch, sample=sample, file=sample)
        finishing = self._plan.segments[-1].sample_finishing(*key, _sizes_of(image))
        if finishing:
            final = replace(self._plan.final, element=Element.FLOAT32)
            finished = finish(image, final, "hwc")
            for move in finishing:
                erase_finished(finished, move, 0, "hwc")
            image = _before_final(finished, final)
        return Example(image, self._boxes(targets))

    def _open(self, sample: int) -> Image.Image:
        try:
            return open_listening(open_rgb, self._source, sample, limits_in_force().pixels)[0]
        except DecodeError as error:
            raise DecodeError(f"{self._source.name(sample)}: {error}.") from error

    def _targets_of(self, sample: int) -> Targets | None:
        if self._targets is None:
            return None
        return self._targets.of(np.array([sample], dtype=np.int64))

    def _boxes(self, targets: Targets | None) -> Boxes:
        if targets is None or targets.boxes is None:
            return NO_BOXES
        labels = [] if targets.labels is None else targets.labels.tolist()
        return Boxes(targets.boxes, labels, self._names)


def _sizes_of(image: Image.Image) -> Sizes:
    return Sizes(np.array([image.height]), np.array([image.width]))


def _before_final(finished: npt.NDArray[np.float32], final: FinalSpec) -> Image.Image:
    """The image that the final pass would turn into `finished`, as far as levels can say."""
    centred = finished / np.array(final.gain) * np.array(final.std)
    levels = (centred + np.array(final.mean)) * final.divisor / final.scale
    return Image.fromarray(np.rint(levels).clip(0, 255).astype(np.uint8))
