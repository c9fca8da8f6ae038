"""A DataLoader whose transforms of torchvision stand in a better order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from penstock.analysis.advice import ORDER, ORDER_FAST
from penstock.analysis.subject.subject import Subject
from penstock.analysis.subject.torch_subject import TorchSubject
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.verdict import Measurements
from penstock.analysis.what_if import Change
from penstock.costs.ops import list_composes
from penstock.errors import PenstockError
from penstock.planner.rules.rule import Fidelity
from penstock.reordering.explain import explain_order
from penstock.reordering.explanation import OrderExplanation, Variant
from penstock.reordering.trials import is_worth_having
from penstock.results.records import Rate
from penstock.translation.transforms.identify import torchvision_generation

ORDERS = 3  # measurements, at most: of the transforms alone, and of the loader with two orders
_SAMPLES = 8
_LEAST_S, _MOST_S = 0.5, 3.0  # to find and time orders of the transforms alone
_SHARE = 0.15  # of the time that is left
_TURNS = 2  # of the loader in either order


def measure_orders(context: SweepContext, facts: Measurements) -> None:
    """Find better orders and time the transforms alone in each, in turn with the order as it is.

    If there is time, so is the whole loader, and an order counts only if that is faster in every
    turn. Otherwise the loader's rate follows from what an image costs less.
    """
    subject = context.subject
    if not isinstance(subject, TorchSubject) or facts.costs is None or not _has_list(subject):
        context.budget.drop(ORDERS)
        return
    seconds = min(_MOST_S, _SHARE * context.budget.left_s)
    if not context.budget.allows(ORDER, max(seconds, _LEAST_S), ORDERS):
        return
    context.budget.begin(ORDER)
    try:
        found = explain_order(subject.loader, samples=_SAMPLES, seconds=seconds, relaxed=False)
    except PenstockError as error:
        context.results.note(ORDER, error)
        context.budget.drop(ORDERS - 1)
        return
    tried = 0
    for what, variant in _better(found):
        change = Change(what, note=_note(found, variant), line=variant.code)
        if 2 * _TURNS * context.run_s <= _SHARE * context.budget.left_s:
            context.budget.begin(f"the loader with {what}")
            tried += 1
            numbers = [step.number for step in variant.steps]
            gain = _gain(context, subject.with_order(found.pipeline, numbers))
            if is_worth_having(gain):
                rate = facts.pipeline * gain.median
                context.results.changes.append(replace(change, pipeline=rate))
        else:
            saved_ms = found.calls_per_sample * (found.written.times.ms - variant.times.ms)
            left = max(0.01, 1 - saved_ms / 1e3 / facts.costs.total_s)
            follows = replace(change, pipeline=facts.pipeline / left, is_measured=False)
            context.results.changes.append(follows)
    context.budget.drop(ORDERS - 1 - tried)


def _has_list(subject: TorchSubject) -> bool:
    composes = list_composes(subject.loader.dataset)
    return any(torchvision_generation(one) is not None for one in composes)


def _better(found: OrderExplanation) -> Iterator[tuple[str, Variant]]:
    if found.is_worth_having and found.reordered is not None:
        yield ORDER, found.reordered
    for offer in found.offers:
        if offer.variant.fidelity is Fidelity.FAST:
            yield ORDER_FAST, offer.variant


def _gain(context: SweepContext, other: Subject) -> Rate:
    ratios = []
    for _ in range(_TURNS):
        as_it_is = context.run(context.subject)
        ratios.append(context.run(other) / as_it_is)
    return Rate(median(ratios), min(ratios), max(ratios))


def _note(found: OrderExplanation, variant: Variant) -> str:
    told = [f"{swap.told} ({swap.rule.fidelity.value})" for swap in variant.swaps]
    before_ms, after_ms = found.written.times.ms, variant.times.ms
    took = f"{after_ms:.2f} ms per image instead of {before_ms:.2f}"
    text = f"{', '.join(told)}. Measured in turn on one core, they take {took}"
    if variant.fidelity is Fidelity.EXACT:
        return f"{text}; the same results come out, each as likely as before"
    apart = [swap.difference for swap in variant.swaps if swap.difference is not None]
    if not apart:
        return text
    worst = max(apart, key=lambda difference: difference.mean)
    return f"{text}; what changes values most does so by {worst}"
