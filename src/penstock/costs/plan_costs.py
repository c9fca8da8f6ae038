"""Measures what a loader's plan saves, and what the rules that it does not use would save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median, quantiles

from penstock.costs.loader_costs import time_replica
from penstock.errors import LoaderError
from penstock.loading.batch import PART_SIZE
from penstock.loading.loader import Loader
from penstock.planner.explain import Explanation, rules_by_name, with_measured
from penstock.planner.rules.rule import Rule
from penstock.progress import ProgressBar

_ROUNDS = 5
_SLICE_S = 0.25  # of each variant in each round
_BATCH_US = 10_000  # of the images in a batch: what is begun at the end of a slice hardly counts


def explain_measured(loader: Loader, *, show_progress: bool | None = False) -> Explanation:
    """Return the loader's explanation with measured savings.

    The plan as written, the plan as it is, without each of its rules and with each offer take turns
    on one thread, over the same samples; medians of the rounds count.
    """
    if loader.reuse_cut is not None:
        raise LoaderError(
            "explain: with reuse=, what is measured depends on what is in memory already. Measure "
            "a Loader without it, or use `python -m benchmarks.reuse`."
        )
    told = loader.explain()
    if told.if_planned is not None:
        planned = _measured(loader, told.if_planned, show_progress)
        as_written = planned.measured_written_us
        return replace(
            told,
            measured_written_us=as_written,
            measured_planned_us=as_written,
            noise_us=planned.noise_us,
            if_planned=planned,
        )
    return _measured(loader, told, show_progress)


def _measured(loader: Loader, explained: Explanation, show_progress: bool | None) -> Explanation:
    if loader.plan.views:
        return _measured_views(loader, explained, show_progress)
    used = tuple(rule.name for rule in rules_by_name(rule.name for rule in explained.rules))
    variants: dict[str, tuple[Rule, ...]] = {"": (), "plan": rules_by_name(used)}
    for name in used:
        variants[name] = rules_by_name(other for other in used if other != name)
    for offer in explained.offers:
        variants[offer.name] = rules_by_name((*explained.permitted, offer.name))
    spent = _measure(loader, explained, list(variants.values()), show_progress)
    costs = {name: median(each) for name, each in zip(variants, spent, strict=True)}
    planned_us = costs["plan"]
    return replace(
        explained,
        measured_written_us=costs[""],
        measured_planned_us=planned_us,
        noise_us=_spread(spent[list(variants).index("plan")]),
        rules=tuple(
            with_measured(rule, costs[rule.name] - planned_us) if rule.name in costs else rule
            for rule in explained.rules
        ),
        offers=tuple(
            with_measured(offer, planned_us - costs[offer.name]) for offer in explained.offers
        ),
    )


def _measured_views(
    loader: Loader, explained: Explanation, show_progress: bool | None
) -> Explanation:
    """Measure the plans of all views together: each has rules of its own."""
    written, planned = _measure(loader, explained, [(), None], show_progress)
    return replace(
        explained,
        measured_written_us=median(written),
        measured_planned_us=median(planned),
        noise_us=_spread(planned),
    )


def _measure(
    loader: Loader,
    explained: Explanation,
    variants: Sequence[tuple[Rule, ...] | None],
    show_progress: bool | None,
) -> list[list[float]]:
    """Microseconds of CPU time per image with each set of rules, in every round."""
    batch_size = _batch_size(loader, explained.written_us)
    spent: list[list[float]] = [[] for _ in variants]
    total = _ROUNDS * len(variants)
    with ProgressBar("measuring", total=total, unit="plans", show=show_progress, rate=False) as bar:
        for _ in range(_ROUNDS):
            for number, rules in enumerate(variants):
                replica = loader.replica(rules=rules, threads=1, batch_size=batch_size)
                images, cpu_s, _ = time_replica(replica, None, _SLICE_S)
                spent[number].append(cpu_s / images * 1e6)
                bar.advance()
    return spent


def _batch_size(loader: Loader, image_us: float) -> int:
    """Many small images, since a batch costs something however small it is; few large ones."""
    wanted = max(1, min(PART_SIZE, int(_BATCH_US / max(image_us, 1.0))))
    return min(wanted, len(loader) * loader.batch_size) or loader.batch_size


def _spread(rounds: Sequence[float]) -> float:
    """How far rounds of the same work lie apart: the middle half of them."""
    low, _, high = quantiles(rounds, n=4)
    return high - low
