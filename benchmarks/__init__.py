"""Measures penstock and other input pipelines side by side: `python -m benchmarks --help`.

Runs from a checkout and is no part of the wheel. docs/benchmarks.md says how and why.
"""
