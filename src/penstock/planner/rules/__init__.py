"""The rules of the planner. Each says in its docstring what it saves and why it may be applied."""

from penstock.planner.rules import crop_first, warps

EXACT = (*crop_first.RULES, *warps.RULES)
