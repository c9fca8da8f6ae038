"""Transforms made of others: Compose, MultiView, RandomApply, RandomChoice and RandomOrder.

In the loader, what is inside RandomApply, RandomChoice and RandomOrder draws from branches of its
own, and only for the samples that take part; the moves drawn for those are then spread over the
whole batch. Called, they call what is inside, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import read_numbers, read_probability
from penstock.transforms.conversions import RGB, Conversion, Identity
from penstock.transforms.effects import EffectMove
from penstock.transforms.ending import STEPS, Ending, find_ending, finish
from penstock.transforms.moves import Move, out_sizes
from penstock.transforms.op import CalledOnly, ImageOp, TargetOp, Transform
from penstock.transforms.python_step import PythonStep, library_of
from penstock.transforms.torch_draws import chance, order, weighted
from penstock.transforms.values import FinalOp

Op: TypeAlias = ImageOp | PythonStep | FinalOp | Conversion
Step: TypeAlias = "Op | MultiView"
Group = tuple[tuple[int, ImageOp], ...]  # the ops of one entry of a list, each with its branch


@dataclass(frozen=True, slots=True, repr=False)
class Compose(Transform):
    """Do `transforms` one after the other; an empty list changes nothing.

    Each is one of ours, another Compose, or a function of your own (see `PythonStep`). Those that
    move pixels come first, ToDtype, ToTensor and Normalize last. The loader puts ours in the place
    of torchvision's, timm's and Albumentations' transforms, or says why it cannot.
    """

    transforms: Sequence[Any]
    _ending: Ending | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _require_list("Compose", self.transforms)
        ours = tuple(as_transform(given) for given in self.transforms)
        self._keep(transforms=ours, _ending=find_ending(ours))

    @property
    def is_random(self) -> bool:
        """Whether one of them draws."""
        return any_random(self.transforms)

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Call one after the other; what follows a MultiView is called for each view."""
        last = len(self.transforms) - STEPS
        for place, transform in enumerate(self.transforms):
            if place == last and self._ending is not None and len(inputs) == 1:
                finished = finish(inputs[0], self._ending)
                if finished is not None:
                    return finished
            if isinstance(transform, MultiView):
                views = transform(*inputs)
                rest = self.transforms[place + 1 :]
                several = len(inputs) > 1
                return [call_in_turn(rest, view if several else (view,)) for view in views]
            outputs = transform(*inputs)
            inputs = outputs if len(inputs) > 1 else (outputs,)
        return inputs if len(inputs) > 1 else inputs[0]

    def __repr__(self) -> str:
        if not self.transforms:
            return "Compose([])"
        lines = [f"    {transform!r},".replace("\n", "\n    ") for transform in self.transforms]
        return "\n".join(["Compose([", *lines, "])"])


@dataclass(frozen=True, slots=True, repr=False)
class MultiView(Transform):
    """Several views of each image, as self-supervised training compares them.

    `views` are transforms, one per view; `MultiView([view] * 2)` repeats one. Images then come as a
    list with one tensor per view, in this order, and labels once. A file is read and decoded once
    for all of its views.

    What stands before it in a Compose is drawn once for all views, and what stands after it for
    each view on its own. Called, it gives the list of what its views give, called one after the
    other; each draws for itself.
    """

    views: Sequence[Any]

    @property
    def is_random(self) -> bool:
        """Whether one of them draws."""
        return any_random(self.views)

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Call each view with the sample."""
        return [view(*inputs) for view in self.views]

    def __post_init__(self) -> None:
        given = self.views
        if isinstance(given, (str, Compose)) or not isinstance(given, Sequence) or not given:
            raise TransformError(
                f"MultiView: views must be a list of transforms, one for each view, got {given!r}. "
                "For two views of one transform, write MultiView([transform] * 2)."
            )
        self._keep(views=tuple(as_transform(view) for view in given))
        if any(isinstance(op, MultiView) for view in self.views for op in _single_steps(view)):
            raise TransformError(
                "MultiView: one of its views is a MultiView again. Write all views in one list."
            )


def any_random(transforms: Iterable[Any]) -> bool:
    """Whether one of ours among them draws; what others draw is their own affair."""
    return any(isinstance(one, Transform) and one.is_random for one in transforms)


def call_in_turn(transforms: Iterable[Any], inputs: Any) -> Any:
    """Call one after the other with what the one before has given."""
    several = len(inputs) > 1
    for transform in transforms:
        outputs = transform(*inputs)
        inputs = outputs if several else (outputs,)
    return inputs if several else inputs[0]


def flatten(transform: object) -> Iterator[Step]:
    """The single steps of a transform for the loader, in the order written; a MultiView is one.

    TransformError for what can only be called.
    """
    for step in _single_steps(transform):
        require_loadable(step)
        if not isinstance(step, CalledOnly):  # which is never loadable
            yield step


def require_loadable(transform: Transform) -> None:
    """Raise TransformError for one that can only be called."""
    if transform.refusal is not None:
        raise TransformError(transform.refusal)


def _single_steps(transform: object) -> Iterator[Step | CalledOnly]:
    ours = as_transform(transform)
    if isinstance(ours, Compose):
        for inner in ours.transforms:
            yield from _single_steps(inner)
    else:
        yield ours


def as_transform(given: Any) -> Compose | Step | CalledOnly:
    """Return one of ours as it is, and anything else that can be called as a step in Python."""
    if isinstance(given, Transform) and given.works_on_batches:
        raise TransformError(
            f"{given!r} works on whole batches, not on single images. "
            "Give it as Loader(batch_transform=...)."
        )
    if isinstance(
        given, (Compose, MultiView, ImageOp, PythonStep, FinalOp, Conversion, CalledOnly)
    ):
        return given
    return PythonStep(given)


@dataclass(frozen=True, slots=True, repr=False)
class RandomApply(ImageOp):
    """Do all of `transforms`, one after the other, with probability `p`; else nothing.

    An empty list does nothing.
    """

    transforms: Sequence[Any]
    p: float = 0.5
    _groups: tuple[Group, ...] = field(init=False, repr=False, compare=False)
    _refusal: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        read_probability("RandomApply", self.p)
        groups, refusal = _read_groups("RandomApply", self.transforms)
        self._keep(_groups=groups, _refusal=refusal)

    @property
    def is_random(self) -> bool:
        """Always."""
        return True

    @property
    def refusal(self) -> str | None:
        """What is inside cannot be drawn for a batch."""
        return self._refusal

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Call all of them, or none."""
        if not chance(self.p):
            return inputs if len(inputs) > 1 else inputs[0]
        return call_in_turn(_listed(self.transforms), inputs)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """One draw decides for each image."""
        rows = np.flatnonzero(draws.uniform() < self.p)
        ops = [op for group in self._groups for op in group]
        return _sample_rows(ops, draws, rows, sizes)


@dataclass(frozen=True, slots=True, repr=False)
class RandomChoice(ImageOp):
    """Do one of `transforms`; `p` says how likely each is, as weights.

    If all of them work on batches, so does this.
    """

    transforms: Sequence[Any]
    p: Sequence[float] | None = None
    limits: tuple[float, ...] = field(init=False, repr=False, compare=False)  # of draws, rising
    _groups: tuple[Group, ...] = field(init=False, repr=False, compare=False)
    _refusal: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups: tuple[Group, ...] = ()
        refusal: str | None = None
        if not self.works_on_batches:
            groups, refusal = _read_groups("RandomChoice", self.transforms)
        count = len(_listed(self.transforms))
        weights = (1.0,) * count if self.p is None else _read_weights(self.p, count)
        limits = tuple(accumulate(weight / sum(weights) for weight in weights))
        self._keep(_groups=groups, _refusal=refusal, limits=limits)

    @property
    def is_random(self) -> bool:
        """Always."""
        return True

    @property
    def refusal(self) -> str | None:
        """What is inside cannot be drawn for a batch."""
        return self._refusal

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Call one of them."""
        transforms = _listed(self.transforms)
        weights = [1] * len(transforms) if self.p is None else self.p
        total = sum(weights)
        return transforms[weighted([weight / total for weight in weights])](*inputs)

    @property
    def works_on_batches(self) -> bool:
        """Whether all of its transforms do; `read_batch_op` then makes a BatchOp of it."""
        given = self.transforms
        return (
            isinstance(given, Sequence)
            and len(given) > 0
            and all(isinstance(op, Transform) and op.works_on_batches for op in given)
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """One draw chooses for each image."""
        chosen = np.searchsorted(self.limits[:-1], draws.uniform(), side="right")
        return _join_effects(_sample_chosen(self._groups, chosen, draws, sizes))


@dataclass(frozen=True, slots=True, repr=False)
class RandomOrder(ImageOp):
    """Do all of `transforms`, in an order drawn for each image; an empty list does nothing."""

    transforms: Sequence[Any]
    _groups: tuple[Group, ...] = field(init=False, repr=False, compare=False)
    _refusal: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups, refusal = _read_groups("RandomOrder", self.transforms)
        self._keep(_groups=groups, _refusal=refusal)

    @property
    def is_random(self) -> bool:
        """Always."""
        return True

    @property
    def refusal(self) -> str | None:
        """What is inside cannot be drawn for a batch."""
        return self._refusal

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Call them in an order that is drawn."""
        transforms = _listed(self.transforms)
        turns = order(len(transforms)).tolist()
        return call_in_turn((transforms[turn] for turn in turns), inputs)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Every order is equally likely; what a transform draws does not depend on its turn."""
        order = draws.orders(len(self._groups))
        moves: tuple[Move, ...] = ()
        for chosen in order:
            drawn = _sample_chosen(self._groups, chosen, draws, sizes)
            sizes = out_sizes(drawn, sizes)
            moves += drawn
        return _join_effects(moves)


def _require_list(where: str, given: Any) -> None:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TransformError(f"{where}: transforms must be a list of transforms, got {given!r}.")


def _listed(given: Any) -> Sequence[Any]:
    """The transforms of a list, of a Compose in its place, or of torch's list of modules."""
    if type(given).__name__ == "ModuleList" and hasattr(given, "named_modules"):
        return list(given)
    listed: Sequence[Any] = given.transforms if isinstance(given, Compose) else given
    return listed


def _read_groups(where: str, given: Any) -> tuple[tuple[Group, ...], str | None]:
    """What the loader does of a list, or nothing and why it cannot; raises for what is no list."""
    given = _listed(given)
    _require_list(where, given)
    if where == "RandomChoice" and not given:
        raise TransformError("RandomChoice: the list is empty, so there is nothing to choose from.")
    for transform in given:
        as_transform(transform)
    try:
        return _group(where, given), None
    except TransformError as error:
        return (), str(error)


def _group(where: str, given: Sequence[Any]) -> tuple[Group, ...]:
    groups: list[Group] = []
    branch = 0
    for transform in given:
        steps = (op for op in flatten(transform) if not isinstance(op, (Identity, RGB)))
        ops = [_require_image_op(where, op) for op in steps]
        groups.append(tuple(enumerate(ops, start=branch)))
        branch += len(ops)
    return tuple(groups)


def _require_image_op(where: str, op: object) -> ImageOp:
    if isinstance(op, TargetOp):
        raise TransformError(
            f"{where}: {type(op).__name__} changes more than the image, which cannot be done for "
            f"part of a batch. Put it beside {where}."
        )
    if isinstance(op, ImageOp):
        return op
    if isinstance(op, PythonStep) and (library := library_of(op.function)) is not None:
        raise TransformError(
            f"{where}: {op.name} is {library}'s. Write penstock.transforms.{op.name} if there is "
            f"one, or {where} as {library}'s too."
        )
    if isinstance(op, PythonStep):
        raise TransformError(
            f"{where}: {op.name} is a function of yours, which cannot be drawn for part of a "
            f"batch. Put it beside {where}, and let it decide by its parameter rng."
        )
    if isinstance(op, MultiView):
        raise TransformError(
            f"{where}: MultiView changes how many images a sample has, which cannot be left to "
            f"chance. Put {where} into its views, or before it."
        )
    name = type(op).__name__
    raise TransformError(f"{where}: {name} ends a pipeline. Put it after {where}, at the end.")


def _read_weights(given: Any, count: int) -> tuple[float, ...]:
    weights = read_numbers("RandomChoice", "p", given)
    if len(weights) != count:
        raise TransformError(
            f"RandomChoice: p has {len(weights)} numbers for {count} transforms. Give one for each."
        )
    if min(weights) < 0 or sum(weights) <= 0:
        raise TransformError(f"RandomChoice: p must not be negative, nor all 0, got {given!r}.")
    return weights


def _sample_chosen(
    groups: Sequence[Group], chosen: Ints, draws: Draws, sizes: Sizes
) -> tuple[Move, ...]:
    """Draw for each sample the group that has its number in `chosen`."""
    moves: tuple[Move, ...] = ()
    for number, group in enumerate(groups):
        drawn = _sample_rows(group, draws, np.flatnonzero(chosen == number), sizes)
        sizes = out_sizes(drawn, sizes)
        moves += drawn
    return moves


def _sample_rows(
    ops: Sequence[tuple[int, ImageOp]], draws: Draws, rows: Ints, sizes: Sizes
) -> tuple[Move, ...]:
    """Draw ops, each with the number of its branch, one after the other for some rows only."""
    if not len(rows):
        return ()
    moves: tuple[Move, ...] = ()
    for branch, op in ops:
        inner, before = draws.branch(branch, rows), sizes.at(rows)
        drawn = op.sample(inner, before)
        draws.tell_op(type(op).__name__, rows, drawn, before, within=inner)
        for move in drawn:
            spread = _spread(move, rows, sizes)
            sizes = spread.out_sizes(sizes)
            moves += (spread,)
    return moves


def _join_effects(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Join neighbouring EffectMoves into one where no sample has an effect in both."""
    joined: list[Move] = []
    for move in moves:
        before = joined[-1] if joined else None
        if isinstance(move, EffectMove) and isinstance(before, EffectMove):
            active = move.acts
            if not (active & before.acts).any():
                joined[-1] = EffectMove(
                    np.where(active, move.effect, before.effect),
                    np.where(active[:, None], move.numbers, before.numbers),
                    move.height,
                    move.width,
                )
                continue
        joined.append(move)
    return tuple(joined)


def _spread(move: Move, rows: Ints, sizes: Sizes) -> Move:
    """The move of `rows`, for a batch of `sizes` whose other images stay as they are.

    Zeros leave an image alone, and so does the size that it has already.
    """
    columns: dict[str, Any] = {}
    for column in fields(move):
        values = getattr(move, column.name)
        if isinstance(values, np.ndarray):
            if column.name in ("height", "width"):
                whole = getattr(sizes, column.name).copy()
            else:
                whole = np.zeros((len(sizes), *values.shape[1:]), values.dtype)
            whole[rows] = values
            columns[column.name] = whole
    return replace(move, **columns)
