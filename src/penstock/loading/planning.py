"""Plans a loader's work: looks at some of its samples, and lets the planner choose rules.

Only sizes are read, from the index of a packed file or the headers of image files, and only to see
what rules would save. A plan holds for every sample, whether it was looked at or not.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, TypeGuard

import numpy as np
import PIL.Image

from penstock._core import Storage
from penstock.data.targets import TargetSource
from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.loading.look_at import look_at
from penstock.loading.options import RunOptions
from penstock.planner.amounts import Work
from penstock.planner.draft import Draft
from penstock.planner.explain import (
    Explanation,
    Line,
    lines_of,
    of_views,
    past_functions,
    rule_line,
    size_text,
    stage_lines,
    worth_offering,
)
from penstock.planner.functions import crop_ahead, lets_crops_pass
from penstock.planner.lower import lower
from penstock.planner.plan import Plan
from penstock.planner.prices import Prices
from penstock.planner.reuse_forecast import PartCosts
from penstock.planner.rules import RULES
from penstock.planner.rules.measured import rows_to_measure
from penstock.planner.rules.rule import Fidelity, Rule, rewrite
from penstock.planner.search import choose, fired_rules, mean_cost, permitted
from penstock.planner.work import Sources, work_of
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
_ANY_SIZES = Sizes(
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


def choose_rules(task: PlanTask) -> tuple[Rule, ...]:
    """The rules that a loader's work is planned with."""
    if not task.options.plan:
        return ()
    try:
        drafts = _draw(task, np.arange(len(_ANY_SIZES)), _ANY_SIZES)
        fired = fired_rules(drafts, task.permitted)
        if all(rule.free for rule in fired):
            return fired
    except TransformError:
        pass  # an op refuses one of these sizes, which the data set need not have, or wants boxes
    try:
        return _Probe(task).choose()
    except TransformError:  # the batch with the sample that an op refuses says so
        return tuple(rule for rule in task.permitted if rule.free)


def choose_view_rules(task: PlanTask) -> tuple[tuple[Rule, ...], ...]:
    """The rules of each view, chosen as for a pipeline of its own; equal views share them."""
    known: list[tuple[list[object], tuple[Rule, ...]]] = []
    chosen: list[tuple[Rule, ...]] = []
    for view in task.plan.views:
        ops: list[object] = [node.op for segment in view.segments for node in segment.ops]
        rules = next((rules for same, rules in known if same == ops), None)
        if rules is None:
            rules = choose_rules(replace(task, plan=view))
            known.append((ops, rules))
        chosen.append(rules)
    return tuple(chosen)


def explain(task: PlanTask) -> Explanation:
    """What the plan of a loader does, what it saves, and what else could be saved."""
    if task.plan.views:
        return of_views([explain(replace(task, plan=view)) for view in task.plan.views])
    probe = _Probe(task)
    rules = probe.choose() if task.options.plan else ()
    planned_us = probe.cost(rules)
    used = [rule_line(rule, probe.cost(_without(rules, rule)) - planned_us) for rule in rules]
    if any(a is not b for a, b in zip(probe.drafts, probe.written, strict=True)):
        used.append(past_functions(probe.cost(rules, probe.written) - planned_us))
    offers = [
        rule_line(rule, planned_us - probe.cost(_with(task.permitted, rule)), offered=True)
        for rule in RULES
        if task.options.plan and rule.asks and rule not in task.permitted
    ]
    return Explanation(
        data=task.source.describe(),
        samples=len(np.unique(probe.samples)),
        prices=probe.prices.origin,
        written_stages=probe.stages(probe.written, ()),
        planned_stages=probe.stages(probe.drafts, rules),
        written=probe.lines(probe.written, ()),
        planned=probe.lines(probe.drafts, rules),
        permitted=tuple(rule.name for rule in task.permitted),
        rules=tuple(used),
        offers=worth_offering(offers, planned_us),
        notes=probe.notes(),
    )


def part_costs(task: PlanTask, plain: Plan) -> tuple[PartCosts, float]:
    """What the parts of a plan that is cut for reuse cost, and how large images are between them.

    `plain` is the plan without the cut; the size is in bytes, as a mean.
    """
    segments = task.plan.segments
    cut = _Probe(task)
    cut_us = cut.segment_costs()
    between = cut.sizes_after(sum(segment.kept for segment in segments))
    costs = PartCosts(
        plain_us=sum(_Probe(replace(task, plan=plain)).segment_costs()),
        first_us=sum(us for us, segment in zip(cut_us, segments, strict=True) if segment.kept),
        rest_us=sum(us for us, segment in zip(cut_us, segments, strict=True) if not segment.kept),
    )
    return costs, float(np.mean(between.height * between.width * 3))


class _Probe:
    """Some samples of a data set: their sizes, what was drawn for each of them, what it costs."""

    def __init__(self, task: PlanTask) -> None:
        self._task = task
        self.prices = Prices.remembered()
        self.samples, self.sizes = _probed(task.source)
        self._sources = look_at(task.source, self.samples, self.sizes)
        is_there = len(task.source) > 0 and int(self.samples.max()) < len(task.source)
        targets = task.targets.of(self.samples) if task.targets is not None and is_there else None
        # With a key for each, a sample that is there several times has several draws.
        self.written = _draw(task, np.arange(len(self.samples)), self.sizes, targets)
        self.drafts = _past_functions(task, self.written)

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
            planned = rewrite(self.drafts[number], rules)[0]
            cost_us = float(self._price(number, planned).mean())
            if segment.python is not None:
                cost_us += _python_us(segment.python.op, planned.sizes_along()[-1])
            costs.append(cost_us)
        return costs

    def sizes_after(self, segments: int) -> Sizes:
        """The sizes of images after so many segments."""
        return self.drafts[segments - 1].sizes_along()[-1]

    def lines(self, drafts: Sequence[Draft], rules: Sequence[Rule]) -> tuple[Line, ...]:
        """The pieces of work, with the user's functions between them."""
        found: list[Line] = []
        for number, segment in enumerate(self._task.plan.segments):
            planned = rewrite(drafts[number], rules)[0]
            *measured, (main, _) = self._work(number, planned)
            for work, rows in measured:
                share = len(rows) / len(self.sizes)
                cost_us = float(self.prices.microseconds(work).sum()) / len(self.sizes)
                size = size_text(planned.sizes.at(rows))
                found.append(Line("small version for contrast's mean", size, share, cost_us))
            found += lines_of(main, self.prices, len(self.sizes))
            if segment.python is not None:
                sizes = planned.sizes_along()[-1]
                cost_us = _python_us(segment.python.op, sizes)
                name = segment.python.op.name
                found.append(Line(name, size_text(sizes), 1.0, cost_us, "python"))
        return tuple(found)

    def stages(
        self, drafts: Sequence[Draft], rules: Sequence[Rule]
    ) -> tuple[tuple[str, str, str], ...]:
        """The order of the work, in the user's words: what, by which ops, on which sizes."""
        names = {
            node.stream: type(node.op).__name__
            for segment in self._task.plan.segments
            for node in segment.ops
        }
        found: list[tuple[str, str, str]] = []
        for draft, segment in zip(drafts, self._task.plan.segments, strict=True):
            found += stage_lines(rewrite(draft, rules)[0], names)
            if segment.python is not None:
                sizes = size_text(draft.sizes_along()[-1])
                found.append(("your function", segment.python.op.name, sizes))
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
        sources = self._sources if segment == 0 else Sources.typical(planned.sizes, Storage.RAW)
        between = FinalSpec()
        works: list[tuple[Work, Ints]] = []
        for move in planned.moves:
            if isinstance(move, EffectMove) and move.measured_on is not None:
                rows = np.flatnonzero(rows_to_measure(move))
                steps = lower(move.measured_on, planned.sizes).pick(rows)
                works.append((work_of(steps, sources.at(rows), between, "hwc"), rows))
        final, layout = (self._task.plan.final, self._task.layout) if is_last else (between, "hwc")
        steps = lower(planned.moves, planned.sizes)
        works.append((work_of(steps, sources, final, layout), np.arange(len(planned.sizes))))
        return works


def _draw(
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
    found = {sample: size for sample, size in known.items() if size is not None}
    if not found:  # whoever loads the samples is told what is wrong with them
        return np.arange(len(_ANY_SIZES)), _ANY_SIZES
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


def _without(rules: Sequence[Rule], left_out: Rule) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule is not left_out)


def _with(rules: Sequence[Rule], added: Rule) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES if rule in rules or rule is added)


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
