"""What transforms of whole batches share: who is mixed with whom, and how much."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from penstock._core import MixKind as MixKind  # noqa: PLC0414  (re-exported)
from penstock.geometry import Ints, Size
from penstock.transforms.op import Transform

if TYPE_CHECKING:
    from penstock.rng import Draws

Weights = npt.NDArray[np.float32]
Shares = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mixing:
    """What each image of a batch takes from its partner, and each label from the partner's.

    Every image is the partner of exactly one, perhaps of itself.
    """

    partner: Ints
    kind: Ints  # a MixKind
    own: Weights  # of the image where it is blended, and of its label
    other: Weights  # of the partner's
    box: Ints  # (images, 4): what is pasted, as top, left, height, width
    smoothing: float  # how much of every label is spread evenly over all classes


def make_mixing(
    partner: Ints, kind: MixKind | Ints, share: Shares, box: Ints, smoothing: float = 0.0
) -> Mixing:
    """Mix all images of a batch; what is given once holds for all.

    `share` is what images keep of their own. Whether the rest is taken from 1 in single or in
    double precision is seen in the last bit.
    """
    count = len(partner)
    return Mixing(
        partner=partner,
        kind=np.broadcast_to(np.asarray(kind, dtype=np.int64), count),
        own=np.broadcast_to(share.astype(np.float32), count),
        other=np.broadcast_to((1 - share).astype(np.float32), count),
        box=np.broadcast_to(box, (count, 4)),
        smoothing=smoothing,
    )


def roll(count: int) -> Ints:
    """Each image's partner is the one before it, as torchvision has it."""
    return (np.arange(count, dtype=np.int64) - 1) % count


def draws_of_batch(draws: Draws) -> Draws:
    """For what is drawn once for a batch: those of its first image."""
    return draws.branch(0, slice(0, 1))


class BatchOp(Transform, ABC):
    """Mixes the images of a batch, and their labels alike: `Loader(batch_transform=...)`."""

    __slots__ = ()

    num_classes: int | None

    @property
    def works_on_batches(self) -> bool:
        """It does."""
        return True

    @property
    @abstractmethod
    def blends(self) -> bool:
        """Whether it may add images up, for which they must be floating point."""

    @property
    def needs_even(self) -> bool:
        """Whether it needs batches of an even number of images."""
        return False

    @abstractmethod
    def sample(self, draws: Draws, size: Size) -> Mixing:
        """Draw what happens to a batch of images of `size`; there is a row of draws for each."""
