"""What a seed does to a composition of Albumentations' transforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.translation.transforms.identify import is_composed
from penstock.translation.transforms.lines import Log

# With p of 0 or 1, and unless they are told to choose a place or a size.
_DRAW_NOTHING = frozenset(
    [
        "CenterCrop",
        "Compose",
        "Crop",
        "HorizontalFlip",
        "InvertImg",
        "LongestMaxSize",
        "NoOp",
        "Normalize",
        "Pad",
        "PadIfNeeded",
        "Resize",
        "Sequential",
        "SmallestMaxSize",
        "ToFloat",
        "ToGray",
        "ToTensorV2",
        "Transpose",
        "VerticalFlip",
    ]
)


def check_seed(transform: Any, *, strict: bool, for_loader: bool, log: Log) -> None:
    """Log what is lost of a seed that ties several transforms together."""
    seed = getattr(transform, "seed", None)
    if seed is None or sum(map(_draws, _parts(transform))) < 2:
        return
    why = (
        f"seed={seed} gives all of its transforms the same random numbers, so that their choices "
        "go together; here each draws its own."
    )
    if strict:
        ways = "Leave seed out, and give it to accelerate or to the Loader."
        if not for_loader:
            ways += " Or pass strict=False."
        log.refuse("transform", type(transform).__name__, f"{why} {ways}")
    else:
        log.not_needed("transform", f"seed={seed}", why)


def _parts(transform: Any) -> Iterator[Any]:
    """The transform and all that it is made of."""
    yield transform
    if is_composed(transform):
        for part in transform.transforms:
            yield from _parts(part)


def _draws(transform: Any) -> bool:
    chooses_place = "random" in (
        getattr(transform, "position", None),
        getattr(transform, "pad_position", None),
    )
    chooses_size = isinstance(getattr(transform, "max_size", None), (list, tuple))
    is_sure = getattr(transform, "p", None) in (0, 1)
    known = type(transform).__name__ in _DRAW_NOTHING
    return not (known and is_sure) or chooses_place or chooses_size
