"""A probe of a data set: some of its samples, what is drawn for them, and what that costs.

Only sizes are read, from the index of a packed file or the headers of image files, and only to see
what rules would save. A plan holds for every sample, whether it was looked at or not.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeGuard

import numpy as np
import PIL.Image

from penstock.data.targets import TargetSource
from penstock.geometry import Floats, Ints, Sizes
from penstock.loading.look_at import look_at
from penstock.loading.options import RunOptions
from penstock.planner.amounts import Work
from penstock.planner.decode_work import Sources
from penstock.planner.draft import Draft
from penstock.planner.explain import (
    Line,
    StageLine,
    last_stage_lines,
    lines_of,
    op_name,
    size_text,
    stage_lines,
)
from penstock.planner.functions import crop_ahead, lets_crops_pass
from penstock.planner.lower import lower
from penstock.planner.plan import Plan
from penstock.planner.prices import Prices
from penstock.planner.rules.measured import rows_to_measure
from penstock.planner.rules.rule import Fidelity, Rule, rewrite
from penstock.planner.search import choose, mean_cost, permitted, rewriting_us
from penstock.planner.work import work_of
from penstock.rng import Draws
from penstock.sources import Source
from penstock.transforms.declared import Declared
from penstock.transforms.effects import EffectMove
from penstock.transforms.python_step import PythonStep
from penstock.transforms.targets import Targets
from penstock.transforms.values import FinalSpec, Layout

# Enough for sizes and draws to speak for the whole data set, few enough to be read in no time.
_PROBED = 48

_CALLS = 3

# Sizes of all kinds, to see which rules could apply before any file is opened.
ANY_SIZES = Sizes(
    np.tile(np.array([375, 500, 32, 1080, 3000, 600], dtype=np.int64), 8),
    np.tile(np.array([500, 333, 32, 1920, 5000, 600], dtype=np.int64), 8),
)


@dataclass(frozen=True, slots=True)
class PlanTask:
    """What is planned."""

    source: Source
    targets: TargetSource | None
    plan: Plan
    options: RunOptions
    seed: int
    layout: Layout

    @property
    def permitted(self) -> tuple[Rule, ...]:
        """The rules that the user has asked for."""
        return permitted(Fidelity(self.options.fidelity), self.options.allow)


class Probe:
    """Some samples of a data set: their sizes, what was drawn for each of them, what it costs."""

    def __init__(self, task: PlanTask) -> None:
        self._task = task
        self.prices = Prices.remembered()
        self.samples, self.sizes = _probed(task.source)
        self._sources = look_at(task.source, self.samples, self.sizes)
        is_there = len(task.source) > 0 and int(self.samples.max()) < len(task.source)
        targets = task.targets.of(self.samples) if task.targets is not None and is_there else None
        # With a key for each, a sample that is there several times has several draws.
        self.written = draw(task, np.arange(len(self.samples)), self.sizes, targets)
        self.drafts = _past_functions(task, self.written)
        keys = np.arange(len(self.samples))
        self._finishing = [
            (
                op_name(node.op),
                node.op.sample(Draws(task.seed, 0, keys, node.stream), self._last_sizes),
            )
            for node in task.plan.segments[-1].finishing
        ]

    def choose(self) -> tuple[Rule, ...]:
        """The cheapest rules of those permitted."""
        return choose(self.drafts, self._task.permitted, self._price).rules

    def cost(self, rules: Sequence[Rule], drafts: Sequence[Draft] | None = None) -> float:
        """Microseconds per image with these rules."""
        return mean_cost(self.drafts if drafts is None else drafts, rules, self._price)

    def segment_costs(self) -> list[float]:
        """Microseconds per image of each segment as it is planned, the user's function included."""
        rules = self.choose() if self._task.options.plan else ()
        costs = []
        for number, segment in enumerate(self._task.plan.segments):
            planned, fired = rewrite(self.drafts[number], rules)
            cost_us = float(self._price(number, planned).mean()) + rewriting_us(rules, fired)
            if segment.python is not None:
                cost_us += _python_us(segment.python.op, planned.sizes_along()[-1])
            costs.append(cost_us)
        return costs

    def sizes_after(self, segments: int) -> Sizes:
        """The sizes of images after so many segments."""
        return self.drafts[segments - 1].sizes_along()[-1]

    @property
    def _last_sizes(self) -> Sizes:
        return self.written[-1].sizes_along()[-1]

    def lines(self, drafts: Sequence[Draft], rules: Sequence[Rule]) -> tuple[Line, ...]:
        """The pieces of work, with the user's functions between them."""
        found: list[Line] = []
        for number, segment in enumerate(self._task.plan.segments):
            planned, fired = rewrite(drafts[number], rules)
            *measured, (main, _) = self._work(number, planned)
            for work, rows in measured:
                share = len(rows) / len(self.sizes)
                cost_us = float(self.prices.microseconds(work).sum()) / len(self.sizes)
                size = size_text(planned.sizes.at(rows))
                found.append(Line("small version for contrast's mean", size, share, cost_us))
            found += lines_of(main, self.prices, len(self.sizes))
            if fired:
                cost_us = rewriting_us(rules, fired)
                found.append(Line("rewriting", size_text(planned.sizes), 1.0, cost_us))
            if segment.python is not None:
                sizes = planned.sizes_along()[-1]
                cost_us = _python_us(segment.python.op, sizes)
                name = segment.python.op.name
                found.append(Line(name, size_text(sizes), 1.0, cost_us, "python"))
        return tuple(found)

    def stages(self, drafts: Sequence[Draft], rules: Sequence[Rule]) -> tuple[StageLine, ...]:
        """The order of the work, in the user's words: what, by which ops, on which sizes."""
        names = {
            node.stream: op_name(node.op)
            for segment in self._task.plan.segments
            for node in segment.ops
        }
        found: list[StageLine] = []
        for draft, segment in zip(drafts, self._task.plan.segments, strict=True):
            found += stage_lines(rewrite(draft, rules)[0], names)
            if segment.python is not None:
                sizes = size_text(draft.sizes_along()[-1])
                found.append(("your function", segment.python.op.name, sizes))
        found += last_stage_lines(self._task.plan.final, self._finishing, self._last_sizes)
        return tuple(found)

    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the plan."""
        functions = [
            segment.python.op.name
            for segment in self._task.plan.segments
            if segment.python is not None and segment.python.op.declared != Declared.PER_PIXEL
        ]
        if not functions:
            return ()
        note = (
            f"{', '.join(functions)}: the planner does not look into a function and moves nothing "
            "past it. It runs in Python, on one image at a time; its cost above is that of a call "
            "on noise. A function that looks at single pixels only can be declared with "
            "@penstock.per_pixel."
        )
        return (note,)

    def _price(self, segment: int, planned: Draft) -> Floats:
        total: Floats = np.zeros(len(planned.sizes))
        for work, rows in self._work(segment, planned):
            total[rows] += self.prices.microseconds(work)
        return total

    def _work(self, segment: int, planned: Draft) -> list[tuple[Work, Ints]]:
        """The work of a segment, and of what its effects are measured on, each with its samples."""
        is_last = segment == len(self.drafts) - 1
        sources = self._sources if segment == 0 else Sources.in_memory(planned.sizes)
        between = FinalSpec()
        works: list[tuple[Work, Ints]] = []
        for move in planned.moves:
            if isinstance(move, EffectMove) and move.measured_on is not None:
                rows = np.flatnonzero(rows_to_measure(move))
                steps = lower(move.measured_on, planned.sizes).pick(rows)
                works.append((work_of(steps, sources.at(rows), between, "hwc"), rows))
        final, layout = (self._task.plan.final, self._task.layout) if is_last else (between, "hwc")
        finishing = [move for _, moves in self._finishing for move in moves] if is_last else ()
        steps = lower(planned.moves, planned.sizes, finishing)
        works.append((work_of(steps, sources, final, layout), np.arange(len(planned.sizes))))
        return works


def draw(
    task: PlanTask, samples: Ints, sizes: Sizes, targets: Targets | None = None
) -> tuple[Draft, ...]:
    """Drafts of all segments; a function of the user's between two is taken to keep sizes."""
    drafts: list[Draft] = []
    for segment in task.plan.segments:
        draft, targets = segment.draft(task.seed, 0, samples, sizes, targets)
        drafts.append(draft)
        sizes = draft.sizes_along()[-1]
    return tuple(drafts)


def _past_functions(task: PlanTask, drafts: tuple[Draft, ...]) -> tuple[Draft, ...]:
    """The drafts with crops moved before functions that let them pass."""
    moved = list(drafts)
    for number, (segment, following) in enumerate(pairwise(task.plan.segments)):
        if task.options.plan and lets_crops_pass(segment, following):
            moved[number : number + 2] = crop_ahead(*moved[number : number + 2])
    return tuple(moved)


def _probed(source: Source) -> tuple[Ints, Sizes]:
    """Samples that lie evenly over the data set, and their sizes; of few, each several times."""
    wanted = np.unique(np.linspace(0, max(len(source) - 1, 0), _PROBED).astype(np.int64))
    known = {sample: _size_of(source, sample) for sample in wanted.tolist() if sample < len(source)}
    found = {sample: size for sample, size in known.items() if size is not None and min(size) > 0}
    if not found:  # whoever loads the samples is told what is wrong with them
        return np.arange(len(ANY_SIZES)), ANY_SIZES
    times = -(-_PROBED // len(found))
    heights, widths = np.tile(np.array(list(found.values()), dtype=np.int64).T, times)
    return np.tile(np.array(list(found), dtype=np.int64), times), Sizes(heights, widths)


def _python_us(step: PythonStep, sizes: Sizes) -> float:
    """How long a user's function takes for an image of the mean size: the least of some calls."""
    shape = (max(1, round(float(sizes.height.mean()))), max(1, round(float(sizes.width.mean()))), 3)
    rng = np.random.default_rng(0)
    least_s = float("inf")
    for _ in range(_CALLS):
        pixels = rng.integers(0, 256, shape, dtype=np.uint8)
        began_s = time.perf_counter()
        try:
            step.apply_to_array(pixels, rng, step=1)
        except Exception:  # noqa: BLE001 (it may want a real image; loading one says what is wrong)
            return 0.0
        least_s = min(least_s, time.perf_counter() - began_s)
    return least_s * 1e6


class _Sized(Protocol):
    def image_size(self, index: int) -> tuple[int, int]: ...


def _has_sizes(source: object) -> TypeGuard[_Sized]:
    return callable(getattr(source, "image_size", None))


def _size_of(source: Source, sample: int) -> tuple[int, int] | None:
    try:
        if _has_sizes(source):
            return source.image_size(sample)
        with source.open(sample) as file, PIL.Image.open(file) as image:
            return image.height, image.width
    except Exception:  # noqa: BLE001 (a source may be the user's own)
        return None
