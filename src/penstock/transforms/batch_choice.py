"""One of several transforms of batches, and what else may be given as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Size
from penstock.rng import Draws
from penstock.transforms.batch_op import BatchOp, Mixing, draws_of_batch
from penstock.transforms.containers import RandomChoice


@dataclass(frozen=True, slots=True, repr=False)
class BatchChoice(BatchOp):
    """What `RandomChoice` means for transforms of batches: one draw chooses for each batch."""

    ops: tuple[BatchOp, ...]
    limits: tuple[float, ...]  # op i is chosen by numbers below limit i, and not below the others
    num_classes: int | None

    @property
    def blends(self) -> bool:
        """If one of them does."""
        return any(op.blends for op in self.ops)

    @property
    def needs_even(self) -> bool:
        """If one of them does."""
        return any(op.needs_even for op in self.ops)

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """Each of them has a branch of its own."""
        number = draws_of_batch(draws).uniform()
        chosen = int(np.searchsorted(self.limits[:-1], number, side="right")[0])
        return self.ops[chosen].sample(draws.branch(1 + chosen), size)


def read_batch_op(given: object) -> BatchOp:
    """What the user gave as a transform of batches."""
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
