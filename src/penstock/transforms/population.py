"""Population Based Augmentation: ops whose odds and strengths follow a schedule over epochs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from os import PathLike

import numpy as np

from penstock.geometry import Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Fill, read_fill, read_integer
from penstock.transforms.effects import EffectMove
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.level_space import population_ops
from penstock.transforms.op import ImageOp
from penstock.transforms.policy_ops import NOTHING, Scene, draw_signs, policy_move
from penstock.transforms.schedule import EXAMPLE, Schedule, Stage, read_schedule

_WHERE = "PopulationBasedAugment"
_CIFAR10_MEAN = (125, 122, 113)


@dataclass(frozen=True, slots=True, repr=False)
class PopulationBasedAugment(ImageOp):
    """Do a few ops, in random order, out of those that a schedule has for the epoch (Ho, 2019).

    `schedule` is a JSON or TOML file, described in docs/augmentations.md; None is a small example
    that comes with penstock. `epochs`, the length of your training, stretches the schedule to it.
    `interpolation` is for the ops that move pixels, `fill` (None: the mean colour of CIFAR-10, as
    published) for them and for cutouts.
    """

    schedule: str | PathLike[str] | None = None
    epochs: int | None = None
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fill = None
    _schedule: Schedule = field(init=False, repr=False, compare=False)
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [op.name for op in population_ops()]
        path = EXAMPLE if self.schedule is None else self.schedule
        if self.epochs is not None:
            read_integer(_WHERE, "epochs", self.epochs, least=1)
        self._keep(
            _schedule=read_schedule(_WHERE, path, names),
            _filter=read_warp_interpolation(_WHERE, self.interpolation),
            _colour=read_fill(_WHERE, _CIFAR10_MEAN if self.fill is None else self.fill),
        )

    def describe(self, epoch: int) -> str:
        """What is done in an epoch, as lines of text."""
        stage = self.stage_at(epoch)
        counts = ", ".join(
            f"{number} with probability {p:g}" for number, p in enumerate(self._schedule.counts)
        )
        began, length = stage.from_epoch, self._schedule.epochs
        lines = [
            f"Epoch {epoch}: the stage from epoch {began} of a schedule over {length}.",
            f"Ops an image: {counts}.",
            f"{'op':<14}{'probability':>12}{'level of 10':>13}",
        ]
        lines += [f"{op.name:<14}{op.probability:>12g}{op.level:>13g}" for op in stage.ops]
        return "\n".join(lines)

    @property
    def stage_starts(self) -> tuple[int, ...]:
        """The epochs of the training at which something changes."""
        starts = (stage.from_epoch for stage in self._schedule.stages)
        if self.epochs is None:
            return tuple(starts)
        return tuple(-(-start * int(self.epochs) // self._schedule.epochs) for start in starts)

    def stage_at(self, epoch: int) -> Stage:
        """The schedule's stage for an epoch of the training."""
        if self.epochs is not None:
            epoch = epoch * self._schedule.epochs // int(self.epochs)
        return self._schedule.stage_at(epoch)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """How many ops, an order, which would happen; the first of those are done."""
        ops = population_ops()
        stage = self.stage_at(draws.epoch)
        numbers = {op.name: number for number, op in enumerate(ops)}
        op_of = np.array([numbers[op.name] for op in stage.ops], dtype=np.int64)
        level_of = np.array([op.level for op in stage.ops])
        moves = []
        for entry in self._draw_entries(draws, stage):
            draws.reserve(3)
            nothing = entry == NOTHING
            chosen = np.where(nothing, NOTHING, op_of[entry]) if len(op_of) else entry
            levels = level_of[entry] if len(op_of) else np.zeros(len(sizes))
            filters = np.full(len(sizes), self._filter)
            signs = draw_signs(draws)
            scene = Scene(sizes, filters, self._colour, draws.units(2))
            moves.append(policy_move(ops, chosen, levels, signs, scene))
        return tuple(moves)

    def _draw_entries(self, draws: Draws, stage: Stage) -> list[Ints]:
        """For each turn the number of a stage's op, or NOTHING, for each sample."""
        limits = list(accumulate(self._schedule.counts))[:-1]
        count = len(stage.ops)
        draws.reserve(1 + 2 * count)
        wanted = np.searchsorted(limits, draws.uniform(), side="right")
        order = draws.orders(count)
        odds = np.array([op.probability for op in stage.ops])
        happens = draws.units(count) < odds[:, None]
        in_order = np.take_along_axis(happens, order, axis=0)
        so_far = in_order.cumsum(axis=0)
        entries = []
        for turn in range(1, len(self._schedule.counts)):
            is_it = in_order & (so_far == turn)
            entry = np.where(is_it, order, 0).sum(axis=0)
            done = is_it.any(axis=0) & (turn <= wanted)
            entries.append(np.where(done, entry, NOTHING))
        return entries
