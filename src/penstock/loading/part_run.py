"""A part of a batch on its way through the native core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock._core import EnginePart
from penstock.geometry import Size, Sizes
from penstock.loading.batch import Part
from penstock.loading.fetch import Positions
from penstock.loading.part_targets import MovingMasks, PartTargets
from penstock.loading.stretch import Ready
from penstock.planner.rules.rule import Rule
from penstock.transforms.moves import Move


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn for some samples, whose images have `sizes` before it."""

    positions: Positions
    sizes: Sizes
    moves: tuple[Move, ...]
    moving: MovingMasks | None


class PartRun:
    """A part under way: its counterpart in the core, and what has failed so far."""

    def __init__(
        self, part: Part, engine_part: EnginePart, beside: PartTargets, rules: tuple[Rule, ...]
    ) -> None:
        self.part = part
        self.engine_part = engine_part
        self.beside = beside
        self.rules = rules  # that rewrite what is drawn
        self.failed: dict[int, str] = {}
        self.settled = False  # whether it is known where each sample's pixels come from
        self.ready: Ready | None = None  # all that is to be done, where that is known beforehand
        self.ahead: Drawn | None = None  # what was drawn for the next segment already
        # For reuse, by position: the images after the first part, sizes before its segments.
        self.first_pixels: dict[int, npt.NDArray[np.uint8]] = {}
        self.first_sizes: list[dict[int, Size]] = []

    def alive(self) -> Positions:
        """Items that have not failed."""
        every = np.arange(len(self.part.slots), dtype=np.int32)
        return every if not self.failed else every[~np.isin(every, list(self.failed))]

    def sizes(self, positions: Positions) -> Sizes:
        """Sizes of these samples' images as they are now."""
        height, width = self.engine_part.height[positions], self.engine_part.width[positions]
        return Sizes(height.astype(np.int64), width.astype(np.int64))
