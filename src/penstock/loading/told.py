"""Epochs that a framework tells its samplers, and what they mean to a loader.

Lightning and Accelerate call `set_epoch` on samplers, never on loaders. A loader counts its epochs
by itself, which is right until the framework knows better:

- a loader made anew for epoch 7 has counted to 0;
- validation was only tried out before training, and begins with its first epoch again;
- a training went on from a place in epoch 3, but that epoch had been cut short.

On the other hand, a framework may run through a short data set several times in one of its epochs,
and says nothing then. Each of these runs is an epoch of the loader's own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Told:
    """The epoch that was told last, and the loader's own epoch that began with it."""

    epoch: int | None = None
    began: int = 0

    def begin(self, told: int, counted: int) -> int:
        """Return the epoch to run when `told` was told and `counted` would come next.

        Being told the same again means the same epoch again. Else an epoch never comes twice.
        """
        if told != self.epoch:
            self.epoch, self.began = told, max(told, counted)
        return self.began

    def leaves(self, told: int, epoch: int) -> bool:
        """Whether `told` leaves a place in `epoch`, which was saved with this; else it goes on.

        After a restart some frameworks count from 0 again, so that a smaller number says nothing.
        """
        return told > (epoch if self.epoch is None else self.epoch)
