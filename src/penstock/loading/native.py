"""Runs parts through the native core: read, draw, lower, run; Pillow decodes what it cannot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from penstock._core import Engine, EnginePart, Format, Route, Status
from penstock.data.masks import misfits, read_masks
from penstock.errors import CoreError, DecodeError, ResourceError
from penstock.geometry import Ints, Sizes
from penstock.loading.batch import Part
from penstock.loading.fetch import Items, fetch_for
from penstock.loading.part_targets import MovingMasks, PartTargets, start_moving
from penstock.loading.runner import PartRunner, RunSetup
from penstock.planner.lower import Steps, choose_dct_scale, lower
from penstock.planner.plan import Segment
from penstock.reference.libraries.pillow import check_pixels, decode_rgb, open_listening
from penstock.resources import MORE_THREADS, refused
from penstock.transforms.moves import Move, out_sizes

# Threads that only read: enough to keep a slow disk busy, asleep on a fast one.
_READERS = 4

# How often a waiting thread looks whether the loader was closed.
_WAIT_S = 0.25


class NativeRunner(PartRunner):
    """The fast way from files to slots."""

    def __init__(self, setup: RunSetup, image_format: Format) -> None:
        super().__init__(setup, "penstock-side")
        self._format = image_format
        self._reduce_photos = setup.options.fidelity == "fast"
        self._engine = _start_engine(setup.options.threads)
        self._fetch = fetch_for(self._engine, self._source)

    def end(self) -> None:
        """End the core's threads."""
        self._engine.close()

    def _run_once(self, part: Part) -> Part | None:
        chunk = self._fetch.begin(part)
        self._wait(chunk, part.samples)
        masks, unread = read_masks(self._masks, part.samples, self._pool)
        job = _Job(part, chunk, PartTargets(self._targets, part, masks))
        job.failed.update(unread)
        if self._fetch.reads_first:
            self._settle_sources(job)
        self._check_sizes(job)
        for segment in self._plan.segments[:-1]:
            self._run_to_python(job, segment)
        self._run_to_batch(job, self._plan.segments[-1])
        job.beside.deliver(part.batch, job.alive())
        return self._failures.handle(part, job.failed)

    def _settle_sources(self, job: _Job) -> None:
        """Find out where each item's pixels come from, and drop those that have none."""
        unreadable, route = job.chunk.unreadable, job.chunk.route
        for item in np.flatnonzero(unreadable).tolist():
            job.failed[item] = job.chunk.problem(item)
        elsewhere = np.flatnonzero((unreadable == 0) & (route == Route.PILLOW)).tolist()
        self._decode_by_pillow(job, {item: job.chunk.reason(item) for item in elsewhere})
        job.settled = True

    def _check_sizes(self, job: _Job) -> None:
        """Drop images with too many pixels before memory is allocated for them."""
        height, width = job.chunk.height.astype(np.int64), job.chunk.width.astype(np.int64)
        for item in np.flatnonzero(height * width > self._pixel_limit).tolist():
            try:
                check_pixels(int(height[item]), int(width[item]), self._pixel_limit)
            except DecodeError as error:
                job.failed[item] = str(error)
        every = np.arange(len(height), dtype=np.int32)
        for item, reason in misfits(job.beside.masks, job.sizes(every)).items():
            job.failed.setdefault(item, reason)

    def _decode_by_pillow(self, job: _Job, reasons: dict[int, str]) -> None:
        """Give these items Pillow's pixels; `reasons` (item: why) go to the ledger."""
        decodes = {
            item: self._pool.submit(
                open_listening,
                decode_rgb,
                self._source,
                int(job.part.samples[item]),
                self._pixel_limit,
            )
            for item in reasons
        }
        for item, decode in decodes.items():
            try:
                pixels, told = decode.result()
            except DecodeError as error:
                job.failed[item] = str(error)
                # The traceback refers to this frame, and the frame to the future that holds the
                # error: this cycle would keep the core's threads alive when the loader is closed.
                error.with_traceback(None)
                continue
            job.chunk.set_pixels(item, pixels)
            reason = f"{reasons[item]}; {told}" if told else reasons[item]
            self._ledger.note(int(job.part.samples[item]), "pillow", reason)

    def _run_to_batch(self, job: _Job, segment: Segment) -> None:
        def start(items: Items, steps: Steps) -> None:
            place = job.part.batch.place(steps.out_sizes, job.part.slots[items])
            job.chunk.run(items, steps.programs(), place.buffer, place.offsets, self._format)

        self._run(job, segment, start)

    def _run_to_python(self, job: _Job, segment: Segment) -> None:
        """Run the native steps of a segment into arrays, then the user's callable on each."""
        results: dict[int, npt.NDArray[np.uint8]] = {}

        def start(items: Items, steps: Steps) -> None:
            arrays = _arrays_for(steps.out_sizes)
            results.update(zip(items.tolist(), arrays, strict=True))
            job.chunk.run_to_arrays(items, steps.programs(), arrays)

        self._run(job, segment, start)
        calls = {
            item: self._pool.submit(self._call_python, segment, results[item], job.part, item)
            for item in job.alive().tolist()
        }
        for item, call in calls.items():
            job.chunk.set_pixels(item, call.result())

    def _call_python(
        self, segment: Segment, pixels: npt.NDArray[np.uint8], part: Part, item: int
    ) -> npt.NDArray[np.uint8]:
        return self._python.call_on_array(segment, pixels, part, item)

    def _run(self, job: _Job, segment: Segment, start: Callable[[Items, Steps], None]) -> None:
        """Draw and lower for all items, run them; Pillow decodes those that the core could not."""
        items = job.alive()
        if not len(items):
            return
        sizes = job.sizes(items)
        key = (self._seed, job.part.epoch, job.part.keys[items])
        moves, targets = segment.sample_targets(*key, sizes, job.beside.at(items))
        finishing = segment.sample_finishing(*key, out_sizes(moves, sizes))
        job.beside.keep(items, targets)
        moving = self._start_masks(job, items, moves, sizes)
        steps = lower(moves, sizes, finishing)
        if self._reduce_photos:
            steps = choose_dct_scale(steps)
        self._run_pixels(job, items, sizes, steps, start)
        if moving is not None:
            self._finish_masks(job, items, moving)

    def _run_pixels(
        self,
        job: _Job,
        items: Items,
        sizes: Sizes,
        steps: Steps,
        start: Callable[[Items, Steps], None],
    ) -> None:
        if not job.settled:
            self._fetch.read(job.chunk, items, steps)
            self._wait(job.chunk, job.part.samples)
            self._settle_sources(job)
            if job.failed:
                left = np.isin(items, job.alive())
                items, steps, sizes = items[left], steps.pick(left), sizes.at(left)
            if not len(items):
                return
        start(items, steps)
        self._wait(job.chunk, job.part.samples)

        status = job.chunk.status[items]
        doubtful = items[status != Status.OK]
        for item in items[status == Status.OK].tolist():
            reason = job.chunk.message(item)
            if reason:
                self._ledger.note(int(job.part.samples[item]), "libjpeg", reason)
        if not len(doubtful):
            return
        reasons = {item: job.chunk.message(item) for item in doubtful.tolist()}
        self._decode_by_pillow(job, reasons)
        self._rerun(job, items, sizes, steps, doubtful, start)

    def _rerun(
        self,
        job: _Job,
        items: Items,
        sizes: Sizes,
        steps: Steps,
        doubtful: Items,
        start: Callable[[Items, Steps], None],
    ) -> None:
        """Run items again whose pixels Pillow has supplied, with the draws they had."""
        now = job.sizes(items)
        for row in np.flatnonzero(np.isin(items, doubtful)).tolist():
            item = int(items[row])
            if item not in job.failed and now[row] != sizes[row]:
                job.failed[item] = f"its header says {sizes[row]}, but Pillow gives {now[row]}"
        again = np.isin(items, doubtful) & np.isin(items, job.alive())
        if again.any():
            start(items[again], steps.pick(again))
            self._wait(job.chunk, job.part.samples)
            for item in items[again][job.chunk.status[items[again]] != Status.OK].tolist():
                name, said = self._source.name(int(job.part.samples[item])), job.chunk.message(item)
                raise CoreError(f"{name}: the core failed on pixels that Pillow gave it ({said}).")

    def _start_masks(
        self, job: _Job, items: Items, moves: tuple[Move, ...], sizes: Sizes
    ) -> MovingMasks | None:
        if self._masks is None:
            return None
        return start_moving(
            self._engine,
            job.part.rank,
            [job.beside.masks[item] for item in items.tolist()],
            job.beside.wanted_masks(items),
            moves,
            sizes,
            self._masks.fill,
        )

    def _finish_masks(self, job: _Job, items: Items, moving: MovingMasks) -> None:
        self._wait(moving.chunk, job.part.samples[items])
        for row in np.flatnonzero(moving.chunk.unreadable).tolist():
            job.failed.setdefault(int(items[row]), moving.chunk.problem(row))
        job.beside.put_masks(items, moving.moved)

    def _wait(self, chunk: EnginePart, files: Ints) -> None:
        """Wait for the core; raises ResourceError if the machine refused to read one of `files`."""
        while not chunk.wait(_WAIT_S):
            if self._closed:
                chunk.cancel()
        self._check_open()
        for item in np.flatnonzero(chunk.lacking).tolist():
            said = chunk.problem(item) or chunk.message(item)
            what = f"{self._source.name(int(files[item]))}: {said}"
            raise refused(what, int(chunk.lacking[item]))


class _Job:
    """A part under way: its chunk in the core, and what has failed so far."""

    def __init__(self, part: Part, chunk: EnginePart, beside: PartTargets) -> None:
        self.part = part
        self.chunk = chunk
        self.beside = beside
        self.failed: dict[int, str] = {}
        self.settled = False  # whether it is known where each item's pixels come from

    def alive(self) -> Items:
        """Items that have not failed."""
        every = np.arange(len(self.part.slots), dtype=np.int32)
        return every if not self.failed else every[~np.isin(every, list(self.failed))]

    def sizes(self, items: Items) -> Sizes:
        """Sizes of these items' images as they are now."""
        height, width = self.chunk.height[items], self.chunk.width[items]
        return Sizes(height.astype(np.int64), width.astype(np.int64))


def _start_engine(threads: int) -> Engine:
    try:
        return Engine(threads, _READERS)
    except ResourceError as error:
        raise ResourceError(
            f"Loader: threads={threads}, and {_READERS} more that read files: {error}. "
            f"{MORE_THREADS}"
        ) from error


def _arrays_for(sizes: Sizes) -> list[npt.NDArray[np.uint8]]:
    return [
        np.empty((height, width, 3), dtype=np.uint8)
        for height, width in zip(sizes.height.tolist(), sizes.width.tolist(), strict=True)
    ]
