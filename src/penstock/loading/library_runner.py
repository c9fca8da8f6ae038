"""Runs parts by an image library and NumPy, slowly: as a reference, and for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

import numpy as np

from penstock.data.masks import Masks, misfits, read_masks
from penstock.errors import DecodeError
from penstock.geometry import Sizes
from penstock.loading.batch import Part
from penstock.loading.part_targets import PartTargets, move_by_reference
from penstock.loading.runner import PartRunner, RunSetup
from penstock.planner.plan import Plan, Segment
from penstock.reference.libraries.library import ImageLibrary, ImageT
from penstock.reference.libraries.pillow import open_listening
from penstock.reference.pipeline import erase_finished
from penstock.transforms.values import Layout


class LibraryRunner(PartRunner, Generic[ImageT]):
    """Does what NativeRunner does, one call of `library` after the other."""

    def __init__(self, setup: RunSetup, library: ImageLibrary[ImageT], layout: Layout) -> None:
        super().__init__(setup, "penstock-library")
        self._library = library
        self._layout = layout

    def _run_once(self, part: Part) -> Part | None:
        images, failed = self._open(part)
        masks = self._read_masks(part, images, failed)
        if images:
            alive = part.pick(np.array(list(images), dtype=np.int64))
            self._fill(alive, list(images.values()), dict(enumerate(masks)))
        return self._failures.handle(part, failed)

    def _open(self, part: Part) -> tuple[dict[int, ImageT], dict[int, str]]:
        opened = [
            self._pool.submit(
                open_listening, self._library.open, self._source, sample, self._pixel_limit
            )
            for sample in part.samples.tolist()
        ]
        images: dict[int, ImageT] = {}
        failed: dict[int, str] = {}
        for position, future in enumerate(opened):
            try:
                images[position], told = future.result()
            except DecodeError as error:
                failed[position] = str(error)
                continue
            if told:
                self._ledger.note(int(part.samples[position]), "pillow", told)
        return images, failed

    def _read_masks(
        self, part: Part, images: dict[int, ImageT], failed: dict[int, str]
    ) -> list[Masks]:
        """Return the images' masks; images without a mask of their size move to `failed`."""
        if self._masks is None:
            return []
        read, unread = read_masks(self._masks, part.samples, self._pool)
        found = {position: read[position] for position in images if position in read}
        sizes = self._sizes_of([images[position] for position in found])
        numbered = misfits(dict(enumerate(found.values())), sizes)
        misfit = {list(found)[row]: reason for row, reason in numbered.items()}
        failed.update(
            (position, why) for position, why in {**unread, **misfit}.items() if position in images
        )
        for position in {**unread, **misfit}:
            images.pop(position, None)
        return [found[position] for position in images]

    def _fill(self, part: Part, images: list[ImageT], masks: dict[int, Masks]) -> None:
        beside = PartTargets(self._targets, part, masks)
        part.batch.note_sizes(part.slots, self._sizes_of(images))
        images = self._run_segments(part, images, self._plan.segments, beside)
        if not self._plan.views:
            self._write(part, images, self._plan)
        for number, view in enumerate(self._plan.views):
            rest = self._plan.after_shared(view)
            self._write(part, self._run_segments(part, images, rest.segments, beside), rest, number)
        beside.deliver(part.batch, np.arange(len(images), dtype=np.int32))

    def _run_segments(
        self, part: Part, images: list[ImageT], segments: Sequence[Segment], beside: PartTargets
    ) -> list[ImageT]:
        every = np.arange(len(images), dtype=np.int32)
        for segment in segments:
            self._check_open()
            sizes = self._sizes_of(images)
            key = self._draw_keys(segment, part, every)
            if self._witness is not None:
                self._witness.saw(segment, key, part.slots, sizes, beside.at(every))
            moves, targets = segment.sample_targets(*key, sizes, beside.at(every))
            beside.keep(every, targets)
            if self._masks is not None:
                stacks = [beside.masks[row] for row in every.tolist()]
                wanted = beside.wanted_masks(every)
                # Always by the reference: other libraries might blend the class numbers of a mask.
                moved_masks = move_by_reference(stacks, wanted, moves, sizes, self._masks.fill)
                beside.put_masks(every, moved_masks)
            moved = [
                self._pool.submit(self._library.run_moves, image, moves, row)
                for row, image in enumerate(images)
            ]
            images = [future.result() for future in moved]
            if segment.python is not None:
                called = [
                    self._pool.submit(self._call_python, segment, image, part, position)
                    for position, image in enumerate(images)
                ]
                images = [future.result() for future in called]
        return images

    def _write(self, part: Part, images: list[ImageT], plan: Plan, view: int = 0) -> None:
        sizes = self._sizes_of(images)
        key = (part.seed, part.epoch, part.keys)
        finishing = plan.segments[-1].sample_finishing(*key, sizes)
        part.batch.place(sizes, part.slots, view)
        for row, (slot, image) in enumerate(zip(part.slots.tolist(), images, strict=True)):
            finished = self._library.finish(image, plan.final, self._layout)
            for move in finishing:
                erase_finished(finished, move, row, self._layout)
            target = part.batch.image(slot, view)
            target[...] = finished.view(target.dtype)

    def _call_python(self, segment: Segment, image: ImageT, part: Part, position: int) -> ImageT:
        returned = self._python.call(segment, self._library.to_pillow(image), part, position)
        return self._library.from_pillow(returned)

    def _sizes_of(self, images: list[ImageT]) -> Sizes:
        return Sizes.of(self._library.size_of(image) for image in images)
