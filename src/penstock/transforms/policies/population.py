"""Population Based Augmentation: ops whose odds and strengths follow a schedule over epochs.

A schedule is a JSON or TOML file with the keys

    epochs   how many epochs the schedule is made for
    counts   how likely no op, one op, two ops ... are for an image
    stages   a list, each {"from_epoch": N, "ops": [[name, probability, level of 10], ...]}
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Fill,
    Interpolation,
    InterpolationMode,
    Look,
    read_integer,
    read_look,
    read_number,
    read_numbers,
)
from penstock.transforms.effects import EffectMove
from penstock.transforms.op import ImageOp
from penstock.transforms.policies.ops import NOTHING, draw_signs, make_scene, policy_move, tell_ops
from penstock.transforms.policies.spaces import MOST_LEVEL, population_ops

_WHERE = "PopulationBasedAugment"
_CIFAR10_MEAN = (125, 122, 113)
_EXAMPLE = Path(__file__).with_name("schedules") / "example.json"


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
    _look: Look = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [op.name for op in population_ops()]
        path = _EXAMPLE if self.schedule is None else self.schedule
        fill = _CIFAR10_MEAN if self.fill is None else self.fill
        if self.epochs is not None:
            read_integer(_WHERE, "epochs", self.epochs, least=1)
        self._keep(
            _schedule=read_schedule(_WHERE, path, names),
            _look=read_look(_WHERE, self.interpolation, fill),
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
            f"Ops per image: {counts}.",
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
        """Draw how many ops, an order, and which ops would happen; the first of those are done."""
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
            signs = draw_signs(draws)
            scene = make_scene(sizes, *self._look, draws.units(2))
            move = policy_move(ops, chosen, levels, signs, scene)
            moves.append(tell_ops(draws, ops, chosen, levels, signs, sizes, move))
        return tuple(moves)

    def _draw_entries(self, draws: Draws, stage: Stage) -> list[Ints]:
        """For each turn, and for each sample, the number of an op of the stage, or NOTHING."""
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
            is_this = in_order & (so_far == turn)
            entry = np.where(is_this, order, 0).sum(axis=0)
            done = is_this.any(axis=0) & (turn <= wanted)
            entries.append(np.where(done, entry, NOTHING))
        return entries


@dataclass(frozen=True, slots=True)
class ScheduledOp:
    """One op of a stage; the same name may come several times."""

    name: str
    probability: float
    level: float


@dataclass(frozen=True, slots=True)
class Stage:
    """What is done from some epoch on, until the next stage."""

    from_epoch: int
    ops: tuple[ScheduledOp, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Stages in order, the first from epoch 0."""

    epochs: int
    counts: tuple[float, ...]
    stages: tuple[Stage, ...]

    def stage_at(self, epoch: int) -> Stage:
        """The stage of an epoch; the last stage has no end."""
        return [stage for stage in self.stages if stage.from_epoch <= epoch][-1]


def read_schedule(where: str, path: str | PathLike[str], known: Sequence[str]) -> Schedule:
    """Read a file whose ops are among `known`."""
    where = f"{where}: {fspath(path)}"
    return as_schedule(where, _load(where, Path(path)), known)


def as_schedule(where: str, content: Mapping[str, Any], known: Sequence[str]) -> Schedule:
    """Return what a file contains, checked."""
    try:
        return Schedule(
            epochs=read_integer(where, "epochs", content["epochs"], least=1),
            counts=_read_counts(where, content["counts"]),
            stages=_read_stages(where, content["stages"], known),
        )
    except KeyError as error:
        raise TransformError(f"{where}: the key {error} is missing.") from None


def _load(where: str, path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        loaded = _parse_toml(where, text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        if isinstance(error, TransformError):
            raise
        raise TransformError(f"{where}: cannot be read: {error}.") from error
    if not isinstance(loaded, Mapping):
        raise TransformError(f"{where}: must hold an object with epochs, counts and stages.")
    return loaded


def _parse_toml(where: str, text: str) -> Any:
    try:
        tomllib = importlib.import_module("tomllib")
    except ModuleNotFoundError:
        raise TransformError(
            f"{where}: TOML needs Python 3.11 or later. Write the schedule as JSON."
        ) from None
    return tomllib.loads(text)


def _read_counts(where: str, given: Any) -> tuple[float, ...]:
    counts = read_numbers(where, "counts", given)
    if not counts or min(counts) < 0 or abs(sum(counts) - 1) > 1e-6:
        raise TransformError(
            f"{where}: counts must be probabilities of 0, 1, 2 ... ops that sum to 1, "
            f"got {given!r}."
        )
    return counts


def _read_stages(where: str, given: Any, known: Sequence[str]) -> tuple[Stage, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(s, dict) for s in given):
        raise TransformError(f"{where}: stages must be a list of at least one object.")
    stages = tuple(
        Stage(
            read_integer(where, "from_epoch", stage["from_epoch"], least=0),
            _read_ops(where, stage["ops"], known),
        )
        for stage in given
    )
    starts = [stage.from_epoch for stage in stages]
    if starts[0] != 0 or starts != sorted(set(starts)):
        raise TransformError(
            f"{where}: stages must begin at epoch 0 and be in order, got from_epoch {starts}."
        )
    return stages


def _read_ops(where: str, given: Any, known: Sequence[str]) -> tuple[ScheduledOp, ...]:
    if not isinstance(given, list):
        raise TransformError(f"{where}: ops must be a list, got {given!r}.")
    ops = []
    for entry in given:
        if not isinstance(entry, list) or len(entry) != 3:
            raise TransformError(
                f"{where}: an op must be [name, probability, level], got {entry!r}."
            )
        name, probability, level = entry
        if name not in known:
            raise TransformError(f"{where}: unknown op {name!r}. Known are {', '.join(known)}.")
        probability = read_number(where, f"probability of {name}", probability, least=0, most=1)
        level = read_number(where, f"level of {name}", level, least=0, most=MOST_LEVEL)
        ops.append(ScheduledOp(name, probability, level))
    return tuple(ops)
