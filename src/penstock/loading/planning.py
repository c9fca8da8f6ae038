"""Plans a loader's work: looks at some of its samples, and lets the planner choose rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from penstock.errors import TransformError
from penstock.loading.probe import ANY_SIZES, PlanTask, Probe, draw
from penstock.planner.explain import (
    Explanation,
    of_views,
    past_functions,
    rule_line,
    worth_offering,
)
from penstock.planner.plan import Plan
from penstock.planner.reuse_forecast import PartCosts
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import Rule
from penstock.planner.search import fired_rules


def choose_rules(task: PlanTask) -> tuple[Rule, ...]:
    """The rules that a loader's work is planned with."""
    if not task.options.plan:
        return ()
    try:
        drafts = draw(task, np.arange(len(ANY_SIZES)), ANY_SIZES)
        fired = fired_rules(drafts, task.permitted)
        if all(rule.free for rule in fired):
            return fired
    except TransformError:
        pass  # an op refuses one of these sizes, which the data set need not have, or wants boxes
    try:
        return Probe(task).choose()
    except TransformError:  # the batch with the sample that an op refuses says so
        return tuple(rule for rule in task.permitted if rule.free)


def choose_view_rules(task: PlanTask) -> tuple[tuple[Rule, ...], ...]:
    """The rules of each view, chosen as for a pipeline of its own; equal views share them."""
    chosen: dict[int, tuple[Rule, ...]] = {}
    for numbers in _equal_views(task.plan):
        rules = choose_rules(replace(task, plan=task.plan.views[numbers[0]]))
        chosen.update(dict.fromkeys(numbers, rules))
    return tuple(chosen[number] for number in range(len(task.plan.views)))


def _equal_views(plan: Plan) -> list[list[int]]:
    """The numbers of views that do the same, from 0 on."""
    known: list[tuple[object, list[int]]] = []
    for number, view in enumerate(plan.views):
        does = _does(view)
        equal = next((numbers for same, numbers in known if same == does), None)
        if equal is None:
            known.append((does, [number]))
        else:
            equal.append(number)
    return [numbers for _, numbers in known]


def _does(view: Plan) -> object:
    """What a view does, whatever the numbers of its steps."""
    segments = [
        (
            [node.op for node in segment.ops],
            segment.python and segment.python.op,
            [node.op for node in segment.finishing],
        )
        for segment in view.segments
    ]
    return segments, view.final


def explain(task: PlanTask) -> Explanation:
    """What the plan of a loader does, what it saves, and what else could be saved."""
    if not task.options.plan:
        return explain(replace(task, options=replace(task.options, plan=True))).unplanned()
    if task.plan.views:
        groups = [
            (
                explain(replace(task, plan=task.plan.views[numbers[0]])),
                [number + 1 for number in numbers],
            )
            for numbers in _equal_views(task.plan)
        ]
        return of_views(groups)
    probe = Probe(task)
    rules = probe.choose()
    planned_us = probe.cost(rules)
    used = [rule_line(rule, probe.cost(_without(rules, rule)) - planned_us) for rule in rules]
    if any(a is not b for a, b in zip(probe.drafts, probe.written, strict=True)):
        used.append(past_functions(probe.cost(rules, probe.written) - planned_us))
    offers = [
        rule_line(rule, planned_us - probe.cost(_with(task.permitted, rule)), offered=True)
        for rule in RULES
        if rule.asks and rule not in task.permitted
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
    cut = Probe(task)
    cut_us = cut.segment_costs()
    between = cut.sizes_after(sum(segment.kept for segment in segments))
    costs = PartCosts(
        plain_us=sum(Probe(replace(task, plan=plain)).segment_costs()),
        first_us=sum(us for us, segment in zip(cut_us, segments, strict=True) if segment.kept),
        rest_us=sum(us for us, segment in zip(cut_us, segments, strict=True) if not segment.kept),
    )
    return costs, float(np.mean(between.height * between.width * 3))


def _without(rules: Sequence[Rule], left_out: Rule) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule is not left_out)


def _with(rules: Sequence[Rule], added: Rule) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES if rule in rules or rule is added)
