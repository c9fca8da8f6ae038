"""Using the first part of a pipeline's work again, and what that costs in diversity.

The first part of the transforms, such as decoding, cropping and resizing, is done once and its
images are kept; the last part, such as flips and colours, is drawn and done freshly for each use.
`Reuse` spreads the uses over epochs, after Lee et al., "Refurbish your training data" (Revamper,
USENIX ATC 2021); `Echo` over one epoch, after Choi et al., "Faster neural network training with
data echoing" (2019).

Which draws an image is made with depends on seed, epoch and sample alone, never on what happens to
be in memory. So an image that was not kept, for lack of room or after resuming, is computed again
and has the same bytes.
"""

from __future__ import annotations

import re
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.rng import PHASE_STREAM, REPEAT_SHIFT, Draws

ENTRY_BYTES = 512  # that an image which is kept takes beside its pixels
_ALWAYS = 1 << 40  # uses, and the last epoch, of what is never drawn anew

_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(i?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True, slots=True)
class Uses:
    """How the first parts of some samples are drawn for one use, and how often they are used."""

    epochs: int | Ints  # of the draws: one for all samples, or one for each
    keys: Ints  # of the draws
    left: Ints  # uses of the same first part from here on, this one included
    last_epochs: Ints  # the epochs of their last uses

    @property
    def drawn_in(self) -> Ints:
        """The epoch of each sample's draws."""
        return np.broadcast_to(np.asarray(self.epochs, dtype=np.int64), self.keys.shape)


@dataclass(frozen=True, slots=True)
class Diversity:
    """How many of the images of a training have a first part of their own; all figures per sample.

    Figures are expected values over the choice of the epochs in which a sample is drawn anew.
    """

    images: int  # how often a sample comes
    first_parts: float  # how many of those times its first part is a new one

    @property
    def relative(self) -> float:
        """The share of new first parts; 1 without reuse."""
        return self.first_parts / self.images


class FirstPartUse(ABC):
    """What `Reuse` and `Echo` have in common."""

    __slots__ = ()

    times: int
    memory: int | str
    after: str | int | None

    def __post_init__(self) -> None:
        """Check what both were given."""
        name = type(self).__name__
        if isinstance(self.times, bool) or not isinstance(self.times, int) or self.times < 2:
            raise LoaderError(
                f"{name}: times must be a whole number from 2 on, got {self.times!r}. "
                "To use each image once, leave reuse= out."
            )
        if isinstance(self.after, bool) or not isinstance(self.after, str | int | None):
            raise LoaderError(
                f"{name}: after must be the name or the number of a step, got {self.after!r}."
            )
        read_memory(name, self.memory)

    @property
    def memory_bytes(self) -> int:
        """The bytes of images that may be kept, in each process."""
        return read_memory(type(self).__name__, self.memory)

    @abstractmethod
    def uses(self, seed: int, epoch: int, keys: Ints, *, fixed: bool) -> Uses:
        """How the first parts of the samples with these keys are drawn in `epoch`.

        `fixed` says that the first part draws nothing, so that it never has to be drawn anew.
        """

    @abstractmethod
    def diversity(self, epochs: int) -> Diversity:
        """What a training of so many epochs sees of each sample."""

    @abstractmethod
    def kept_samples(self, samples: int, *, fixed: bool) -> int:
        """How many images must be kept for none to be computed again; `samples` in an epoch."""

    @abstractmethod
    def found_share(self, *, fixed: bool) -> float:
        """The share of images whose first part need not be computed, once the memory is filled."""

    @abstractmethod
    def fingerprint(self) -> int:
        """Return a number that differs where batches differ."""


@dataclass(frozen=True, slots=True)
class Reuse(FirstPartUse):
    """Use the first part of the work on each sample in `times` epochs, and the rest only once.

    An epoch draws one of `times` samples anew, each sample in epochs of its own, so that all
    epochs are about equally fast. Between its epochs, a sample's image after the first part stays
    in memory.

    - `memory`: for the images that are kept, in each process: bytes, or a text such as "4 GB".
      What does not fit is computed again, with the same bytes.
    - `after`: the step that the first part ends with, by name ("RandomResizedCrop") or by number,
      counted from 1. None takes the last step that resizes and has something random after it.
    """

    times: int
    memory: int | str = "4 GB"
    after: str | int | None = None

    def uses(self, seed: int, epoch: int, keys: Ints, *, fixed: bool) -> Uses:
        """Each sample is drawn for the epoch in which its present turn of `times` epochs began.

        The first turn of a training may be shorter: it begins with epoch 0.
        """
        if fixed:
            always = np.full(len(keys), _ALWAYS, dtype=np.int64)
            return Uses(0, keys, always, always)
        phase = Draws(seed, 0, keys, PHASE_STREAM).integers(self.times)
        since = (epoch + phase) % self.times  # epochs since the turn began
        left = self.times - since
        return Uses(np.maximum(epoch - since, 0), keys, left, epoch + left - 1)

    def diversity(self, epochs: int) -> Diversity:
        """The mean number of turns: 1 + (epochs - 1) / times.

        A sample of phase p begins floor((epochs - 1 + p) / times) turns after its first one, and
        the sum of this over p = 0 .. times - 1 is epochs - 1 (Hermite's identity).
        """
        return Diversity(epochs, 1 + (epochs - 1) / self.times)

    def kept_samples(self, samples: int, *, fixed: bool) -> int:
        """All that are not in the last epoch of their turn."""
        return samples if fixed else -(-samples * (self.times - 1) // self.times)

    def found_share(self, *, fixed: bool) -> float:
        """All that are not in the first epoch of their turn."""
        return 1.0 if fixed else 1 - 1 / self.times

    def fingerprint(self) -> int:
        """Return a checksum of what decides the draws."""
        return zlib.crc32(f"Reuse {self.times} {self.after}".encode())


@dataclass(frozen=True, slots=True)
class Echo(FirstPartUse):
    """Use the first part of the work on each sample `times` times in every epoch.

    An epoch is `times` times as long. Its order is cut into windows of `window` samples, over all
    ranks; each window comes `times` times in a row, shuffled anew each time if the loader
    shuffles. Only the images of a window have to be kept.

    - `window`: samples, made a multiple of the number of ranks. Some batches' worth, or the same
      image comes twice in a batch.
    - `memory`, `after`: as those of `Reuse`.
    """

    times: int
    window: int = 4096
    memory: int | str = "4 GB"
    after: str | int | None = None

    def __post_init__(self) -> None:
        """Check what was given."""
        FirstPartUse.__post_init__(self)
        if isinstance(self.window, bool) or not isinstance(self.window, int) or self.window < 1:
            raise LoaderError(
                f"Echo: window must be a whole number from 1 on, got {self.window!r}."
            )

    def uses(self, seed: int, epoch: int, keys: Ints, *, fixed: bool) -> Uses:
        """All echoes of a sample are drawn with the key of the first one."""
        del seed, fixed
        repeat = keys >> REPEAT_SHIFT
        echo = repeat % self.times
        left, last_epochs = self.times - echo, np.full(len(keys), epoch, dtype=np.int64)
        return Uses(epoch, keys - (echo << REPEAT_SHIFT), left, last_epochs)

    def echo_keys(self, keys: Ints, echo: Ints) -> Ints:
        """The keys of these echoes of samples that come with `keys` in a plain epoch."""
        repeat = (keys >> REPEAT_SHIFT) * self.times + echo
        return (keys & ((1 << REPEAT_SHIFT) - 1)) | repeat << REPEAT_SHIFT

    def diversity(self, epochs: int) -> Diversity:
        """One first part for each `times` images."""
        return Diversity(epochs * self.times, epochs)

    def kept_samples(self, samples: int, *, fixed: bool) -> int:
        """One window."""
        del fixed
        return min(self.window, samples)

    def found_share(self, *, fixed: bool) -> float:
        """All echoes but the first."""
        del fixed
        return 1 - 1 / self.times

    def fingerprint(self) -> int:
        """Return a checksum of what decides the draws and the order."""
        return zlib.crc32(f"Echo {self.times} {self.window} {self.after}".encode())


def read_memory(where: str, given: object) -> int:
    """Return the bytes that were meant: a number of them, or a text such as "4 GB" or "512 MiB"."""
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    found = _MEMORY.fullmatch(given.strip()) if isinstance(given, str) else None
    size = 0
    if found is not None:
        number, unit, binary = found.groups()
        size = int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.upper()])
    if size < 1:
        raise LoaderError(
            f"{where}: memory must be a number of bytes or a text such as '4 GB', got {given!r}."
        )
    return size
