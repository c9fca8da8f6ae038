"""The last pass over images that were prepared elsewhere: their values, type and layout.

Normalize, the element type and what comes after them are done where batches are used, by the core
and straight from the memory in which the prepared images arrived.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import repeat

import numpy as np

from penstock._core import Format, Status
from penstock.errors import CoreError
from penstock.geometry import Size, Sizes
from penstock.loading.batch import Part
from penstock.loading.core_runner import CoreRunner
from penstock.loading.prepared_part import OrderedPart, Pixels, PreparedPart
from penstock.loading.runner import RunSetup
from penstock.planner.lower import lower


class LastPassRunner(CoreRunner):
    """Fills batches with parts that somebody else prepares; a subclass says who."""

    def __init__(self, setup: RunSetup, formats: list[Format]) -> None:
        super().__init__(setup)
        self._formats = formats  # of images, or of each view
        self._ends = [view.segments[-1] for view in self._plan.views or (self._plan,)]

    @abstractmethod
    def _prepare(self, order: OrderedPart) -> PreparedPart:
        """Return the part, or raise the error that the user should see."""

    def _run_once(self, part: Part) -> Part | None:
        prepared = self._prepare(OrderedPart.of(part))
        self._check_open()
        for sample, event, reason in prepared.noted:
            self._ledger.note(sample, event, reason)
        batch, slots = part.batch, part.slots
        batch.samples[slots] = prepared.samples
        batch.note_sizes(slots, prepared.sizes)
        batch.leave_out(np.delete(slots, prepared.good))
        if not len(prepared.good):
            return None
        for view, images in enumerate(prepared.images):
            self._finish(part.pick(prepared.good), images, view)
        good = slots[prepared.good]
        if prepared.label_maps is not None:
            batch.put_label_maps(good, prepared.label_maps)
        if prepared.targets is not None:
            # Masks are handed out as they are, so they must not lie in memory of others.
            masks = None if prepared.masks is None else [mask.copy() for mask in prepared.masks]
            batch.put_targets(good, prepared.targets, masks)
        return None

    def _finish(self, part: Part, images: Pixels | list[Pixels], view: int) -> None:
        """Write prepared images into the batch."""
        sizes = _sizes_of(images)
        finishing = self._ends[view].sample_finishing(part.seed, part.epoch, part.keys, sizes)
        engine_part = self._engine.begin(part.rank, len(part.slots))
        for position, pixels in enumerate(images):
            engine_part.set_pixels(position, pixels)
        positions = np.arange(len(part.slots), dtype=np.int32)
        place = part.batch.place(sizes, part.slots, view)
        programs = lower((), sizes, finishing).programs()
        engine_part.run(positions, programs, place.buffer, place.offsets, self._formats[view])
        self._wait(engine_part, part.samples)
        for position in np.flatnonzero(engine_part.status != Status.OK).tolist():
            name, said = (
                self._source.name(int(part.samples[position])),
                engine_part.message(position),
            )
            raise CoreError(f"{name}: the core failed on pixels that were prepared ({said}).")


def _sizes_of(images: Pixels | list[Pixels]) -> Sizes:
    if isinstance(images, list):
        return Sizes.of(Size(*image.shape[:2]) for image in images)
    return Sizes.of(repeat(Size(*images.shape[1:3]), len(images)))
