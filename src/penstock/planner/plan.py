"""The plan: a user's pipeline, cut into stretches that the core can run on its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from PIL.Image import Image

from penstock._core import Element
from penstock.errors import TransformError
from penstock.geometry import Ints, Sizes
from penstock.planner.draft import Draft, Stage
from penstock.rng import MAX_STREAMS, Draws
from penstock.transforms.containers import MultiView, Op, Step, flatten
from penstock.transforms.conversions import Conversion, Form
from penstock.transforms.effects import EffectMove
from penstock.transforms.filter import RandomErasing
from penstock.transforms.move_targets import move_targets
from penstock.transforms.moves import Move, out_sizes
from penstock.transforms.op import BoxOp, ImageOp, TargetOp
from penstock.transforms.python_step import Pixels, PythonStep
from penstock.transforms.targets import Targets
from penstock.transforms.values import FinalOp, FinalSpec, ToDtype, reduce_final

OpT_co = TypeVar("OpT_co", bound="ImageOp | PythonStep", covariant=True)


@dataclass(frozen=True, slots=True)
class Node(Generic[OpT_co]):
    """One step of a plan."""

    op: OpT_co
    stream: int  # the op's place in what the user wrote: a moved node draws the same numbers


@dataclass(frozen=True, slots=True)
class Segment:
    """Ops that the core runs in one go, then perhaps one of the user's own functions."""

    ops: tuple[Node[ImageOp], ...]
    python: Node[PythonStep] | None = None
    finishing: tuple[Node[RandomErasing], ...] = ()  # after the final pass; in the last one only
    kept: bool = False  # whether it belongs to what `Loader(reuse=...)` keeps and uses again

    def sample(self, seed: int, epoch: int | Ints, samples: Ints, sizes: Sizes) -> tuple[Move, ...]:
        """Draw the moves of a batch whose images have `sizes` when they reach the segment."""
        return self.sample_targets(seed, epoch, samples, sizes, None)[0]

    def sample_targets(
        self, seed: int, epoch: int | Ints, samples: Ints, sizes: Sizes, targets: Targets | None
    ) -> tuple[tuple[Move, ...], Targets | None]:
        """Draw the moves, and apply them to `targets`, which have one row per sample."""
        moves: tuple[Move, ...] = ()
        for node in self.ops:
            draws = Draws(seed, epoch, samples, node.stream)
            drawn, targets = sample_op(node.op, draws, sizes, targets)
            sizes = out_sizes(drawn, sizes)
            moves += drawn
        return moves, targets

    def draft(
        self, seed: int, epoch: int, samples: Ints, sizes: Sizes, targets: Targets | None = None
    ) -> tuple[Draft, Targets | None]:
        """Draw the moves with where they come from: what the planner looks at."""
        start, stages = sizes, list[Stage]()
        for node in self.ops:
            draws = Draws(seed, epoch, samples, node.stream)
            drawn, targets = sample_op(node.op, draws, sizes, targets)
            stages += [Stage(move, frozenset({node.stream})) for move in drawn]
            sizes = out_sizes(drawn, sizes)
        return Draft(tuple(stages), start), targets

    def sample_finishing(
        self, seed: int, epoch: int | Ints, samples: Ints, sizes: Sizes
    ) -> tuple[EffectMove, ...]:
        """Draw what happens to finished images of `sizes`."""
        return tuple(
            move
            for node in self.finishing
            for move in node.op.sample(Draws(seed, epoch, samples, node.stream), sizes)
        )

    def call_python(self, image: Image, *, seed: int, epoch: int, sample: int) -> Image:
        """Run the user's function on one image; a segment without one leaves it alone."""
        if self.python is None:
            return image
        rng = _generator(self.python, seed, epoch, sample)
        return self.python.op.apply(image, rng, step=self.python.stream + 1)

    def call_python_on_array(self, pixels: Pixels, *, seed: int, epoch: int, sample: int) -> Pixels:
        """The same for an array, which may be changed; returns an array."""
        if self.python is None:
            return pixels
        rng = _generator(self.python, seed, epoch, sample)
        return self.python.op.apply_to_array(pixels, rng, step=self.python.stream + 1)


@dataclass(frozen=True, slots=True)
class Plan:
    """Segments in order, then the final pass.

    All segments but the last end in a Python step, or in images that are kept; the last one never
    does, so that it can write the batch itself, even if it has no ops.
    """

    segments: tuple[Segment, ...]
    final: FinalSpec
    # With MultiView, each view as a plan of its own, from the file to the batch. `segments` are
    # then those with which all views begin, and `final` is the first view's.
    views: tuple[Plan, ...] = ()

    def after_shared(self, view: Plan) -> Plan:
        """What one of the views does after the segments with which all begin."""
        shared = len(self.segments) - 1
        first = view.segments[shared]
        ops = first.ops[len(self.segments[shared].ops) :]
        return replace(view, segments=(replace(first, ops=ops), *view.segments[shared + 1 :]))

    def with_element(self, element: Element) -> Plan:
        """The plan that ends in another element type."""
        views = tuple(view.with_element(element) for view in self.views)
        return replace(self, final=replace(self.final, element=element), views=views)


def _generator(node: Node[PythonStep], seed: int, epoch: int, sample: int) -> np.random.Generator:
    return Draws(seed, epoch, np.array([sample], dtype=np.int64), node.stream).generator(0)


def sample_op(
    op: ImageOp, draws: Draws, sizes: Sizes, targets: Targets | None
) -> tuple[tuple[Move, ...], Targets | None]:
    """Draw the moves of one op; returns the targets after it, too."""
    if targets is None:
        return op.sample(draws, sizes), targets
    if isinstance(op, TargetOp):
        return op.sample_targets(draws, sizes, targets)
    moves = op.sample(draws, sizes)
    return moves, move_targets(moves, targets, sizes)


def as_written(transform: object | None) -> Plan:
    """The plan that does exactly what the user wrote, in that order; None leaves images alone."""
    steps: list[Step] = [] if transform is None else list(flatten(transform))
    for place, step in enumerate(steps):
        if isinstance(step, MultiView):
            return _read_views(step, _single_ops(steps[:place]), _single_ops(steps[place + 1 :]))
    return _read(list(enumerate(_single_ops(steps))))


def _single_ops(steps: Iterable[Step]) -> list[Op]:
    ops: list[Op] = []
    for step in steps:
        if isinstance(step, MultiView):
            raise TransformError("MultiView: there are two of them. Write all views in one list.")
        ops.append(step)
    return ops


def _read_views(given: MultiView, before: list[Op], after: list[Op]) -> Plan:
    """The views, each followed by the ops `after`; steps are counted on from view to view."""
    shared = list(enumerate(before))
    count = len(shared)
    views: list[Plan] = []
    for transform in given.views:
        ops = _single_ops(flatten(transform)) + after
        views.append(_read([*shared, *enumerate(ops, start=count)]))
        count += len(ops)
    for number, view in enumerate(views, start=1):
        first, element = views[0].final.element.name.lower(), view.final.element.name.lower()
        if element != first:
            raise TransformError(
                f"MultiView: view 1 ends in {first}, view {number} in {element}; they must agree. "
                "Put ToDtype or Normalize after MultiView, or the same ToDtype into every view."
            )
    *others, last = _read(shared).segments
    return Plan((*others, replace(last, finishing=())), views[0].final, tuple(views))


def _read(ops: Sequence[tuple[int, Op]]) -> Plan:
    """The plan of ops, each with its place in what the user wrote."""
    if ops and ops[-1][0] >= MAX_STREAMS:
        raise TransformError(
            f"A pipeline may have {MAX_STREAMS} steps, got {ops[-1][0] + 1} or more."
        )
    segments: list[Segment] = []
    native: list[Node[ImageOp]] = []
    finishing: list[Node[RandomErasing]] = []
    final: list[tuple[int, FinalOp]] = []
    form = Form()
    for position, op in ops:
        if isinstance(op, ToDtype) and op.element == Element.UINT8 and not final:
            continue  # images are in that form anyway
        form.follow(position, op)
        if isinstance(op, Conversion):
            continue
        if isinstance(op, FinalOp):
            if finishing:
                raise _after_erasing(position, op, finishing[0].stream)
            final.append((position, op))
            continue
        if final and isinstance(op, RandomErasing):
            finishing.append(Node(op, position))
            continue
        if final and not isinstance(op, BoxOp):
            raise _too_late(position, op, *final[0])
        if isinstance(op, PythonStep):
            segments.append(Segment(tuple(native), Node(op, position)))
            native = []
        else:
            native.append(Node(op, position))
    last = Segment(tuple(native), finishing=tuple(finishing))
    return Plan((*segments, last), reduce_final(final))


def _after_erasing(position: int, op: FinalOp, erasing: int) -> TransformError:
    name = type(op).__name__
    return TransformError(
        f"{name} (step {position + 1}): comes after RandomErasing (step {erasing + 1}), whose "
        f"value it would change. Move RandomErasing to the end, with the value it has there."
    )


def _too_late(position: int, op: Op, end_position: int, end: FinalOp) -> TransformError:
    name = op.name if isinstance(op, PythonStep) else type(op).__name__
    ending = type(end).__name__
    return TransformError(
        f"{name} (step {position + 1}): comes after {ending} (step {end_position + 1}), which ends "
        f"the work on pixels. Move it before {ending}."
    )
