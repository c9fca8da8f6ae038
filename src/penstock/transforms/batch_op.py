"""Transforms of whole batches: the record of which images are mixed, and what draws it.

They are given as `Loader(batch_transform=...)`; `read_batch_op` reads that argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock._core import MixKind
from penstock.errors import TransformError
from penstock.geometry import Ints, Size
from penstock.rng import Draws
from penstock.transforms.containers import RandomChoice
from penstock.transforms.op import Transform

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
    """A Mixing of a batch from columns that have one value per image, or one for all images.

    `share` is what images keep of their own. The rest is 1 - share in the precision of `share`:
    single or double makes a difference in the last bit.
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


def draws_of_batch(draws: Draws) -> Draws:
    """The draws for what is drawn once per batch: those of its first image."""
    return draws.branch(0, slice(0, 1))


class BatchOp(Transform, ABC):
    """Mixes the images of a batch, and their labels alike: `Loader(batch_transform=...)`."""

    __slots__ = ()

    num_classes: int | None

    @property
    def works_on_batches(self) -> bool:
        """Always True: every BatchOp works on batches."""
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


@dataclass(frozen=True, slots=True, repr=False)
class BatchChoice(BatchOp):
    """What `RandomChoice` means for transforms of batches: one draw chooses for each batch."""

    ops: tuple[BatchOp, ...]
    limits: tuple[float, ...]  # op i is chosen by numbers below limit i, and not below the others
    num_classes: int | None

    @property
    def blends(self) -> bool:
        """True if one of them blends."""
        return any(op.blends for op in self.ops)

    @property
    def needs_even(self) -> bool:
        """True if one of them needs it."""
        return any(op.needs_even for op in self.ops)

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """Each of them has a branch of its own."""
        number = draws_of_batch(draws).uniform()
        chosen = int(np.searchsorted(self.limits[:-1], number, side="right")[0])
        return self.ops[chosen].sample(draws.branch(1 + chosen), size)


def read_batch_op(given: object) -> BatchOp:
    """The argument `batch_transform` as one BatchOp; TransformError for anything else."""
    if isinstance(given, BatchOp):
        return given
    if isinstance(given, RandomChoice) and given.works_on_batches:
        ops = tuple(read_batch_op(inner) for inner in given.transforms)
        numbers = {op.num_classes for op in ops}
        if len(numbers) > 1:
            raise TransformError(
                "RandomChoice: the transforms have different num_classes: "
                f"{', '.join(str(op.num_classes) for op in ops)}. Give all of them the same."
            )
        return BatchChoice(ops, given.limits, numbers.pop())
    raise TransformError(
        f"batch_transform: {given!r} does not work on batches. Give MixUp, CutMix, or a "
        "RandomChoice of them."
    )
