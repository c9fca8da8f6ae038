"""penstock on the same work: epochs of a Loader with one thread, from files and packed ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock import transforms as T
from penstock.experiments.libraries.pillow_steps import BRIGHTER, DEGREES, LESS_CONTRAST
from penstock.experiments.libraries.toolkits import SIDES_PX, Pixels
from penstock.geometry import Size
from penstock.loading.loader import Loader
from penstock.planner.rules import of_fidelity
from penstock.planner.rules.rule import Fidelity
from penstock.transforms.op import Transform
from penstock.usable_cores import pinned_to

NAME = "penstock"
STORAGES = ("file", ".pen")
PLANS: dict[str, dict[str, Any]] = {
    "as written": {"plan": False},
    "exact": {},
    "fast": {"fidelity": "fast"},
    "relaxed": {
        "fidelity": "fast",
        "allow": tuple(rule.name for rule in of_fidelity(Fidelity.RELAXED)),
    },
}
_MOST_PIXELS_A_BATCH = 8_000_000  # so that photos of 15 megapixels come one at a time


def title(storage: str, plan: str) -> str:
    """Return the name of one way to use penstock."""
    return f"{NAME} {plan}, {storage}"


def transform_of(steps: Sequence[str], photo: Size) -> Transform:
    """Return the steps as one transform for photos of this size."""
    ops: dict[str, list[Transform]] = {
        "flip": [T.RandomHorizontalFlip(p=1.0)],
        "rotate": [T.RandomRotation((DEGREES, DEGREES), "bilinear")],
        "rotate (nearest)": [T.RandomRotation((DEGREES, DEGREES), "nearest")],
        "jitter": [
            T.ColorJitter(brightness=(BRIGHTER, BRIGHTER)),
            T.ColorJitter(contrast=(LESS_CONTRAST, LESS_CONTRAST)),
        ],
        "crop": [T.CenterCrop((photo.height // 2, photo.width // 2))],
        **{f"resize to {side}": [T.Resize((side, side))] for side in SIDES_PX},
    }
    return T.Compose([op for step in steps for op in ops[step]])


@dataclass(frozen=True, slots=True)
class OurData:
    """Photos of one size as files and packed; a file is listed as often as a pass needs it."""

    photo: Size
    files: Sequence[str]
    packed: Path

    def open(self, storage: str, plan: str, steps: Sequence[str]) -> Loader:
        """Return a loader with one thread; its result is the steps' in 8 bits."""
        data: Any = list(self.files) if storage == "file" else self.packed
        pixels = self.photo.height * self.photo.width
        return Loader(
            data,
            batch_size=max(1, min(8, _MOST_PIXELS_A_BATCH // pixels, len(self.files))),
            transform=transform_of(steps, self.photo) if steps else None,
            threads=1,
            output="numpy",
            layout="hwc",
            **PLANS[plan],
        )


def seconds_per_image(loader: Loader) -> float:
    """Return the time that a whole epoch takes on one core, divided by its images."""
    with pinned_to(1):
        began = time.perf_counter()
        count = sum(len(images) for images in loader)
        return (time.perf_counter() - began) / count


def first_image(loader: Loader) -> Pixels:
    """Return the first image of an epoch."""
    images: Pixels = next(iter(loader))[0]
    return images
