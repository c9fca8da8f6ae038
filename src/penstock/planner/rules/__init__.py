"""Rewriting rules of the planner, one per file: each a pure function from a plan to a better one.

There are none yet: `penstock.planner.plan.as_written` keeps the order that the user wrote, and
`penstock.planner.lower` fits it into as few steps as it can. A rule's docstring says why it pays,
why it is allowed, and what it may change.
"""
