"""Runs steps in the native core: reads what they need, waits; Pillow decodes what it cannot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from penstock._core import Engine, EnginePart, Route, Status
from penstock.data.masks import misfits
from penstock.errors import CoreError, DecodeError, ResourceError
from penstock.geometry import Ints, Sizes
from penstock.loading.fetch import Positions, fetch_for, part_size_of
from penstock.loading.part_run import PartRun
from penstock.loading.row_memory import row_memory_bytes
from penstock.loading.runner import PartRunner, RunSetup
from penstock.planner.lower import Regions, Steps, lower
from penstock.planner.rules.measured import rows_to_measure, with_means
from penstock.planner.views import ViewSteps
from penstock.reference.libraries.pillow import check_pixels, decode_rgb, open_listening
from penstock.resources import MORE_THREADS, refused
from penstock.sources.source import Source
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import Move

# Threads that only read: enough to keep a slow disk busy, asleep on a fast one.
_READERS = 4

# How often a waiting thread looks whether the loader was closed.
_WAIT_S = 0.25

# Images that a thread decodes by Pillow before it says so: to hand one over takes as long as to
# decode a tiny one.
_MOST_DECODED_AT_ONCE = 32

StepsT = TypeVar("StepsT", Steps, ViewSteps)


class CoreRunner(PartRunner):
    """The core's threads, and the way of steps through them; what to run is for others to say."""

    def __init__(self, setup: RunSetup) -> None:
        super().__init__(setup, "penstock-side")
        self._threads = setup.options.threads
        self._engine = _start_engine(self._threads)
        self._fetch = fetch_for(self._engine, self._source, self._check_open)
        self._part_size = part_size_of(self._source)

    @property
    def part_size(self) -> int:
        """How many samples a part has at most."""
        return self._part_size

    def end(self) -> None:
        """End the core's threads, and let go of what is kept."""
        self._engine.close()
        if self._reusing is not None:
            self._reusing.store.clear()

    def _settle(self, run: PartRun, positions: Positions, needed: Regions) -> None:
        """Read what these regions need, unless everything was read before."""
        if not run.settled:
            self._fetch.read(run.engine_part, positions, needed)
            self._wait(run.engine_part, run.part.samples)
            self._settle_sources(run)

    def _settle_sources(self, run: PartRun) -> None:
        """Find out where each sample's pixels come from, and drop those that have none."""
        run.settled = True
        if not run.engine_part.any_not_ours:
            return
        unreadable, route = run.engine_part.unreadable, run.engine_part.route
        for position in np.flatnonzero(unreadable).tolist():
            run.failed[position] = run.engine_part.problem(position)
        elsewhere = np.flatnonzero((unreadable == 0) & (route == Route.PILLOW)).tolist()
        self._decode_by_pillow(
            run, {position: run.engine_part.reason(position) for position in elsewhere}
        )

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

    def _run_pixels(
        self,
        run: PartRun,
        positions: Positions,
        sizes: Sizes,
        steps: StepsT,
        start: Callable[[Positions, StepsT], None],
        needed: Regions | None = None,
    ) -> None:
        """Run steps; `needed` is what they read of the images, where that is known already."""
        self._settle(run, positions, needed or steps.regions(sizes))
        if run.failed:
            left = np.isin(positions, run.alive())
            positions, steps, sizes = positions[left], steps.pick(left), sizes.at(left)
        if not len(positions):
            return
        start(positions, steps)
        self._wait(run.engine_part, run.part.samples)
        if not run.engine_part.any_remark:
            return
        status = run.engine_part.status[positions]
        doubtful = positions[status != Status.OK]
        remarked = (status == Status.OK) & (run.engine_part.has_message[positions] != 0)
        for position in positions[remarked].tolist():
            reason = run.engine_part.message(position)
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

    def _decode_by_pillow(self, run: PartRun, reasons: dict[int, str]) -> None:
        """Give these samples Pillow's pixels; `reasons` (position: why) go to the ledger."""
        positions = list(reasons)
        at_once = min(_MOST_DECODED_AT_ONCE, 1 + len(positions) // (4 * self._threads))
        shares = [positions[i : i + at_once] for i in range(0, len(positions), at_once)]
        decodes = [
            self._pool.submit(
                _decode_all,
                self._source,
                run.part.samples[share].tolist(),
                self._pixel_limit,
                self._check_open,
            )
            for share in shares
        ]
        for share, decode in zip(shares, decodes, strict=True):
            for position, found in zip(share, decode.result(), strict=True):
                if isinstance(found, DecodeError):
                    run.failed[position] = str(found)
                    continue
                pixels, told = found
                run.engine_part.set_pixels(position, pixels)
                reason = f"{reasons[position]}; {told}" if told else reasons[position]
                self._ledger.note(int(run.part.samples[position]), "pillow", reason)

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

    def _wait(self, engine_part: EnginePart, files: Ints) -> None:
        """Wait for the core; raises ResourceError if the machine refused to read one of `files`."""
        while not engine_part.wait(_WAIT_S):
            if self._closed:
                engine_part.cancel()
        self._check_open()
        if not engine_part.any_lacking:
            return
        for position in np.flatnonzero(engine_part.lacking).tolist():
            said = engine_part.problem(position) or engine_part.message(position)
            what = f"{self._source.name(int(files[position]))}: {said}"
            raise refused(what, int(engine_part.lacking[position]))


def _decode_all(
    source: Source, samples: list[int], pixel_limit: int, check_open: Callable[[], None]
) -> list[tuple[npt.NDArray[np.uint8], str] | DecodeError]:
    """Decode by Pillow; what cannot be decoded is its error."""
    found: list[tuple[npt.NDArray[np.uint8], str] | DecodeError] = []
    for sample in samples:
        check_open()
        try:
            found.append(open_listening(decode_rgb, source, sample, pixel_limit))
        except DecodeError as error:
            # The traceback refers to frames, and so to what is to go when the loader is closed.
            found.append(error.with_traceback(None))
    return found


def _start_engine(threads: int) -> Engine:
    try:
        return Engine(threads, _READERS, row_memory_bytes())
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
