"""The formats of boxes, as names: what torchvision's enum says, and ours, and strings."""

from __future__ import annotations

from typing import Any

from penstock.errors import TransformError, TransformTypeError

UPRIGHT = ("XYXY", "XYWH", "CXCYWH")
ROTATED = ("XYWHR", "CXCYWHR", "XYXYXYXY")
NUMBERS = {"XYWHR": 5, "CXCYWHR": 5, "XYXYXYXY": 8}  # of a box; upright ones have 4
CLAMPING_MODES = ("soft", "hard")


def read_format(given: Any) -> str:
    """The name of a format."""
    name = given if isinstance(given, str) else getattr(given, "value", None)
    if not isinstance(name, str):
        raise TransformTypeError(
            f"format should be str or BoundingBoxFormat, got {type(given)}: {given!r}."
        )
    name = name.upper()
    if name not in UPRIGHT + ROTATED:
        raise TransformError(
            f"format should be one of {', '.join(UPRIGHT + ROTATED)}, got {given!r}."
        )
    return name


def corner_format(name: str) -> str:
    """The format that has the corners of boxes of a format."""
    return "XYXYXYXY" if name in ROTATED else "XYXY"
