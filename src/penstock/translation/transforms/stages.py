"""A pipeline while it is put together: what images are at this point, and the steps so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

import numpy as np

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.planner.plan import as_written


class Stage(Enum):
    """What an image is for the next transform."""

    PILLOW = "a Pillow image"
    ARRAY = "a NumPy array"
    FLOAT_ARRAY = "a floating-point array"
    BYTES = "a uint8 tensor"
    NUMBERS = "a floating-point tensor"


class StageError(TransformError):
    """A step meets something else than it takes."""


@dataclass(slots=True)
class Pipeline:
    """Steps on pixels, steps on values, and rectangles erased behind those."""

    for_loader: bool = False  # which has no strict=, and calls nothing but the user's functions
    has_targets: bool = False  # boxes that follow the image
    has_whole_boxes: bool = False  # some of them int64, which torchvision cuts off after every step
    time_native: Callable[[Any], float | None] | None = None  # microseconds of one of ours
    stage: Stage = Stage.PILLOW
    is_lost: bool = False  # what `stage` is cannot be told, after a step that is not known
    is_gray: bool = False  # one channel, which ours has three times
    is_normalised: bool = False
    ops: list[Any] = field(default_factory=list)
    final: list[Any] = field(default_factory=list)
    erasings: list[T.RandomErasing] = field(default_factory=list)

    def add(self, op: Any) -> None:
        """Append a step on pixels."""
        self.ops.append(op)

    def add_values(self, op: Any) -> None:
        """Append a step on values, after which an image is numbers."""
        self.final.append(op)
        self.stage = Stage.NUMBERS

    def normalise(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """Append Normalize; what was erased before is normalised too."""
        op = T.Normalize(mean, std)
        self.erasings = [_normalised(erasing, op) for erasing in self.erasings]
        self.add_values(op)
        self.is_normalised = True

    @property
    def layout(self) -> Literal["chw", "hwc"]:
        """How values lie in a batch: an array's channels come last, a tensor's first."""
        return "hwc" if self.stage in (Stage.ARRAY, Stage.FLOAT_ARRAY) else "chw"

    def transform(self) -> Any:
        """Return all of it as one transform, checked; None if nothing is to be done."""
        steps = [*self.ops, *self.final, *self.erasings]
        whole = T.Compose(steps) if steps else None
        as_written(whole)
        return whole


def _normalised(erasing: T.RandomErasing, op: T.Normalize) -> T.RandomErasing:
    if isinstance(erasing.value, str):
        raise TransformError("noise is erased with before it is normalised; ours comes after")
    given = erasing.value if isinstance(erasing.value, Sequence) else (erasing.value,)
    values = np.broadcast_to(np.array(given, np.float32), 3)
    mean, std = np.array(op.channel_mean, np.float32), np.array(op.channel_std, np.float32)
    return replace(erasing, value=tuple(((values - mean) / std).tolist()))
