"""Argument types that several verbs share. Imports nothing heavy."""

from __future__ import annotations

import argparse


def whole(text: str) -> int:
    """Return a whole number of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number of 0 or more, got {text!r}")
    return int(text)


def wholes(text: str) -> list[int]:
    """Return whole numbers of 0 or more, separated by commas."""
    return [whole(part.strip()) for part in text.split(",")]


def count(text: str) -> int:
    """Return a whole number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 or more, got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """Return a time above 0."""
    try:
        given = float(text)
    except ValueError:
        given = 0.0
    if not 0 < given < float("inf"):
        raise argparse.ArgumentTypeError(f"must be seconds, above 0, got {text!r}")
    return given
