"""What all transforms share: how they print, and what one that changes images must answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from penstock.errors import TransformError

if TYPE_CHECKING:
    from penstock.geometry import Bools, Sizes
    from penstock.rng import Draws
    from penstock.transforms.moves import Move
    from penstock.transforms.targets import Targets


class Transform:
    """A frozen dataclass that prints as the call that makes it, without the defaults.

    Arguments stay as the user wrote them. What `__post_init__` makes of them is kept in further
    fields, which take no part in printing or comparing.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(told_arguments(self))})"

    @property
    def works_on_batches(self) -> bool:
        """Whether it takes finished batches, not single images."""
        return False

    def _keep(self, **read: object) -> None:
        for name, value in read.items():
            object.__setattr__(self, name, value)


class ImageOp(Transform, ABC):
    """Changes images: where their pixels lie, what values they have, or both."""

    __slots__ = ()

    @abstractmethod
    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Draw what happens to each image of a batch; the moves apply one after the other.

        `sizes` are those the images have when they reach this op, at least 1x1.
        """


class TargetOp(ImageOp):
    """An image op that looks at the targets of its samples, or changes which of them there are.

    For all other ops, targets follow the moves. `sample` is for samples without targets.
    """

    __slots__ = ()

    @abstractmethod
    def sample_targets(
        self, draws: Draws, sizes: Sizes, targets: Targets
    ) -> tuple[tuple[Move, ...], Targets]:
        """Draw as `sample` does; return the moves, and the targets after them."""


class BoxOp(TargetOp):
    """Changes targets and leaves images alone, so it may stand anywhere in a pipeline."""

    __slots__ = ()

    @abstractmethod
    def apply(self, targets: Targets, sizes: Sizes) -> Targets:
        """The targets of images of `sizes`, changed."""

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """No moves: images stay as they are."""
        del draws, sizes
        return ()

    def sample_targets(
        self, draws: Draws, sizes: Sizes, targets: Targets
    ) -> tuple[tuple[Move, ...], Targets]:
        """Apply it: nothing is drawn."""
        del draws
        return (), self.apply(targets, sizes)


def refuse_any(
    where: str, bad: Bools, draws: Draws, sizes: Sizes, reason: Callable[[int], str]
) -> None:
    """Raise TransformError for the first image that is `bad`, with its sample, size and reason."""
    if bad.any():
        row = int(bad.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): sample {draws.sample_at(row)} is {sizes[row]} "
            f"here {reason(row)}"
        )


def told_arguments(transform: Any) -> list[str]:
    """The arguments that are not defaults, as they would be written."""
    told = []
    for field in fields(transform):
        value = getattr(transform, field.name)
        if field.repr and (field.default is MISSING or value != field.default):
            told.append(f"{field.name}={value!r}")
    return told
