"""Shuffling in windows of blocks: what lies together is read together, and mixed with others.

An epoch has the blocks of the data set in an order of its own; so many of them at a time are a
window, whose samples come in an order of their own. Each rank has windows of its own, so that no
block is read by two of them, but for those at the borders.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.sampler import Order, at_many
from penstock.loading.sampling.asked import Asked, check_room, read_count, refuse_length
from penstock.loading.sampling.sampling import Sampling
from penstock.loading.selection import EpochOrder, Picked, repeats
from penstock.rng import REPEAT_SHIFT

_WHERE = "WindowShuffle"
_FIGURE_BATCHES = 32  # that the figure of quality is the mean of


@dataclass(frozen=True)
class WindowShuffle(Sampling):
    """Shuffles windows of `blocks` blocks, for data that is far away or does not fit into memory.

    A block is what a packed file reads at once, some 4 MB; with `block_samples`, or for data that
    has no blocks, it is so many samples that follow one another. The more blocks, the nearer to a
    global shuffle, and the more memory: see `describe_sampling` for a figure of it.
    """

    blocks: int = 64
    block_samples: int | None = None

    def __post_init__(self) -> None:
        read_count(_WHERE, "blocks", self.blocks)
        if self.block_samples is not None:
            read_count(_WHERE, "block_samples", self.block_samples)

    def select(self, asked: Asked) -> WindowSelection:
        """Return the samples of every epoch."""
        refuse_length(_WHERE, asked)
        check_room(_WHERE, asked.facts.length)
        if not asked.shuffle:
            raise LoaderError(f"{_WHERE}: is a way of shuffling. Give shuffle=True, too.")
        firsts = self._firsts(asked)
        samples = None if asked.indices is None else np.sort(asked.indices)
        edges = np.append(firsts, asked.facts.length)
        if samples is not None:
            edges = np.unique(np.searchsorted(samples, edges))
        return WindowSelection(
            self,
            asked.facts.length,
            samples,
            None if samples is None else repeats(samples),
            edges.astype(np.int64),
            asked.seed,
            asked.batch_size,
            asked.world_size,
            asked.facts.read_labels,
        )

    def _firsts(self, asked: Asked) -> Ints:
        if self.block_samples is not None:
            return np.arange(0, asked.facts.length, self.block_samples)
        read_blocks = asked.facts.read_blocks
        firsts = None if read_blocks is None else read_blocks()
        if firsts is None:
            raise LoaderError(
                f"{_WHERE}: {asked.facts.described} has no blocks of its own; only packed files of "
                "version 2 have. Say how many samples make one: block_samples=64. Or pack again."
            )
        return firsts


@dataclass(frozen=True, slots=True, eq=False)
class WindowSelection:
    """Blocks and windows of an epoch; block b has entries edges[b] to edges[b + 1] of the list."""

    asked: WindowShuffle
    length: int  # of the data set
    samples: Ints | None  # that take part, ascending; None: all
    times: Ints | None  # how often each entry's sample was listed before; None: never
    edges: Ints
    seed: int
    batch_size: int
    world_size: int
    read_labels: Callable[[], Any]  # of the data set; only asked for a figure of quality

    @property
    def listed(self) -> int:
        """How many samples take part."""
        return int(self.edges[-1])

    def __len__(self) -> int:
        return self.listed

    def shared(self, batch_size: int, world_size: int) -> WindowSelection:
        """Return the same for so many ranks."""
        return replace(self, batch_size=batch_size, world_size=world_size)

    def epoch(self, number: int) -> EpochOrder:
        """Return the samples of one epoch."""
        return _WindowEpoch(self, number)

    def describe(self) -> str:
        """Return how large windows are, and how well they mix."""
        blocks, window = len(self.edges) - 1, self.asked.blocks
        some = "" if self.samples is None else f"{self.listed:,} of {self.length:,} samples, "
        in_window = self.listed * min(window, blocks) / max(blocks, 1)
        return (
            f"{some}shuffled in windows of {min(window, blocks):,} of {blocks:,} blocks, about "
            f"{in_window:,.0f} samples; {self._mixing()}"
        )

    def _mixing(self) -> str:
        """Return a figure of quality: what a batch has, beside what a global shuffle would give."""
        batch = min(self.batch_size, self.listed)
        count = min(_FIGURE_BATCHES, max(1, self.listed // (batch * self.world_size)))
        order = self.epoch(0)
        labels = self.read_labels()
        if np.ndim(labels) != 1:  # there are none, or several for a sample
            labels = None
        kind = "blocks" if labels is None else "classes"
        mine, best = [], []
        everywhere = Order(self.listed, self.seed, 0, shuffle=True)
        # Batches of one rank, spread over the epoch.
        for begin in np.linspace(0, self.listed // self.world_size - batch, count).astype(int):
            steps = (begin + np.arange(batch)) * self.world_size
            mine.append(self._kinds(order.at(steps).samples, labels))
            places = everywhere.at(steps)
            samples = places if self.samples is None else self.samples[places]
            best.append(self._kinds(samples, labels))
        return (
            f"a batch has {np.mean(mine):.3g} different {kind} on average, where a global shuffle "
            f"has {np.mean(best):.3g}"
        )

    def _kinds(self, samples: Ints, labels: Any) -> int:
        if labels is not None:
            return len(np.unique(np.asarray(labels)[samples]))
        places = samples if self.samples is None else np.searchsorted(self.samples, samples)
        return len(np.unique(np.searchsorted(self.edges, places, side="right")))

    def allowed(self) -> Ints | None:
        """Return the samples that take part."""
        return None if self.samples is None else np.unique(self.samples)

    def fingerprint(self) -> int:
        """Return a checksum of blocks, windows and ranks, all of which the order depends on."""
        numbers = np.array((self.asked.blocks, self.world_size), dtype=np.int64)
        found = 3
        for part in (self.samples, self.edges, numbers):
            if part is not None:
                found = zlib.crc32(np.ascontiguousarray(part).data, found)
        return found


class _WindowEpoch:
    """Where each position of an epoch leads; takes a few numbers for each block."""

    def __init__(self, selection: WindowSelection, number: int) -> None:
        self._selection = selection
        self._number = number
        blocks = len(selection.edges) - 1
        order = Order(blocks, selection.seed, number, shuffle=True).all()
        sizes = np.diff(selection.edges)[order]
        self._block_ends = np.cumsum(sizes)
        self._shifts = selection.edges[order] - (self._block_ends - sizes)
        # Positions p, p + ranks, p + 2 ranks ... are one rank's: they make one stretch of blocks.
        ranks = np.arange(selection.world_size)
        counts = (len(selection) - ranks + selection.world_size - 1) // selection.world_size
        ends = np.cumsum(counts)
        self._stretches = ends - counts
        window_ends = self._block_ends[selection.asked.blocks - 1 :: selection.asked.blocks]
        self._window_ends = np.unique(np.concatenate([window_ends, ends, self._block_ends[-1:]]))
        self._window_ends = self._window_ends[self._window_ends > 0]

    def __len__(self) -> int:
        return len(self._selection)

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions."""
        selection = self._selection
        ranks, steps = positions % selection.world_size, positions // selection.world_size
        places = self._stretches[ranks] + steps
        windows = np.searchsorted(self._window_ends, places, side="right")
        begins = np.concatenate([[0], self._window_ends])[windows]
        lengths = self._window_ends[windows] - begins
        mixed = begins + at_many(
            places - begins, lengths, windows + 1, selection.seed, self._number
        )
        blocks = np.searchsorted(self._block_ends, mixed, side="right")
        entries = mixed + self._shifts[blocks]
        samples = entries if selection.samples is None else selection.samples[entries]
        if selection.times is None:
            return Picked(samples, samples)
        return Picked(samples, samples | selection.times[entries] << REPEAT_SHIFT)
