"""Which sample comes when: the order of an epoch, and each rank's share of it.

Both are arithmetic, not lists: a billion samples take no memory and no time to start,
and to resume it is enough to know how far the epoch had got.
"""

from __future__ import annotations

import math

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.rng import ORDER_STREAM, Draws, Words, check_key, multiply_high

# Tiny data sets need the most rounds before every order is equally likely.
_ROUNDS = 16
_MULTIPLIERS = np.array([0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53], dtype=np.uint64)
_33 = np.uint64(33)
_PIECE = 1 << 15


class Order:
    """A permutation of `length` samples for one pass of an epoch, computed on demand.

    A Feistel network over pairs (left, right) of a grid a little larger than `length`
    (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002);
    a position that lands outside is sent through again until it is inside.
    """

    __slots__ = ("_keys", "_left_count", "_right_count", "length", "shuffle")

    def __init__(self, length: int, seed: int, epoch: int, shuffle: bool, turn: int = 0) -> None:
        if length < 1:
            raise LoaderError(f"An order needs at least one sample, got {length}.")
        check_key(seed, epoch)
        self.length = length
        self.shuffle = shuffle
        self._left_count = np.uint64(math.isqrt(length - 1) + 1)
        self._right_count = np.uint64(-(-length // int(self._left_count)))
        rounds = np.arange(turn * _ROUNDS, (turn + 1) * _ROUNDS, dtype=np.int64)
        self._keys = Draws(seed, epoch, rounds, ORDER_STREAM).bits()[0]

    def at(self, positions: Ints) -> Ints:
        """The samples at `positions`, each between 0 and length - 1."""
        if not self.shuffle:
            return positions
        cells = self._permute_grid(positions.astype(np.uint64))
        outside = cells >= self.length
        while outside.any():
            cells[outside] = self._permute_grid(cells[outside])
            outside = cells >= self.length
        samples: Ints = cells.astype(np.int64)
        return samples

    def all(self) -> Ints:
        """All samples; piece by piece, so that what is in between stays in the CPU's cache."""
        samples = np.empty(self.length, dtype=np.int64)
        for begin in range(0, self.length, _PIECE):
            piece = samples[begin : begin + _PIECE]
            piece[:] = self.at(np.arange(begin, begin + len(piece)))
        return samples

    def _permute_grid(self, cells: Words) -> Words:
        left, right = cells // self._right_count, cells % self._right_count
        for left_key, right_key in self._keys.reshape(-1, 2):
            left = _shift(left, right ^ left_key, self._left_count)
            right = _shift(right, left ^ right_key, self._right_count)
        permuted: Words = left * self._right_count + right
        return permuted


def at_many(positions: Ints, lengths: Ints, turns: Ints, seed: int, epoch: int) -> Ints:
    """What `Order(length, seed, epoch, True, turn).at(position)` is, for many orders at once."""
    lefts = np.sqrt(lengths - 1).astype(np.uint64) + np.uint64(1)
    counts = lengths.astype(np.uint64)
    rights = (counts + lefts - np.uint64(1)) // lefts
    chosen, which = np.unique(turns, return_inverse=True)
    rounds = (chosen[:, None] * _ROUNDS + np.arange(_ROUNDS)).reshape(-1)
    keys = Draws(seed, epoch, rounds, ORDER_STREAM).bits()[0].reshape(-1, _ROUNDS)
    cells = _many_grids(positions.astype(np.uint64), lefts, rights, keys[which])
    outside = cells >= counts
    while outside.any():
        cells[outside] = _many_grids(
            cells[outside], lefts[outside], rights[outside], keys[which[outside]]
        )
        outside = cells >= counts
    return cells.astype(np.int64)


def _many_grids(cells: Words, lefts: Words, rights: Words, keys: Words) -> Words:
    left, right = cells // rights, cells % rights
    for turn in range(0, _ROUNDS, 2):
        left = _shift(left, right ^ keys[:, turn], lefts)
        right = _shift(right, left ^ keys[:, turn + 1], rights)
    permuted: Words = left * rights + right
    return permuted


class Shard:
    """The positions of an epoch that one of several ranks takes.

    As torch's DistributedSampler: every rank gets the same number; the last ones wrap round to the
    start of the epoch or, with `drop_last`, the samples left over are skipped.
    """

    __slots__ = ("_count", "length", "rank", "world_size")

    def __init__(
        self, length: int, rank: int = 0, world_size: int = 1, drop_last: bool = False
    ) -> None:
        if length < 1:
            raise LoaderError(f"A shard needs at least one sample to share, got {length}.")
        if world_size < 1:
            raise LoaderError(f"world_size must be at least 1, got {world_size}.")
        if not 0 <= rank < world_size:
            raise LoaderError(
                f"rank must be between 0 and world_size - 1 = {world_size - 1}, got {rank}."
            )
        self.length = length
        self.rank = rank
        self.world_size = world_size
        self._count = length // world_size if drop_last else -(-length // world_size)

    def __len__(self) -> int:
        return self._count

    def positions(self, start: int, count: int) -> Ints:
        """This rank's positions number `start` to `start + count`, fewer at the epoch's end."""
        stop = min(start + count, self._count)
        steps = np.arange(start, stop, dtype=np.int64)
        return (self.rank + steps * self.world_size) % self.length


def _shift(half: Words, keyed_other: Words, count: Words | np.uint64) -> Words:
    """Add a number in [0, count) that depends on the other half, modulo count."""
    shifted: Words = (half + multiply_high(_mix(keyed_other), count)) % count
    return shifted


def _mix(words: Words) -> Words:
    """Spread every bit over the word (the finaliser of MurmurHash3)."""
    for multiplier in _MULTIPLIERS:
        words = (words ^ (words >> _33)) * multiplier
    mixed: Words = words ^ (words >> _33)
    return mixed
