"""Times effects as the engine runs them: a part of images, one thread, to float32."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import BatchRing, Effect, Element, Engine, Format
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from penstock.transforms import IMAGENET_MEAN, IMAGENET_STD
from penstock.transforms.effects import same_effect

Pixels = npt.NDArray[np.uint8]
EffectCall = tuple[Effect, dict[str, Any]]


def erasing(top: int, left: int, height: int, width: int) -> EffectCall:
    """Return an effect that paints a rectangle black."""
    box = {"top": top, "left": left, "height": height, "width": width}
    return Effect.ERASE, {**box, "value": (0, 0, 0), "by_noise": False}


# Erases nothing, but takes the image out of the fused pass as any effect does.
EMPTY = erasing(0, 0, 0, 0)

TIMEOUT_S = 60.0


class EngineTimer:
    """Photos of one size in a part; the time of a program on them is that of an image."""

    def __init__(self, photos: Sequence[Pixels]) -> None:
        self._count = len(photos)
        self._height, self._width = photos[0].shape[:2]
        self._sizes = Sizes(
            np.full(self._count, self._height, dtype=np.int64),
            np.full(self._count, self._width, dtype=np.int64),
        )
        self._samples = np.arange(self._count, dtype=np.int32)
        self._engine = Engine(1, 1)
        self._buffer = BatchRing(1).take(self._count * 3 * self._height * self._width * 4)
        self._format = Format(
            Element.FLOAT32, "chw", 1 / 255, list(IMAGENET_MEAN), list(IMAGENET_STD)
        )
        image_bytes = 3 * self._height * self._width * 4
        self._offsets = np.arange(self._count, dtype=np.int64) * image_bytes
        self._part = self._engine.begin(0, self._count)
        for sample, photo in enumerate(photos):
            self._part.set_pixels(sample, photo)

    def microseconds(self, effects: Sequence[EffectCall]) -> float:
        """Run the effects once on every photo, from pixels to the normalised batch."""
        moves = [same_effect(effect, self._sizes, **parameters) for effect, parameters in effects]
        programs = lower(moves, self._sizes).programs()
        started = time.perf_counter()
        self._part.run(self._samples, programs, self._buffer, self._offsets, self._format)
        self._part.wait(TIMEOUT_S)
        return (time.perf_counter() - started) / self._count * 1e6
