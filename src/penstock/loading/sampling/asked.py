"""What a way of sampling is asked: of which data, and how its epochs are shared and cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.sampling.facts import DataFacts
from penstock.rng import REPEAT_SHIFT


@dataclass(frozen=True, slots=True)
class Asked:
    """What whoever samples has said: which samples take part, and how they are shared."""

    facts: DataFacts
    indices: Ints | None  # None: all samples take part
    samples_per_epoch: int | None
    shuffle: bool
    seed: int
    batch_size: int = 1
    drop_last: bool = False
    world_size: int = 1
    skips_bad: bool = False  # whether files that cannot be read are left out

    @property
    def listed(self) -> int:
        """How many samples take part."""
        return self.facts.length if self.indices is None else len(self.indices)

    @property
    def samples(self) -> Ints:
        """The samples that take part."""
        return np.arange(self.facts.length) if self.indices is None else self.indices


def check_room(where: str, length: int) -> None:
    """Raise if the keys of so many samples leave no room for a count of repeats."""
    if length >= 1 << REPEAT_SHIFT:
        raise LoaderError(
            f"{where}: is for fewer than {1 << REPEAT_SHIFT:,} samples, got {length:,}."
        )


def refuse_length(where: str, asked: Asked) -> None:
    """Raise if somebody asked for another length of epochs, where that follows from the data."""
    if asked.samples_per_epoch is not None:
        raise LoaderError(
            f"Loader: samples_per_epoch={asked.samples_per_epoch!r} does not go with {where}, "
            "which decides itself how many samples an epoch has. Leave it out."
        )


def read_count(where: str, name: str, value: Any, least: int = 1) -> int:
    """Read a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise LoaderError(f"{where}: {name} must be a whole number from {least} on, got {value!r}.")
    return value


def samples_in_epoch(where: str, own: int | None, asked: Asked) -> int:
    """How many samples an epoch has: what either side asked for, else those that take part."""
    if None not in (own, asked.samples_per_epoch) and own != asked.samples_per_epoch:
        raise LoaderError(
            f"{where}: samples_per_epoch is {own} there and {asked.samples_per_epoch} in the "
            "Loader. Say it once."
        )
    given = asked.samples_per_epoch if own is None else own
    return asked.listed if given is None else read_count(where, "samples_per_epoch", given)
