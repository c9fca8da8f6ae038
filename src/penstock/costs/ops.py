"""What each op of a pipeline costs a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.costs.call_timer import CallTimer
from penstock.costs.steps import Arguments, op_name, runs_in, single_ops
from penstock.errors import TransformError
from penstock.results.records import OpCost


def time_ops(pipeline: Any, inputs: Sequence[Arguments]) -> tuple[OpCost, ...]:
    """Run every input through the ops one by one; return the mean costs."""
    timer = CallTimer()
    ops = list(single_ops(pipeline))
    seconds = [0.0] * len(ops)
    engines = [""] * len(ops)
    for sample, arguments in enumerate(inputs):
        given = arguments
        for number, op in enumerate(ops):
            try:
                took_s, returned = timer.time(given.bind(op))
            except Exception as error:
                raise TransformError(
                    f"profile: op {number + 1} ({op_name(op)}) failed on sample {sample}, given "
                    f"{type(given.image).__name__}: {type(error).__name__}: {error}"
                ) from error
            seconds[number] += took_s
            engines[number] = runs_in(op, given)
            given = given.after(returned)
    means = [total / max(len(inputs), 1) * 1e6 for total in seconds]
    named = zip(map(op_name, ops), means, engines, strict=True)
    return with_shares([OpCost(name, mean, 0.0, engine) for name, mean, engine in named])


def with_shares(costs: Sequence[OpCost]) -> tuple[OpCost, ...]:
    """Return the costs with each one's share of all."""
    total = sum(cost.microseconds for cost in costs)
    return tuple(
        OpCost(
            cost.name,
            cost.microseconds,
            cost.microseconds / total if total else 0.0,
            cost.runs_in,
            cost.note,
        )
        for cost in costs
    )
