"""Runs parts whose samples have several views, which read and decode each sample once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from penstock._core import BatchRing, Element, Format
from penstock.geometry import Ints, Sizes
from penstock.loading.batch import Place
from penstock.loading.fetch import Positions
from penstock.loading.native import NativeRunner
from penstock.loading.part_run import PartRun
from penstock.loading.part_targets import PartTargets
from penstock.loading.runner import RunSetup
from penstock.planner.draft import Moves
from penstock.planner.lower import Steps, lower
from penstock.planner.plan import Segment
from penstock.planner.rules.measured import waits_for_pixels
from penstock.planner.rules.rule import rewrite_moves
from penstock.planner.views import ViewSteps, draw_equal, is_equal, repeat_sizes, share
from penstock.transforms.moves import CropMove, FlipMove, out_sizes

_PIXELS = Format(Element.UINT8, "hwc", 1.0, [0.0] * 3, [1.0] * 3)


class ViewRunner(NativeRunner):
    """Fills several images per slot, one for each view."""

    def __init__(self, setup: RunSetup, formats: list[Format]) -> None:
        super().__init__(setup, formats)
        self._view_rules = setup.view_rules
        self._views = [self._plan.after_shared(view).segments for view in self._plan.views]
        self._equal: list[list[int]] = []  # numbers of views that can be drawn together
        for number, segments in enumerate(self._views):
            for numbers in self._equal:
                same_rules = self._view_rules[number] == self._view_rules[numbers[0]]
                if same_rules and is_equal(segments[0], self._views[numbers[0]][0]):
                    numbers.append(number)
                    break
            else:
                self._equal.append([number])

    def _run_last(self, run: PartRun) -> None:
        shared = self._plan.segments[-1]
        drawn = run.ahead or self._draw_now(run, shared)
        positions, sizes, before = drawn.positions, drawn.sizes, drawn.moves
        run.ahead = None
        if not all(isinstance(move, (CropMove, FlipMove)) for move in before):
            run.ahead = drawn
            self._run_to_pixels(run, shared)  # pixels are computed: better once than in every view
            positions, before = run.alive(), ()
            sizes = run.sizes(positions)
        if not len(positions):
            return
        steps = self._draw_views(run, positions, sizes, before)
        # Pixels for the functions of the user's, by the number of their view.
        arrays = {n: PixelArrays() for n, segments in enumerate(self._views) if len(segments) > 1}

        def start(positions: Positions, steps: ViewSteps) -> None:
            slots = run.part.slots[positions]
            works = []
            for number, view in enumerate(steps.views):
                if number in arrays:
                    place, image_format = arrays[number].place(positions, view.out_sizes), _PIXELS
                else:
                    place = run.part.batch.place(view.out_sizes, slots, number)
                    image_format = self._formats[number]
                works.append((view.programs(), place.buffer, place.offsets, image_format))
            is_jpeg = run.engine_part.is_jpeg[positions] != 0
            groups = share(steps, run.sizes(positions), is_jpeg)
            run.engine_part.run_views(positions, works, groups)

        self._run_pixels(run, positions, sizes, steps, start)
        for number, pixels in arrays.items():
            self._finish_view(run, number, self._views[number], pixels)

    def _draw_views(
        self, run: PartRun, positions: Positions, sizes: Sizes, before: Moves
    ) -> ViewSteps:
        """The steps of all views, up to the first function of the user's."""
        key = self._key(run, positions)
        if self._witness is not None:
            here = out_sizes(before, sizes)
            for segments in self._views:
                self._witness.saw(segments[0], key, run.part.slots[positions], here, None)
        views: dict[int, Steps] = {}
        for numbers in self._equal:
            drawn = self._draw_equal(numbers, before, key, sizes)
            if drawn is not None:
                views.update(zip(numbers, drawn, strict=True))
                continue
            for number in numbers:
                moves, finishing = draw_equal([self._views[number][0]], before, key, sizes)
                planned = rewrite_moves(moves, sizes, self._view_rules[number])
                planned = self._measure(run, positions, sizes, planned)
                views[number] = lower(planned, sizes, finishing)
        return ViewSteps(tuple(views[number] for number in range(len(self._views))))

    def _draw_equal(
        self, numbers: list[int], before: Moves, key: tuple[int, int, Ints], sizes: Sizes
    ) -> list[Steps] | None:
        """The steps of equal views, drawn together; None if images must be measured in between."""
        firsts = [self._views[number][0] for number in numbers]
        moves, finishing = draw_equal(firsts, before, key, sizes)
        all_sizes = repeat_sizes(sizes, len(numbers))
        planned = rewrite_moves(moves, all_sizes, self._view_rules[numbers[0]])
        if any(waits_for_pixels(move) for move in planned):
            return None
        return lower(planned, all_sizes, finishing).split(len(numbers))

    def _finish_view(
        self, run: PartRun, number: int, segments: Sequence[Segment], arrays: PixelArrays
    ) -> None:
        """Go on with a view from its first function of the user's on."""
        positions = run.alive()
        part = run.part.pick(positions)
        engine_part = self._engine.begin(part.rank, len(positions))
        view = PartRun(part, engine_part, PartTargets(None, part), self._view_rules[number])
        view.settled = True
        images = dict(enumerate(arrays.at(positions)))
        for position, pixels in self._call_python(view, segments[0], images).items():
            engine_part.set_pixels(position, pixels)
        for segment in segments[1:-1]:
            self._run_to_pixels(view, segment)
        self._run_to_batch(view, segments[-1], number)


class PixelArrays:
    """Images of one view on their way to a function of the user's, by their position in a part."""

    def __init__(self) -> None:
        self._images: dict[int, npt.NDArray[np.uint8]] = {}

    def place(self, positions: Positions, sizes: Sizes) -> Place:
        """Make memory for images of these sizes, in place of those that there are."""
        ends = np.cumsum(3 * sizes.height * sizes.width)
        offsets = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        buffer = BatchRing(0).take(int(ends[-1]))
        pixels = np.asarray(buffer.array([int(ends[-1])], "uint8"))
        for row, position in enumerate(positions.tolist()):
            image = pixels[offsets[row] : ends[row]]
            self._images[position] = image.reshape(sizes.height[row], sizes.width[row], 3)
        return Place(buffer, offsets)

    def at(self, positions: Positions) -> list[npt.NDArray[np.uint8]]:
        """The images in these positions."""
        return [self._images[position] for position in positions.tolist()]
