"""Random numbers that depend on what they are for, never on when or where they are drawn.

Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) turns a counter
into random bits. The counter says what the number is for, so threads, ranks, resuming and the
planner's order change no draw:

    key      seed, low 32 bits    seed, high 32 bits
    counter  sample, low 32 bits  sample, high 32 bits  epoch  stream << 16 | slot

If a sample comes several times in an epoch, the high 32 bits of its key count the times.
A stream belongs to one step of the user's pipeline; slots number the 128-bit blocks it draws.
A step made of other steps gives each of them a branch: the same counters under another key.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from penstock._core import draw_words
from penstock.errors import LoaderError
from penstock.geometry import Floats, Ints, Sizes

Words = npt.NDArray[np.uint64]

MAX_STREAMS = 0xFFFD  # that a pipeline may have; after them come three for
PHASE_STREAM = MAX_STREAMS  # the epochs in which a reused sample is drawn anew
BATCH_STREAM = MAX_STREAMS + 1  # what is drawn for a finished batch
ORDER_STREAM = MAX_STREAMS + 2  # and the order of samples

_ROUNDS = 10
_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], dtype=np.uint64)
_KEY_OFFSETS = np.outer(
    np.arange(_ROUNDS, dtype=np.uint64), np.array([0x9E3779B9, 0xBB67AE85], dtype=np.uint64)
)
_BRANCH = 0x6272616E  # in the place of epoch and slot, when a counter makes a key
_LOW_32 = np.uint64(0xFFFFFFFF)
REPEAT_SHIFT = 32  # of a sample's key: above it, which time the sample comes
_32 = np.uint64(32)


def philox4x32(counter: Words, key: Words) -> Words:
    """Ten rounds over `counter` (4, ...) under `key` (2,); all words hold 32 bits."""
    per_lane = (2,) + (1,) * (counter.ndim - 1)
    multipliers = _MULTIPLIERS.reshape(per_lane)
    even, odd = counter[0::2], counter[1::2]
    for round_key in ((key + _KEY_OFFSETS) & _LOW_32).reshape((_ROUNDS, *per_lane)):
        product = multipliers * even
        even = (product >> _32)[::-1] ^ odd
        even ^= round_key
        odd = (product & _LOW_32)[::-1]
    return np.stack([even[0], odd[0], even[1], odd[1]])


def multiply_high(words: Words, bound: Words | np.uint64) -> Words:
    """Floor of words * bound / 2**64. Requires bound <= 2**32."""
    low = ((words & _LOW_32) * bound) >> _32
    product: Words = ((words >> _32) * bound + low) >> _32
    return product


def check_key(seed: int, epoch: int | Ints) -> None:
    """Raise unless the two fit their places in key and counter."""
    if not 0 <= seed < 1 << 64:
        raise LoaderError(f"seed must be between 0 and 2**64 - 1, got {seed}.")
    for one in np.unique(epoch).tolist() if isinstance(epoch, np.ndarray) else (epoch,):
        if not 0 <= one < 1 << 32:
            raise LoaderError(f"epoch must be between 0 and 2**32 - 1, got {one}.")


def check_epoch(where: str, epoch: Any) -> int:
    """Return the epoch given to a `set_epoch`; raise unless it is a whole number from 0 on."""
    if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
        raise LoaderError(f"{where}.set_epoch: epoch must be a whole number from 0, got {epoch!r}.")
    check_key(0, epoch)
    return epoch


class Draws:
    """The random numbers of one stream for a batch of samples.

    Every call takes the next numbers of each sample's own sequence,
    which is the same whichever samples share the batch.
    `epoch` is that of all samples, or one for each.
    """

    __slots__ = ("_epoch", "_ready", "_slot", "samples", "seed", "stream")

    listens: ClassVar[bool] = (
        False  # whether what is told is kept, as for a batch that is looked at
    )

    def __init__(self, seed: int, epoch: int | Ints, samples: Ints, stream: int) -> None:
        check_key(seed, epoch)
        if not 0 <= stream <= ORDER_STREAM:
            raise LoaderError(f"stream must be between 0 and {ORDER_STREAM}, got {stream}.")
        self.seed = seed
        self._epoch = epoch
        self.samples = samples
        self.stream = stream
        self._slot = 0
        self._ready: Words = np.empty((0, len(samples)), dtype=np.uint64)

    @property
    def epoch(self) -> int:
        """The epoch, for what follows a schedule; raises where each sample has its own."""
        if isinstance(self._epoch, np.ndarray):
            raise LoaderError(f"stream {self.stream}: its samples are drawn for several epochs.")
        return self._epoch

    def sample_at(self, row: int) -> int:
        """The sample in a row, for messages: its key without the count of repeats."""
        return int(self.samples[row]) & 0xFFFFFFFF

    def tell(self, rows: Ints | None = None, **drawn: Any) -> None:
        """Say by name what was drawn, where that is not plain from the moves; None: of all rows.

        A value has an entry for each of these rows, or is one for all.
        """

    def tell_op(
        self,
        name: str,
        rows: Ints,
        moves: Sequence[Any],
        sizes: Sizes,
        *,
        within: Draws | None = None,
        **drawn: Any,
    ) -> None:
        """Say that some rows were given to an op inside this one, which drew from `within`.

        `moves`, `sizes` and `drawn` are those of these rows alone.
        """

    def reserve(self, count: int) -> None:
        """Compute the next `count` numbers of every sample together, which is cheaper."""
        missing = count - len(self._ready)
        if missing > 0:
            self._ready = np.concatenate([self._ready, self._next_blocks((missing + 1) // 2)])

    def bits(self, count: int = 1) -> Words:
        """The next `count` 64-bit words of every sample: (count, samples)."""
        self.reserve(count)
        taken, self._ready = self._ready[:count], self._ready[count:]
        return taken

    def uniform(self, low: float = 0.0, high: float = 1.0) -> Floats:
        """One number in [low, high) for each sample, of 53 random bits."""
        return low + (high - low) * _to_unit(self.bits()[0])

    def units(self, count: int) -> Floats:
        """The next `count` numbers in [0, 1) of every sample: (count, samples)."""
        return _to_unit(self.bits(count))

    def integers(self, high: int | Ints) -> Ints:
        """One integer in [0, high) for each sample; the bias is below high / 2**64.

        Requires 1 <= high <= 2**32.
        """
        bound = np.asarray(high, dtype=np.uint64)
        return multiply_high(self.bits()[0], bound).astype(np.int64)

    def orders(self, count: int) -> Ints:
        """One order of 0 .. count - 1 for each sample, all equally likely: (count, samples)."""
        return np.argsort(self.bits(count), axis=0, kind="stable")

    def branch(self, index: int, rows: Ints | slice = slice(None)) -> Draws:
        """The draws of step `index` inside this one, for some rows of the batch.

        They depend on nothing that was drawn here, nor on which samples take part.
        """
        return Draws(*self._branch_key(index, rows))

    def _branch_key(self, index: int, rows: Ints | slice) -> tuple[int, int | Ints, Ints, int]:
        seed = _branch_seed(self.seed, self.stream, index)
        epoch = self._epoch[rows] if isinstance(self._epoch, np.ndarray) else self._epoch
        return seed, epoch, self.samples[rows], self.stream

    def generator(self, index: int) -> np.random.Generator:
        """A NumPy generator for the sample in row `index`, keyed as the draws but apart from them.

        NumPy's own Philox has wider words: key (seed, sample), counter (0, stream, epoch, 0),
        of which the first word counts.
        """
        key = np.array([self.seed, self.samples[index]], dtype=np.uint64)
        epoch = self._epoch[index] if isinstance(self._epoch, np.ndarray) else self._epoch
        counter = np.array([0, self.stream, epoch, 0], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=counter))

    def _next_blocks(self, count: int) -> Words:
        """Two words from each of the next `count` slots: (2 * count, samples)."""
        if self._slot + count > 1 << 16:
            raise LoaderError(f"stream {self.stream}: more than {1 << 17} draws for one sample.")
        first = self._slot
        self._slot += count
        if not isinstance(self._epoch, np.ndarray):
            return draw_words(self.seed, self._epoch, self.samples, self.stream, first, count)
        words = np.empty((2 * count, len(self.samples)), dtype=np.uint64)
        for epoch in np.unique(self._epoch).tolist():
            rows = np.flatnonzero(self._epoch == epoch)
            words[:, rows] = draw_words(
                self.seed, epoch, self.samples[rows], self.stream, first, count
            )
        return words


class JoinedDraws(Draws):
    """The random numbers of several streams, whose samples are the rows of one batch in turn.

    Drawing for all of them in one call costs less than one call for each.
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Sequence[Draws]) -> None:
        samples = np.concatenate([part.samples for part in parts])
        super().__init__(parts[0].seed, parts[0].epoch, samples, parts[0].stream)
        self._parts = parts

    def branch(self, index: int, rows: Ints | slice = slice(None)) -> Draws:
        """The draws of step `index` inside this one, for rows in rising order."""
        chosen = np.arange(len(self.samples))[rows]
        ends = np.cumsum([len(part.samples) for part in self._parts])
        cuts = np.searchsorted(chosen, ends)
        return JoinedDraws(
            [
                part.branch(index, own - end + len(part.samples))
                for part, own, end in zip(
                    self._parts, np.split(chosen, cuts[:-1]), ends, strict=True
                )
            ]
        )

    def generator(self, index: int) -> np.random.Generator:
        """A NumPy generator for the sample in row `index`."""
        for part in self._parts:
            if index < len(part.samples):
                return part.generator(index)
            index -= len(part.samples)
        raise IndexError(index)

    def _next_blocks(self, count: int) -> Words:
        return np.concatenate([part.bits(2 * count) for part in self._parts], axis=1)


def draw_words_reference(
    seed: int, epoch: int, samples: Ints, stream: int, first_slot: int, slots: int
) -> Words:
    """What the core's function of that name computes, in NumPy."""
    wide = samples.astype(np.uint64)
    numbers = np.arange(first_slot, first_slot + slots, dtype=np.uint64)
    counter = np.empty((4, slots, len(wide)), dtype=np.uint64)
    counter[0] = wide & _LOW_32
    counter[1] = wide >> _32
    counter[2] = epoch
    counter[3] = (numbers | np.uint64(stream << 16))[:, None]
    first, second, third, fourth = philox4x32(counter, _key_of(seed))
    words = np.stack([first | second << _32, third | fourth << _32], axis=1)
    return words.reshape(2 * slots, len(wide))


@lru_cache(maxsize=4096)
def _branch_seed(seed: int, stream: int, index: int) -> int:
    counter = np.array([[index], [stream], [_BRANCH], [_BRANCH]], dtype=np.uint64)
    low, high = philox4x32(counter, _key_of(seed))[:2, 0]
    return int(low) | int(high) << 32


def _key_of(seed: int) -> Words:
    return np.array([seed & 0xFFFFFFFF, seed >> 32], dtype=np.uint64)


def _to_unit(words: Words) -> Floats:
    units: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return units
