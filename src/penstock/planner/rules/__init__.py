"""The rules of the planner. Each says in its docstring what it saves and why it may be applied."""

from penstock.planner.rules import (
    counting,
    crop_first,
    fast_warps,
    gray_first,
    idle,
    measured,
    relaxed,
    smaller_first,
    tables,
    warps,
)
from penstock.planner.rules.rule import Fidelity, Rule

RULES: tuple[Rule, ...] = (
    *idle.RULES,
    *crop_first.RULES,
    *warps.RULES,
    *fast_warps.RULES,
    *smaller_first.RULES,
    *measured.RULES,
    *relaxed.RULES,
    *gray_first.RULES,
    *tables.RULES,
    *counting.RULES,
)
BY_NAME = {rule.name: rule for rule in RULES}


def of_fidelity(fidelity: Fidelity) -> tuple[Rule, ...]:
    """The rules of one fidelity."""
    return tuple(rule for rule in RULES if rule.fidelity == fidelity)
