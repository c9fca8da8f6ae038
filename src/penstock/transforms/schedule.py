"""Schedules of augmentation: which ops, how likely and how strong, from which epoch on.

A JSON or TOML file with the keys

    epochs   how many epochs the schedule is made for
    counts   how likely no op, one op, two ops ... are for an image
    stages   a list, each {"from_epoch": N, "ops": [[name, probability, level of 10], ...]}
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from penstock.errors import TransformError
from penstock.transforms.arguments import read_integer, read_number, read_numbers
from penstock.transforms.level_space import MOST_LEVEL

EXAMPLE = Path(__file__).with_name("schedules") / "example.json"


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
        """The stage of an epoch; the last one goes on for ever."""
        return [stage for stage in self.stages if stage.from_epoch <= epoch][-1]


def read_schedule(where: str, path: str | PathLike[str], known: Sequence[str]) -> Schedule:
    """Read a file whose ops are among `known`."""
    where = f"{where}: {fspath(path)}"
    content = _load(where, Path(path))
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
            tuple(_read_op(where, op, known) for op in stage["ops"]),
        )
        for stage in given
    )
    starts = [stage.from_epoch for stage in stages]
    if starts[0] != 0 or starts != sorted(set(starts)):
        raise TransformError(
            f"{where}: stages must begin at epoch 0 and be in order, got from_epoch {starts}."
        )
    return stages


def _read_op(where: str, given: Any, known: Sequence[str]) -> ScheduledOp:
    if not isinstance(given, list) or len(given) != 3:
        raise TransformError(f"{where}: an op must be [name, probability, level], got {given!r}.")
    name, probability, level = given
    if name not in known:
        raise TransformError(f"{where}: unknown op {name!r}. Known are {', '.join(known)}.")
    return ScheduledOp(
        name,
        read_number(where, f"probability of {name}", probability, least=0, most=1),
        read_number(where, f"level of {name}", level, least=0, most=MOST_LEVEL),
    )
