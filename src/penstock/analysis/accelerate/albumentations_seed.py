"""What a seed does to a composition of Albumentations' transforms, and what they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.analysis.accelerate.identify import full_name
from penstock.analysis.accelerate.translation import Log

COMPOSITION = "albumentations.core.composition"

# With p of 0 or 1, and unless they are told to choose a place or a size.
_DRAW_NOTHING = frozenset(
    [
        "CenterCrop",
        "Crop",
        "HorizontalFlip",
        "InvertImg",
        "LongestMaxSize",
        "NoOp",
        "Normalize",
        "Pad",
        "PadIfNeeded",
        "Resize",
        "SmallestMaxSize",
        "ToFloat",
        "ToGray",
        "ToTensorV2",
        "Transpose",
        "VerticalFlip",
    ]
)


def is_composed(transform: Any) -> bool:
    """Whether a transform of Albumentations is made of others."""
    return f"{COMPOSITION}.BaseCompose" in map(full_name, type(transform).__mro__)


def check_seed(transform: Any, *, strict: bool, log: Log) -> None:
    """Log what is lost of a seed that ties several transforms together."""
    seed = getattr(transform, "seed", None)
    if seed is None or sum(_draws(leaf) for leaf in _leaves(transform)) < 2:
        return
    why = (
        f"seed={seed} gives all of its transforms the same random numbers, so that their choices "
        "go together; here each draws its own."
    )
    if strict:
        ways = "Leave seed out and pass it to accelerate, or pass strict=False."
        log.refuse("transform", type(transform).__name__, f"{why} {ways}")
    else:
        log.not_needed("transform", f"seed={seed}", why)


def _leaves(transform: Any) -> Iterator[Any]:
    if is_composed(transform):
        for part in transform.transforms:
            yield from _leaves(part)
    else:
        yield transform


def _draws(leaf: Any) -> bool:
    chooses_place = "random" in (
        getattr(leaf, "position", None),
        getattr(leaf, "pad_position", None),
    )
    chooses_size = isinstance(getattr(leaf, "max_size", None), (list, tuple))
    is_sure = getattr(leaf, "p", None) in (0, 1)
    known = type(leaf).__name__ in _DRAW_NOTHING
    return not (known and is_sure) or chooses_place or chooses_size
