"""The epoch whose draws a Dataset with a seed makes, which somebody else has to set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch

_EPOCH, _MADE = 0, 1  # places in the shared numbers
_ENOUGH = -1  # in the place of what was made, once there is nothing to warn of any more


class DrawnEpoch:
    """An epoch in shared memory, so that worker processes, which may live long, see it change.

    Whoever forgets to set it gets the same images in every epoch, and nothing else would show it.
    So it counts the samples that were made before it was ever set, in all processes together.
    Two processes that count at the very same time may lose a batch: the warning is then later,
    never too early.
    """

    def __init__(self) -> None:
        self._numbers: torch.Tensor = torch.zeros(2, dtype=torch.int64).share_memory_()

    @property
    def number(self) -> int:
        """The epoch."""
        return int(self._numbers[_EPOCH])

    def set(self, epoch: int) -> None:
        """Make it another one, or the same again: somebody takes care of it."""
        self._numbers[_EPOCH] = epoch
        self._numbers[_MADE] = _ENOUGH

    def count(self, made: int, length: int, draws: Callable[[], bool]) -> None:
        """Note samples that were made; warn once if it was a second epoch that `draws` alike."""
        so_far = int(self._numbers[_MADE])
        if so_far == _ENOUGH:
            return
        self._numbers[_MADE] = so_far + made
        if so_far + made < 2 * length:
            return
        self._numbers[_MADE] = _ENOUGH
        if draws():
            warnings.warn(
                f"Dataset: {so_far + made:,} samples were made of {length:,} in the data set, all "
                f"with the random draws of epoch {self.number}, since set_epoch was never called. "
                "With a seed, a sample then looks the same in every epoch. Call "
                "dataset.set_epoch(epoch) before each epoch, or leave the seed out to draw from "
                "torch's generator.",
                stacklevel=3,
            )

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        if not self._numbers.is_shared():  # it was copied, and has workers of its own now
            self._numbers.share_memory_()
