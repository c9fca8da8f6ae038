"""What training an ImageNet classifier asks of its input pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.case import Case
from benchmarks.cases.kind import CaseKind


def make_case(paths: tuple[str, ...]) -> Case:
    """Return the case for these files; labels are made up, since nobody looks at them."""
    return Case(
        name=KIND.name,
        question=(
            "Images per second: decode, RandomResizedCrop(224), RandomHorizontalFlip, Normalize, "
            "to float32 CHW in batches of 64"
        ),
        paths=paths,
        labels=tuple(index % 1_000 for index in range(len(paths))),
        crop_px=224,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        batch_size=64,
    )


def vary(name: str, question: str, **changes: Any) -> Callable[[tuple[str, ...]], Case]:
    """Return what makes this case with another name and question, and with `changes`."""
    return lambda paths: replace(make_case(paths), name=name, question=question, **changes)


KIND = CaseKind(
    name="classify_224",
    make=make_case,
    photos="in1k",
    images=1_024,
    peers=(
        "penstock_packed",
        "penstock_packed_avx2",
        "penstock_folder",
        "torchvision_pillow",
        "opencv",
    ),
)
