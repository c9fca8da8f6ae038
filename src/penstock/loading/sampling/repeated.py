"""Repeated augmentation: several differently augmented copies of a sample in one step.

Hoffer et al., "Augment your batch", 2020; Touvron et al., "Training data-efficient image
transformers", 2021. Each rank sees another copy, and an epoch stays about as long as before.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.sampler import Order
from penstock.loading.sampling.asked import Asked, check_room, read_count, refuse_length
from penstock.loading.sampling.sampling import Sampling
from penstock.loading.selection import EpochOrder, Picked, repeats
from penstock.rng import REPEAT_SHIFT

_WHERE = "RepeatedAugmentation"
_MOST_REPEATS = 1 << 16


@dataclass(frozen=True)
class RepeatedAugmentation(Sampling):
    """Takes each sample `repeats` times in a row, and deals them to the ranks in turn.

    Every copy is augmented anew. The numbers are those of timm's RepeatAugSampler: each rank has
    the data set's length, cut to a multiple of `selected_round`, divided by `selected_ratio`; a
    ratio of 0 is the number of ranks, and a round of 0 cuts nothing. So an epoch sees about one in
    `repeats` of the samples. `repeats` may be a fraction, such as 1.5.
    """

    repeats: float = 3
    selected_round: int = 256
    selected_ratio: float = 0

    def __post_init__(self) -> None:
        for name, least in (("repeats", 1.0), ("selected_ratio", 0.0)):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not least <= value <= _MOST_REPEATS:
                raise LoaderError(f"{_WHERE}: {name} must be from {least:g} on, got {value!r}.")
        read_count(_WHERE, "selected_round", self.selected_round, least=0)

    def select(self, asked: Asked) -> RepeatedSelection:
        """Return the samples of every epoch."""
        refuse_length(_WHERE, asked)
        check_room(_WHERE, asked.facts.length)
        times = None if asked.indices is None else repeats(asked.indices)
        return RepeatedSelection(
            self,
            asked.facts.length,
            asked.indices,
            times,
            asked.shuffle,
            asked.seed,
            asked.world_size,
        )


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedSelection:
    """Positions p of an epoch are copies of the samples at place p // repeats of the list."""

    asked: RepeatedAugmentation
    length: int  # of the data set
    indices: Ints | None
    times: Ints | None  # how often each entry's sample was listed before; None: never
    shuffle: bool
    seed: int
    world_size: int

    def __post_init__(self) -> None:
        if self.of_rank < 1:
            raise LoaderError(
                f"{_WHERE}: an epoch of {self.listed:,} samples, cut to a multiple of "
                f"selected_round={self.asked.selected_round} and divided by "
                f"{self.asked.selected_ratio or self.world_size:g}, has none left. Lower "
                "selected_round; 0 cuts nothing."
            )

    @property
    def listed(self) -> int:
        """How many samples take part."""
        return self.length if self.indices is None else len(self.indices)

    @property
    def copies(self) -> int:
        """How many copies all samples together have."""
        return math.ceil(self.listed * self.asked.repeats)

    @property
    def of_rank(self) -> int:
        """How many samples each rank has in an epoch."""
        ratio, cut = self.asked.selected_ratio or self.world_size, self.asked.selected_round
        if cut:
            selected = math.floor(self.listed // cut * cut / ratio)
        else:
            selected = math.ceil(self.listed / ratio)
        return min(selected, math.ceil(self.listed * self.asked.repeats / self.world_size))

    def __len__(self) -> int:
        return self.of_rank * self.world_size

    def shared(self, batch_size: int, world_size: int) -> RepeatedSelection:
        """Return the same for so many ranks."""
        del batch_size
        return replace(self, world_size=world_size)

    def epoch(self, number: int) -> EpochOrder:
        """Return the samples of one epoch."""
        return _RepeatedEpoch(self, number)

    def describe(self) -> str:
        """Return how many, and how often each comes."""
        some = "" if self.indices is None else f"{self.listed:,} of {self.length:,} samples, "
        return f"{some}{len(self):,} in an epoch, each {self.asked.repeats:g} times"

    def allowed(self) -> Ints | None:
        """Return the samples in the list."""
        return None if self.indices is None else np.unique(self.indices)

    def fingerprint(self) -> int:
        """Return a checksum of the list and of what is done with it."""
        listed = b"" if self.indices is None else self.indices.tobytes()
        numbers = (self.asked.repeats, self.asked.selected_round, self.asked.selected_ratio)
        return zlib.crc32(listed + np.array(numbers, dtype=np.float64).tobytes(), 2)


class _RepeatedEpoch:
    def __init__(self, selection: RepeatedSelection, number: int) -> None:
        self._selection = selection
        self._order = Order(selection.listed, selection.seed, number, selection.shuffle)

    def __len__(self) -> int:
        return len(self._selection)

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions."""
        selection, each = self._selection, self._selection.asked.repeats
        copies = positions % selection.copies  # what is lacking at the end comes from the start
        listed = (copies // each).astype(np.int64)
        firsts = np.ceil(listed * each).astype(np.int64)
        firsts -= (firsts - 1) // each == listed  # a fraction's product may be rounded up
        turns = copies - firsts
        places = self._order.at(listed)
        samples = places if selection.indices is None else selection.indices[places]
        if selection.times is not None:
            turns = selection.times[places] + turns * (int(selection.times.max()) + 1)
        return Picked(samples, samples | turns << REPEAT_SHIFT)
