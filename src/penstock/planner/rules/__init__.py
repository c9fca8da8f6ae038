"""Rewriting rules of the planner, one a file: each a pure function from a plan to a better one.

A rule's docstring says why it pays, why it is allowed, and what it may change.
"""
