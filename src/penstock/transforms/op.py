"""What all transforms share: how they print and are called, and what those of images must answer.

Called as torchvision v2's are, a transform draws from torch's generator as torchvision draws:
`make_params` draws for a sample, `transform` changes one image, mask, set of boxes or keypoints by
what was drawn. In the loader, `sample` draws for a batch instead, from keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from penstock.errors import TransformError
from penstock.transforms.functional.dispatch import passing_through
from penstock.transforms.inputs import (
    EVERYTHING,
    OWN_CLASS,
    SINGLE_IMAGES,
    chosen_kinds,
    flatten,
    kind_of,
)
from penstock.transforms.torch_draws import chance, draw_key, torch_is_installed

if TYPE_CHECKING:
    from penstock.geometry import Bools, Sizes
    from penstock.rng import Draws
    from penstock.transforms.moves import Move
    from penstock.transforms.targets import Targets

Key: TypeAlias = "tuple[int, int, int]"  # seed, epoch and sample, as the loader counts them
Params: TypeAlias = "dict[str, Any]"


class Transform:
    """A frozen dataclass that prints as the call that makes it, without the defaults.

    Arguments stay as the user wrote them. What `__post_init__` makes of them is kept in further
    fields, which take no part in printing or comparing.
    """

    __slots__ = ()

    # Which kinds of inputs belong to it, and for which of them it has a function to change them;
    # the rest of the former pass through, as in torchvision.
    takes: ClassVar[int] = EVERYTHING
    changes: ClassVar[int] = EVERYTHING & ~OWN_CLASS
    takes_every_array: ClassVar[bool] = False
    has_chance: ClassVar[bool] = False  # whether it does nothing with probability 1 - `p`
    p: Any
    has_own_call: ClassVar[bool] = True  # as torchvision has it; else see `called_by_key`

    def __call__(self, *inputs: Any, key: Key | None = None) -> Any:
        """Transform a sample: an image, or several values in any nesting.

        Without `key`, numbers are drawn from torch's generator, exactly as torchvision draws them.
        With `key`, (seed, epoch, sample), they are the loader's for that sample, and so is the
        result.
        """
        if not inputs:
            raise TransformError(f"{type(self).__name__}: called without an input. Give an image.")
        if key is None:
            if not self.called_by_key and (torch_is_installed() or not self.is_random):
                return self.draw_and_do(inputs)
            key = (draw_key(), 0, 0)
        from penstock.transforms.keyed import call_with_key

        return call_with_key(self, inputs, key)

    @property
    def is_random(self) -> bool:
        """Whether it draws numbers when it is called."""
        return self.has_chance or type(self).make_params is not Transform.make_params

    @property
    def called_by_key(self) -> bool:
        """Whether torchvision has none like it, so that a call draws a key and does as the loader.

        The key is a number from torch's generator, or from Python's `random` without torch.
        """
        return not self.has_own_call

    @property
    def refusal(self) -> str | None:
        """Why the loader cannot do it, though it can be called; None if the loader can."""
        if isinstance(getattr(self, "fill", None), Mapping):
            return (
                f"{type(self).__name__}: fill has one colour for each type of input, which is for "
                "calling it; the loader takes one colour. Give a number, or three."
            )
        return None

    def check_inputs(self, flat_inputs: Sequence[Any]) -> None:
        """Raise if a sample, as a flat list, cannot be transformed; anything may come here."""

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw what happens to a sample, of which these values are to be transformed."""
        del flat_inputs
        return {}

    def transform(self, inpt: Any, params: Params) -> Any:
        """Change one value of a sample by what `make_params` has drawn."""
        del inpt, params
        raise TransformError(f"{type(self).__name__}: cannot be called. Give it to a Loader.")

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Transform a sample by draws from torch's generator."""
        if len(inputs) == 1:
            only = inputs[0]
            kind = kind_of(only)
            if kind & SINGLE_IMAGES:  # the commonest call by far
                self.check_inputs(inputs)
                if self.has_chance and not chance(self.p):
                    return only
                if not kind & self.takes:
                    return only
                params = self.make_params([only])
                return self.transform(only, params) if kind & self.changes else only
        return self._call_nested(inputs if len(inputs) > 1 else inputs[0])

    def _call_nested(self, inputs: Any) -> Any:
        values, rebuild = flatten(inputs)
        self.check_inputs(values)
        if self.has_chance and not chance(self.p):
            return inputs
        chosen = chosen_kinds(values, self.takes, every_array=self.takes_every_array)
        pairs = list(zip(values, chosen, strict=True))
        params = self.make_params([value for value, kind in pairs if kind])
        return rebuild([self._change(value, kind, params) for value, kind in pairs])

    def _change(self, value: Any, kind: int, params: Params) -> Any:
        if kind & self.changes:
            return self.transform(value, params)
        if kind == OWN_CLASS:
            return self._change_own_class(value, params)
        return value

    def _change_own_class(self, value: Any, params: Params) -> Any:
        """Users' own classes have functions if they registered some; the others pass them on."""
        with passing_through(type(value)):
            return self.transform(value, params)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(told_arguments(self))})"

    @property
    def works_on_batches(self) -> bool:
        """Whether it takes finished batches, not single images."""
        return False

    def _keep(self, **read: object) -> None:
        for name, value in read.items():
            object.__setattr__(self, name, value)


class CalledOnly(Transform):
    """A transform of torchvision's that can be called, and that the loader refuses."""

    __slots__ = ()

    why_not_loaded: ClassVar[str]  # a clause, for the error

    @property
    def refusal(self) -> str | None:
        """Always one."""
        return (
            f"{type(self).__name__}: can be called, but not loaded: {self.why_not_loaded}. "
            "Leave it out, or call it in your own code."
        )


class ImageOp(Transform, ABC):
    """Changes images: where their pixels lie, what values they have, or both.

    One that has no `transform` of its own is called by a key, which is drawn if none is given.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = (cls.transform, Transform.transform), (cls.draw_and_do, Transform.draw_and_do)
        cls.has_own_call = any(one is not base for one, base in own)

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
