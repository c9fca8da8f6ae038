"""From finished values back to levels: what an image was before ToDtype and Normalize."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import Element
from penstock.transforms.values import FinalSpec, Layout


@dataclass(frozen=True, slots=True)
class Levels:
    """The images of a batch, as they lie in its memory."""

    images: list[list[npt.NDArray[Any]]]  # by image and view
    finals: tuple[FinalSpec, ...]  # what made their values, by view
    layout: Layout

    @property
    def views(self) -> int:
        """How many there are of each sample."""
        return len(self.finals)

    def of(self, position: int, view: int) -> npt.NDArray[np.uint8]:
        """Return one image in levels: (height, width, 3)."""
        stored, final = self.images[position][view], self.finals[view]
        values = stored if self.layout == "hwc" else stored.transpose(1, 2, 0)
        if final.element == Element.UINT8:
            levels: npt.NDArray[np.uint8] = values.copy()
            return levels
        if final.element == Element.BFLOAT16:  # the upper half of a float32
            bits = values.astype(np.uint16).astype(np.uint32) << 16
            values = bits.view(np.float32)
        return before_final(values.astype(np.float32), final)


def before_final(finished: npt.NDArray[np.float32], final: FinalSpec) -> npt.NDArray[np.uint8]:
    """The image that the final pass would turn into `finished`, as far as levels can say.

    It is (height, width, 3). Values that stand for no level become the nearest one.
    """
    centred = finished / np.array(final.gain) * np.array(final.std)
    levels = (centred + np.array(final.mean)) * final.divisor / final.scale
    rounded: npt.NDArray[np.uint8] = np.nan_to_num(np.rint(levels)).clip(0, 255).astype(np.uint8)
    return rounded
