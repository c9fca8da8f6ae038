"""docs/planner.md lists every rule as it is."""

from pathlib import Path

import pytest

from penstock.planner.rules import RULES

PAGE = Path(__file__).parents[2] / "docs" / "planner.md"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_documented(rule):
    (row,) = [
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| `{rule.name}` |")
    ]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    bound = rule.bound
    told = "" if bound is None else f"{bound.mean:g} / {bound.most:g} / {bound.psnr_db:g} dB"
    assert cells == [f"`{rule.name}`", rule.fidelity.value, rule.summary, told]
