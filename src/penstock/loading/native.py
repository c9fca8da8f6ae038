"""Runs parts through the native core: read, draw, lower, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from penstock._core import EnginePart, Format
from penstock.data.masks import misfits, read_masks
from penstock.geometry import Ints, Sizes
from penstock.loading.batch import Part
from penstock.loading.core_runner import CoreRunner
from penstock.loading.fetch import Positions, RecordFetch
from penstock.loading.part_run import Drawn, PartRun
from penstock.loading.part_targets import MovingMasks, PartTargets, start_moving
from penstock.loading.reuse import Kept, Taken
from penstock.loading.runner import RunSetup
from penstock.loading.stretch import Ready, Stretch
from penstock.planner.functions import lets_crops_pass, split_crop
from penstock.planner.lower import Steps, lower
from penstock.planner.plan import Segment
from penstock.planner.rules.measured import waits_for_pixels
from penstock.planner.rules.rule import rewrite_moves
from penstock.transforms.moves import Move, out_sizes


class NativeRunner(CoreRunner):
    """The fast way from files to slots."""

    def __init__(self, setup: RunSetup, formats: list[Format]) -> None:
        super().__init__(setup)
        self._formats = formats  # of images, or of each view
        self._rules = setup.rules
        self._looks_ahead = setup.options.plan
        # Where all that decides about a sample's steps is known before anything is read.
        sees_all = (
            len(self._plan.segments) == 1
            and not self._plan.views
            and self._targets is None
            and self._masks is None
            and self._witness is None
            and self._reusing is None
        )
        fetch = self._fetch
        self._records = fetch if sees_all and isinstance(fetch, RecordFetch) else None

    def run(self, part: Part) -> None:
        """Fill the part's slots; samples whose first part is kept, apart from the others."""
        if self._reusing is None or not self._reusing.keeps:
            super().run(part)
            return
        store = self._reusing.store
        taken = self._reusing.take(part)
        try:
            self._run_taken(part, taken)
        finally:
            store.release(taken)
        if taken.awaited:
            self._run_taken(part, store.wait(taken, self._check_open))

    def _run_taken(self, part: Part, taken: Taken) -> None:
        if taken.found:
            found = part.pick(np.array(list(taken.found)))
            left = self._run_found(found, list(taken.found.values()))
            if left is not None:
                super().run(left)
        if taken.computed:
            super().run(part.pick(np.array(taken.computed)))

    def _run_once(self, part: Part) -> Part | None:
        ready = None
        if self._records is not None and part.stretch is not None:
            make = partial(self._make_ready, self._records, part.seed, part.epoch)
            ready = part.stretch.ready(part.first, part.first + len(part.slots), make)
        if self._records is None or ready is None:
            engine_part = self._fetch.begin(part)
        else:
            engine_part = self._records.open(part, ready.records)
        try:
            return self._run_begun(part, engine_part, ready)
        finally:
            self._fetch.end(engine_part)

    def _make_ready(
        self, fetch: RecordFetch, seed: int, epoch: int, stretch: Stretch
    ) -> Ready | None:
        """Look up, draw and lower; None if pixels decide about some, or an image is too large."""
        records, segment = fetch.look_up(stretch.samples), self._plan.segments[-1]
        sizes = Sizes(records.heights.astype(np.int64), records.widths.astype(np.int64))
        if (sizes.height * sizes.width > self._pixel_limit).any():
            return None
        moves = segment.sample(seed, epoch, stretch.keys, sizes)
        finishing = segment.sample_finishing(seed, epoch, stretch.keys, out_sizes(moves, sizes))
        planned = rewrite_moves(moves, sizes, self._rules)
        if any(waits_for_pixels(move) for move in planned):
            return None
        steps = lower(planned, sizes, finishing)
        return Ready(records, sizes, steps, steps.regions(sizes))

    def _run_begun(self, part: Part, engine_part: EnginePart, ready: Ready | None) -> Part | None:
        self._wait(engine_part, part.samples)
        run = self._begin(part, engine_part)
        run.ready = ready
        if self._fetch.reads_first:
            self._settle_sources(run)
        if ready is None:
            self._check_sizes(run)
            part.batch.note_sizes(part.slots, run.sizes(np.arange(len(part.slots), dtype=np.int32)))
        else:
            part.batch.note_sizes(part.slots, ready.sizes)
        for segment, following in pairwise(self._plan.segments):
            self._run_to_pixels(run, segment, following)
        if self._reusing is not None:
            self._reusing.keep(part, run.first_pixels, run.first_sizes)
        return self._finish(run)

    def _run_found(self, part: Part, found: Sequence[Kept]) -> Part | None:
        """Run the last part only: images are there, targets follow the first part's draws."""
        run = self._begin(part, self._engine.begin(part.rank, len(part.slots)))
        run.settled = True
        for position, kept in enumerate(found):
            run.engine_part.set_pixels(position, kept.pixels)
        whole = Sizes.of(kept.sizes[0] for kept in found)
        part.batch.note_sizes(part.slots, whole)
        for position, reason in misfits(run.beside.masks, whole).items():
            run.failed.setdefault(position, reason)
        for number, (segment, following) in enumerate(pairwise(self._plan.segments)):
            if not segment.kept:
                self._run_to_pixels(run, segment, following)
            elif not run.beside.is_empty and len(positions := run.alive()):
                sizes = Sizes.of(found[position].sizes[number] for position in positions.tolist())
                _, moving = self._draw(run, positions, segment, sizes)
                if moving is not None:
                    self._finish_masks(run, positions, moving)
        return self._finish(run)

    def _begin(self, part: Part, engine_part: EnginePart) -> PartRun:
        masks, unread = read_masks(self._masks, part.samples, self._pool)
        run = PartRun(part, engine_part, PartTargets(self._targets, part, masks), self._rules)
        run.failed.update(unread)
        return run

    def _finish(self, run: PartRun) -> Part | None:
        self._run_last(run)
        run.beside.deliver(run.part.batch, run.alive())
        return self._failures.handle(run.part, run.failed)

    def _run_last(self, run: PartRun) -> None:
        """Fill the batch, after all segments that end in a function of the user's."""
        self._run_to_batch(run, self._plan.segments[-1])

    def _run_to_batch(self, run: PartRun, segment: Segment, view: int = 0) -> None:
        def start(positions: Positions, steps: Steps) -> None:
            place = run.part.batch.place(steps.out_sizes, run.part.slots[positions], view)
            run.engine_part.run(
                positions, steps.programs(), place.buffer, place.offsets, self._formats[view]
            )

        self._run(run, segment, start)

    def _run_to_pixels(
        self, run: PartRun, segment: Segment, following: Segment | None = None
    ) -> None:
        """Run a segment's native steps into arrays, then the user's callable on each, if any.

        A crop with which the `following` segment begins is done here, if the callable lets it pass.
        """
        results: dict[int, npt.NDArray[np.uint8]] = {}
        self._run(run, segment, partial(self._start_arrays, run, results), following)
        if segment.python is not None:
            results = self._call_python(run, segment, results)
        for position in (alive := run.alive().tolist()):
            run.engine_part.set_pixels(position, results[position])
        if segment.kept:
            run.first_pixels = {position: results[position] for position in alive}

    def _call_python(
        self, run: PartRun, segment: Segment, images: Mapping[int, npt.NDArray[np.uint8]]
    ) -> dict[int, npt.NDArray[np.uint8]]:
        """What the user's function makes of the images, by their positions."""
        calls = {
            position: self._pool.submit(
                self._python.call_on_array, segment, images[position], run.part, position
            )
            for position in run.alive().tolist()
        }
        return {position: call.result() for position, call in calls.items()}

    def _run(
        self,
        run: PartRun,
        segment: Segment,
        start: Callable[[Positions, Steps], None],
        following: Segment | None = None,
    ) -> None:
        """Draw, lower and run all samples; Pillow decodes those that the core could not."""
        if run.ready is not None and not run.failed:
            ready, every = run.ready, run.alive()
            self._run_pixels(run, every, ready.sizes, ready.steps, start, ready.needed)
            return
        drawn = run.ahead or self._draw_now(run, segment)
        run.ahead = None
        positions, sizes, moves = drawn.positions, drawn.sizes, drawn.moves
        if not len(positions):
            return
        moving = drawn.moving
        finishing = segment.sample_finishing(*self._key(run, positions), out_sizes(moves, sizes))
        if following is not None and self._looks_ahead and lets_crops_pass(segment, following):
            if moving is not None:  # those of the next segment start from these
                self._finish_masks(run, positions, moving)
                moving = None
            between = out_sizes(moves, sizes)
            later, later_moving = self._draw(run, positions, following, between)
            crop, rest = split_crop(later, between)
            moves = (*moves, *crop)
            run.ahead = Drawn(positions, out_sizes(crop, between), rest, later_moving)
        planned = rewrite_moves(moves, sizes, run.rules)
        planned = self._measure(run, positions, sizes, planned)
        steps = lower(planned, sizes, finishing)
        self._run_pixels(run, positions, sizes, steps, start)
        if moving is not None:
            self._finish_masks(run, positions, moving)

    def _draw_now(self, run: PartRun, segment: Segment) -> Drawn:
        """Draw for the samples that are left, with the sizes that their images have now."""
        positions = run.alive()
        sizes = run.sizes(positions)
        if not len(positions):
            return Drawn(positions, sizes, (), None)
        if segment.kept:
            run.first_sizes.append({int(at): sizes[row] for row, at in enumerate(positions)})
        return Drawn(positions, sizes, *self._draw(run, positions, segment, sizes))

    def _draw(
        self, run: PartRun, positions: Positions, segment: Segment, sizes: Sizes
    ) -> tuple[tuple[Move, ...], MovingMasks | None]:
        """Draw the moves of images of these sizes; targets follow at once, masks begin to."""
        key = self._draw_keys(segment, run.part, positions)
        if self._witness is not None:
            slots = run.part.slots[positions]
            self._witness.saw(segment, key, slots, sizes, run.beside.at(positions))
        moves, targets = segment.sample_targets(*key, sizes, run.beside.at(positions))
        run.beside.keep(positions, targets)
        return moves, self._start_masks(run, positions, moves, sizes)

    def _key(self, run: PartRun, positions: Positions) -> tuple[int, int, Ints]:
        """What the draws of these samples depend on."""
        return run.part.seed, run.part.epoch, run.part.keys[positions]

    def _start_masks(
        self, run: PartRun, positions: Positions, moves: tuple[Move, ...], sizes: Sizes
    ) -> MovingMasks | None:
        if self._masks is None:
            return None
        return start_moving(
            self._engine,
            run.part.rank,
            [run.beside.masks[position] for position in positions.tolist()],
            run.beside.wanted_masks(positions),
            moves,
            sizes,
            self._masks.fill,
        )

    def _finish_masks(self, run: PartRun, positions: Positions, moving: MovingMasks) -> None:
        self._wait(moving.engine_part, run.part.samples[positions])
        for row in np.flatnonzero(moving.engine_part.unreadable).tolist():
            run.failed.setdefault(int(positions[row]), moving.engine_part.problem(row))
        run.beside.put_masks(positions, moving.moved)
