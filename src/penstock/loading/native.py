"""Runs parts through the native core: read, draw, lower, run; Pillow decodes what it cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from penstock._core import Engine, EnginePart, Format, Route, Status
from penstock.data.masks import misfits, read_masks
from penstock.errors import CoreError, DecodeError, ResourceError
from penstock.geometry import Ints, Size, Sizes
from penstock.loading.batch import Part
from penstock.loading.fetch import Positions, fetch_for
from penstock.loading.part_targets import MovingMasks, PartTargets, start_moving
from penstock.loading.reuse import Kept, Taken
from penstock.loading.runner import PartRunner, RunSetup
from penstock.planner.functions import lets_crops_pass, split_crop
from penstock.planner.lower import Regions, Steps, lower
from penstock.planner.plan import Segment
from penstock.planner.rules.measured import rows_to_measure, with_means
from penstock.planner.rules.rule import Rule, rewrite_moves
from penstock.planner.views import ViewSteps
from penstock.reference.libraries.pillow import check_pixels, decode_rgb, open_listening
from penstock.resources import MORE_THREADS, refused
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import Move, out_sizes

# Threads that only read: enough to keep a slow disk busy, asleep on a fast one.
_READERS = 4

# How often a waiting thread looks whether the loader was closed.
_WAIT_S = 0.25

StepsT = TypeVar("StepsT", Steps, ViewSteps)


class NativeRunner(PartRunner):
    """The fast way from files to slots."""

    def __init__(self, setup: RunSetup, formats: list[Format]) -> None:
        super().__init__(setup, "penstock-side")
        self._formats = formats  # of images, or of each view
        self._rules = setup.rules
        self._looks_ahead = setup.options.plan
        self._engine = _start_engine(setup.options.threads)
        self._fetch = fetch_for(self._engine, self._source)

    def end(self) -> None:
        """End the core's threads, and let go of what is kept."""
        self._engine.close()
        if self._reusing is not None:
            self._reusing.store.clear()

    def run(self, part: Part) -> None:
        """Fill the part's slots; samples whose first part is kept, apart from the others."""
        if self._reusing is None:
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
        engine_part = self._fetch.begin(part)
        self._wait(engine_part, part.samples)
        run = self._begin(part, engine_part)
        if self._fetch.reads_first:
            self._settle_sources(run)
        self._check_sizes(run)
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

    def _settle(self, run: PartRun, positions: Positions, needed: Regions) -> None:
        """Read what these regions need, unless everything was read before."""
        if not run.settled:
            self._fetch.read(run.engine_part, positions, needed)
            self._wait(run.engine_part, run.part.samples)
            self._settle_sources(run)

    def _settle_sources(self, run: PartRun) -> None:
        """Find out where each sample's pixels come from, and drop those that have none."""
        unreadable, route = run.engine_part.unreadable, run.engine_part.route
        for position in np.flatnonzero(unreadable).tolist():
            run.failed[position] = run.engine_part.problem(position)
        elsewhere = np.flatnonzero((unreadable == 0) & (route == Route.PILLOW)).tolist()
        self._decode_by_pillow(
            run, {position: run.engine_part.reason(position) for position in elsewhere}
        )
        run.settled = True

    def _check_sizes(self, run: PartRun) -> None:
        """Drop images with too many pixels before memory is allocated for them."""
        height, width = (
            run.engine_part.height.astype(np.int64),
            run.engine_part.width.astype(np.int64),
        )
        for position in np.flatnonzero(height * width > self._pixel_limit).tolist():
            try:
                check_pixels(int(height[position]), int(width[position]), self._pixel_limit)
            except DecodeError as error:
                run.failed[position] = str(error)
        every = np.arange(len(height), dtype=np.int32)
        for position, reason in misfits(run.beside.masks, run.sizes(every)).items():
            run.failed.setdefault(position, reason)

    def _decode_by_pillow(self, run: PartRun, reasons: dict[int, str]) -> None:
        """Give these samples Pillow's pixels; `reasons` (position: why) go to the ledger."""
        decodes = {
            position: self._pool.submit(
                open_listening,
                decode_rgb,
                self._source,
                int(run.part.samples[position]),
                self._pixel_limit,
            )
            for position in reasons
        }
        for position, decode in decodes.items():
            try:
                pixels, told = decode.result()
            except DecodeError as error:
                run.failed[position] = str(error)
                # The traceback refers to this frame, and the frame to the future that holds the
                # error: this cycle would keep the core's threads alive when the loader is closed.
                error.with_traceback(None)
                continue
            run.engine_part.set_pixels(position, pixels)
            reason = f"{reasons[position]}; {told}" if told else reasons[position]
            self._ledger.note(int(run.part.samples[position]), "pillow", reason)

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
            run.ahead = _Drawn(positions, out_sizes(crop, between), rest, later_moving)
        planned = rewrite_moves(moves, sizes, run.rules)
        planned = self._measure(run, positions, sizes, planned)
        steps = lower(planned, sizes, finishing)
        self._run_pixels(run, positions, sizes, steps, start)
        if moving is not None:
            self._finish_masks(run, positions, moving)

    def _draw_now(self, run: PartRun, segment: Segment) -> _Drawn:
        """Draw for the samples that are left, with the sizes that their images have now."""
        positions = run.alive()
        sizes = run.sizes(positions)
        if not len(positions):
            return _Drawn(positions, sizes, (), None)
        if segment.kept:
            run.first_sizes.append({int(at): sizes[row] for row, at in enumerate(positions)})
        return _Drawn(positions, sizes, *self._draw(run, positions, segment, sizes))

    def _draw(
        self, run: PartRun, positions: Positions, segment: Segment, sizes: Sizes
    ) -> tuple[tuple[Move, ...], MovingMasks | None]:
        """Draw the moves of images of these sizes; targets follow at once, masks begin to."""
        key = self._draw_keys(segment, run.part, positions)
        moves, targets = segment.sample_targets(*key, sizes, run.beside.at(positions))
        run.beside.keep(positions, targets)
        return moves, self._start_masks(run, positions, moves, sizes)

    def _key(self, run: PartRun, positions: Positions) -> tuple[int, int, Ints]:
        """What the draws of these samples depend on."""
        return self._seed, run.part.epoch, run.part.keys[positions]

    def _measure(
        self, run: PartRun, positions: Positions, sizes: Sizes, moves: tuple[Move, ...]
    ) -> tuple[Move, ...]:
        """Find the means that effects of a plan wait for, from small versions of their images."""
        measured = list(moves)
        for place, move in enumerate(moves):
            if not isinstance(move, EffectMove) or move.measured_on is None:
                continue
            self._settle(run, positions, Regions.whole(sizes))
            rows = rows_to_measure(move)
            small: dict[int, npt.NDArray[np.uint8]] = {}
            steps = lower(move.measured_on, sizes).pick(rows)
            start = partial(self._start_arrays, run, small)
            self._run_pixels(run, positions[rows], sizes.at(rows), steps, start)
            means = [
                float(small[position][:, :, 0].mean()) if position in small else 0.0
                for position in positions[rows].tolist()
            ]
            measured[place] = with_means(move, rows, np.array(means))
        return tuple(measured)

    def _start_arrays(
        self,
        run: PartRun,
        into: dict[int, npt.NDArray[np.uint8]],
        positions: Positions,
        steps: Steps,
    ) -> None:
        arrays = _arrays_for(steps.out_sizes)
        into.update(zip(positions.tolist(), arrays, strict=True))
        run.engine_part.run_to_arrays(positions, steps.programs(), arrays)

    def _run_pixels(
        self,
        run: PartRun,
        positions: Positions,
        sizes: Sizes,
        steps: StepsT,
        start: Callable[[Positions, StepsT], None],
    ) -> None:
        self._settle(run, positions, steps.regions(sizes))
        if run.failed:
            left = np.isin(positions, run.alive())
            positions, steps, sizes = positions[left], steps.pick(left), sizes.at(left)
        if not len(positions):
            return
        start(positions, steps)
        self._wait(run.engine_part, run.part.samples)

        status = run.engine_part.status[positions]
        doubtful = positions[status != Status.OK]
        for position in positions[status == Status.OK].tolist():
            reason = run.engine_part.message(position)
            if reason:
                self._ledger.note(int(run.part.samples[position]), "libjpeg", reason)
        if not len(doubtful):
            return
        reasons = {position: run.engine_part.message(position) for position in doubtful.tolist()}
        self._decode_by_pillow(run, reasons)
        self._rerun(run, positions, sizes, steps, doubtful, start)

    def _rerun(
        self,
        run: PartRun,
        positions: Positions,
        sizes: Sizes,
        steps: StepsT,
        doubtful: Positions,
        start: Callable[[Positions, StepsT], None],
    ) -> None:
        """Run samples again whose pixels Pillow has supplied, with the draws they had."""
        now = run.sizes(positions)
        for row in np.flatnonzero(np.isin(positions, doubtful)).tolist():
            position = int(positions[row])
            if position not in run.failed and now[row] != sizes[row]:
                run.failed[position] = f"its header says {sizes[row]}, but Pillow gives {now[row]}"
        again = np.isin(positions, doubtful) & np.isin(positions, run.alive())
        if again.any():
            start(positions[again], steps.pick(again))
            self._wait(run.engine_part, run.part.samples)
            for position in positions[again][
                run.engine_part.status[positions[again]] != Status.OK
            ].tolist():
                name, said = (
                    self._source.name(int(run.part.samples[position])),
                    run.engine_part.message(position),
                )
                raise CoreError(f"{name}: the core failed on pixels that Pillow gave it ({said}).")

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

    def _wait(self, engine_part: EnginePart, files: Ints) -> None:
        """Wait for the core; raises ResourceError if the machine refused to read one of `files`."""
        while not engine_part.wait(_WAIT_S):
            if self._closed:
                engine_part.cancel()
        self._check_open()
        for position in np.flatnonzero(engine_part.lacking).tolist():
            said = engine_part.problem(position) or engine_part.message(position)
            what = f"{self._source.name(int(files[position]))}: {said}"
            raise refused(what, int(engine_part.lacking[position]))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What was drawn for some samples, whose images have `sizes` before it."""

    positions: Positions
    sizes: Sizes
    moves: tuple[Move, ...]
    moving: MovingMasks | None


class PartRun:
    """A part under way: its counterpart in the core, and what has failed so far."""

    def __init__(
        self, part: Part, engine_part: EnginePart, beside: PartTargets, rules: tuple[Rule, ...]
    ) -> None:
        self.part = part
        self.engine_part = engine_part
        self.beside = beside
        self.rules = rules  # that rewrite what is drawn
        self.failed: dict[int, str] = {}
        self.settled = False  # whether it is known where each sample's pixels come from
        self.ahead: _Drawn | None = None  # what was drawn for the next segment already
        # For reuse, by position: the images after the first part, sizes before its segments.
        self.first_pixels: dict[int, npt.NDArray[np.uint8]] = {}
        self.first_sizes: list[dict[int, Size]] = []

    def alive(self) -> Positions:
        """Items that have not failed."""
        every = np.arange(len(self.part.slots), dtype=np.int32)
        return every if not self.failed else every[~np.isin(every, list(self.failed))]

    def sizes(self, positions: Positions) -> Sizes:
        """Sizes of these samples' images as they are now."""
        height, width = self.engine_part.height[positions], self.engine_part.width[positions]
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
