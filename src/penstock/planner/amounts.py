"""Amounts of work, by kind: what a price is paid for.

`Unit` lists the kinds. One more is worth having where two pieces of work that differ in time per
piece cannot be told apart without it; each must be measured by `costs/calibrate.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto, unique
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock._core import Element
from penstock.geometry import Floats, Ints, Sizes


@unique
class Unit(IntEnum):
    """What is counted. A value is one channel of a pixel, a block 8x8 values of a JPEG."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[Any]) -> int:
        del name, start, last_values
        return count  # from 0, since units are places in arrays

    # Python: drawing, lowering, handing over.
    DRAWN_SAMPLE = auto()
    DRAWN_STEP = auto()
    DRAWN_EFFECT = auto()

    # Getting pixels.
    SAMPLE = auto()  # handed to a thread of the core
    FILE = auto()  # opened and read
    FILE_BYTE = auto()
    RECORD = auto()  # found in a mapped file
    RECORD_BYTE = auto()
    JPEG_BYTE = auto()  # entropy-decoded
    JPEG_SCANNED_BLOCK = auto()
    JPEG_BLOCK = auto()  # transformed at full size
    JPEG_BLOCK_TO_4 = auto()  # to 4x4, 2x2 or 1x1 values
    JPEG_BLOCK_TO_2 = auto()
    JPEG_BLOCK_TO_1 = auto()
    LIBJPEG_BYTE = auto()
    LIBJPEG_VALUE = auto()
    TILE = auto()
    TILE_BYTE = auto()
    TILE_BLOCK = auto()
    TILE_BLOCK_TO_4 = auto()
    TILE_BLOCK_TO_2 = auto()
    TILE_BLOCK_TO_1 = auto()
    DECODED_PIXEL = auto()  # made from its components
    WIDENED_VALUE = auto()  # of a component that has fewer
    RAW_PIXEL = auto()
    INFLATED_PIXEL = auto()
    PILLOW_PIXEL = auto()

    # Steps.
    STEP = auto()
    ACROSS_VALUE = auto()  # written by the pass along rows
    ACROSS_TAP = auto()
    DOWN_VALUE = auto()
    DOWN_TAP = auto()
    WOVEN_VALUE = auto()  # rows are woven together if the pass along columns comes first
    COEFFICIENT = auto()  # of a resize
    SINE_COEFFICIENT = auto()  # of those with a sine in them
    MIRRORED_VALUE = auto()
    KEPT_VALUE = auto()  # written to an image between steps
    KEPT_ROW = auto()
    PADDED_VALUE = auto()
    BORDER_VALUE = auto()
    FAR_BYTE = auto()  # read or written in images too large for the core's own cache

    # Effects.
    EFFECT = auto()
    TABLE = auto()  # made, or joined with the one that waits
    TABLE_VALUE = auto()
    MEAN_PIXEL = auto()
    MAPPED_MEAN_PIXEL = auto()  # the same through a table that waits
    EXTREME_VALUE = auto()
    MAPPED_EXTREME_VALUE = auto()
    COUNTED_VALUE = auto()
    SATURATED_PIXEL = auto()
    HUE_PIXEL = auto()
    GRAY_PIXEL = auto()
    SHARPENED_VALUE = auto()
    BLURRED_VALUE = auto()
    BLUR_TAP = auto()  # of a kernel in two directions
    BLUR_WEIGHT = auto()  # of a small kernel, all at once
    BLUR_DOUBT = auto()
    NOISE_VALUE = auto()
    ERASED_VALUE = auto()
    NOISE_ERASED_VALUE = auto()
    BORDERED_PIXEL = auto()  # a warp's source
    SHIFTED_VALUE = auto()  # warps that move whole rows or columns
    AFFINE_NEAREST_PIXEL = auto()
    AFFINE_BILINEAR_PIXEL = auto()
    AFFINE_BICUBIC_PIXEL = auto()
    AFFINE_ROUNDED_PIXEL = auto()
    PERSPECTIVE_NEAREST_PIXEL = auto()
    PERSPECTIVE_BILINEAR_PIXEL = auto()
    PERSPECTIVE_BICUBIC_PIXEL = auto()
    FIELD_PIXEL = auto()  # displacements of an elastic effect
    FIELD_TAP = auto()
    DISPLACED_NEAREST_PIXEL = auto()
    DISPLACED_BILINEAR_PIXEL = auto()
    DISPLACED_BICUBIC_PIXEL = auto()
    COPIED_VALUE = auto()
    MIXED_VALUE = auto()

    # The final pass.
    UINT8_VALUE = auto()
    FLOAT16_VALUE = auto()
    BFLOAT16_VALUE = auto()
    FLOAT32_VALUE = auto()
    INTERLEAVED_VALUE = auto()  # on top of it, channels last


FINAL_UNIT = {
    Element.UINT8: Unit.UINT8_VALUE,
    Element.FLOAT16: Unit.FLOAT16_VALUE,
    Element.BFLOAT16: Unit.BFLOAT16_VALUE,
    Element.FLOAT32: Unit.FLOAT32_VALUE,
}

Amount: TypeAlias = "npt.NDArray[Any] | float"


@dataclass(frozen=True, slots=True)
class WorkPart:
    """One piece of work of a plan, such as a resize, for all samples that have it."""

    name: str
    rows: Ints  # the samples that have it
    sizes: Sizes  # of their images before it
    amounts: tuple[tuple[Unit | Ints, Amount], ...]  # each with a value per row, or one for all


@dataclass(frozen=True, slots=True)
class Work:
    """All work of a plan on some samples, piece by piece in its order."""

    samples: int
    parts: tuple[WorkPart, ...]

    @property
    def amounts(self) -> Floats:
        """How much of each unit every sample takes: (samples, units)."""
        total = np.zeros((self.samples, len(Unit)))
        for part in self.parts:
            for unit, amount in part.amounts:
                total[part.rows, unit] += amount
        return total


# Images larger than this do not stay in a core's own cache between one pass and the next.
_NEAR_BYTES = 1 << 20


def far_bytes(values: Floats, sizes: Sizes, channels: Floats | Ints) -> Floats:
    """As many bytes as there are `values`, where they belong to an image that is too large."""
    is_far = sizes.height * sizes.width * channels > _NEAR_BYTES
    return np.asarray(values * is_far, dtype=np.float64)


class WorkList:
    """Collects pieces of work."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._parts: list[WorkPart] = []

    def add(
        self, name: str, rows: Ints, sizes: Sizes, *amounts: tuple[Unit | Ints, Amount]
    ) -> None:
        """Add a piece that the samples in `rows` have; all arrays have a row for each of those.

        A unit may be an array too, if samples pay in different ones.
        """
        if len(rows):
            self._parts.append(WorkPart(name, rows, sizes, amounts))

    def finish(self) -> Work:
        """All of it."""
        return Work(self._samples, tuple(self._parts))
