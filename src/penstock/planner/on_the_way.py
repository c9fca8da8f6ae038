"""The effects that the pass which writes a step's result does beside it, for the cost model.

They are what comes first after the step: tables that are the same for every image, and one move of
rows. This follows cpp/engine/on_the_way.cpp.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from penstock._core import Effect
from penstock.geometry import Bools, Floats, Ints
from penstock.planner.step_pixels import BatchStep


class Parameters(Protocol):
    """A parameter of all samples, as an effect has it, in a slot that may have another."""

    def __call__(self, effect: Effect, name: str, slot: int) -> Floats:
        """Return it."""


class OnTheWay:
    """Which they are, of a batch's effects: (samples, slots) as `kind` and `step` of each."""

    def __init__(
        self,
        kind: Ints,
        step: Ints,
        tables: Bools,
        sizes: tuple[Ints, Ints],
        pads: Bools,
        parameters: Parameters,
    ) -> None:
        self._kind = kind
        self._pads = pads  # (samples, steps): which steps add a border, and move no rows
        self._step = step
        self._sizes = sizes  # heights and widths after each
        self._parameters = parameters
        self.does = np.zeros(kind.shape, dtype=np.bool_)
        moved = np.zeros(len(kind), dtype=np.bool_)
        goes_on = np.ones(len(kind), dtype=np.bool_)
        for slot in range(kind.shape[1]):
            if slot > 0:
                is_next = step[:, slot] != step[:, slot - 1]
                moved, goes_on = moved & ~is_next, goes_on | is_next
            moves = self._moves_rows(slot) & ~moved & ~self._follows_border(slot)
            goes_on = goes_on & (tables[:, slot] | moves)
            moved = moved | (goes_on & moves)
            self.does[:, slot] = goes_on

    def _moves_rows(self, slot: int) -> Bools:
        """Where an affine warp moves rows of an image, and some of it stays."""
        matrix = self._parameters(Effect.AFFINE, "matrix", slot)
        a, b, c, d, e, f = matrix.T
        by_whole_pixels = (b == 0) & (np.floor(c) == c) & (np.floor(f) == f)
        shears = (b != 0) & (self._parameters(Effect.AFFINE, "filter", slot) == 0)
        is_plain = self._parameters(Effect.AFFINE, "rounded", slot) == 0
        is_plain &= ~self._parameters(Effect.AFFINE, "frame", slot).any(axis=1)
        heights, widths = self._sizes
        stays = (np.abs(f) < heights[:, slot]) & ((np.abs(c) < widths[:, slot]) | (b != 0))
        moves = (a == 1) & (d == 0) & (e == 1) & (by_whole_pixels | shears) & is_plain & stays
        return np.asarray(moves & (self._kind[:, slot] == Effect.AFFINE))

    def _follows_border(self, slot: int) -> Bools:
        steps = np.maximum(self._step[:, slot], 0)  # of no effect, or of a finished image: any
        return np.asarray(self._pads[np.arange(len(steps)), steps])

    def narrow(self, number: int, rows: Ints, step: BatchStep) -> None:
        """Leave out of a step's window what moves out of sight."""
        for slot in range(self._kind.shape[1]):
            moves = self.does[rows, slot] & (self._kind[rows, slot] == Effect.AFFINE)
            moves &= self._step[rows, slot] == number
            if not moves.any():
                continue
            _, b, c, _, _, f = self._parameters(Effect.AFFINE, "matrix", slot)[rows].T
            down = np.where(moves, f, 0).astype(np.int64)
            across = np.where(moves & (b == 0), c, 0).astype(np.int64)
            step.window_top = step.window_top + np.maximum(down, 0)
            step.window_left = step.window_left + np.maximum(across, 0)
            step.window_height = step.window_height - np.abs(down)
            step.window_width = step.window_width - np.abs(across)
