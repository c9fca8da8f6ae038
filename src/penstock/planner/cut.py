"""Where a pipeline is cut in two for reuse: the first part is kept, the last part is drawn freshly.

The cut that the user names is taken as it is. Otherwise it is the last step that resizes and has
something random after it: decoding and resizing are most of the work, the image is small from then
on, and crops that come later cost nothing and stay random. Without a step that resizes, the last
one that changes the size in another way is taken.

To find out what steps do, they are asked to draw: for some large images, and for one image many
times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Ints, Sizes
from penstock.planner.plan import Node, Plan, Segment
from penstock.planner.reuse import Echo, FirstPartUse
from penstock.rng import Draws, Words
from penstock.transforms.filter import RandomErasing
from penstock.transforms.moves import Move, ResizeMove, out_sizes
from penstock.transforms.op import BoxOp, ImageOp
from penstock.transforms.policies.population import PopulationBasedAugment
from penstock.transforms.python_step import PythonStep

AnyNode = Node[ImageOp] | Node[PythonStep]

_PROBE_HEIGHTS, _PROBE_WIDTHS = (1200, 1600, 1536, 2000), (1600, 1200, 2048, 1500)
_ROWS = 512  # draws of one step for one image: enough to see what happens to one image in 100


@dataclass(frozen=True, slots=True)
class Cut:
    """A pipeline in two parts."""

    plan: Plan  # the same steps; the segments of the first part are marked
    after: str  # the last step of the first part
    why: str  # it was taken
    fixed: bool  # whether the first part draws nothing, so that keeping it costs no diversity
    finishes: float  # how many of `times` uses of an image differ, as a mean

    @property
    def first(self) -> tuple[Segment, ...]:
        """The segments of the first part."""
        return tuple(segment for segment in self.plan.segments if segment.kept)

    @property
    def rest(self) -> tuple[Segment, ...]:
        """The segments of the last part."""
        return tuple(segment for segment in self.plan.segments if not segment.kept)


def cut_plan(plan: Plan, asked: FirstPartUse, *, mixes: bool) -> Cut:
    """Cut a plan where the user asks, or where it is best.

    `mixes` says that batches are mixed afterwards, so that no two images are alike. Raises
    TransformError if nothing random would come after the cut.
    """
    name = type(asked).__name__
    nodes = list(_nodes(plan))
    asks = _Asks(nodes)
    if asked.after is not None:
        place, why = _named(name, nodes, asked.after), "as after= says"
        if not (mixes or asks.random_after(place, plan)):
            raise TransformError(
                f"{name}: nothing random comes after {_told(nodes[place])}, so every image would "
                f"come {asked.times} times without a change. Name an earlier step in after=, or "
                "leave reuse= out."
            )
    else:
        place, why = _best(name, nodes, asks, plan, mixes=mixes)
    if not isinstance(asked, Echo):
        _refuse_schedules(nodes[: place + 1])
    marked = _split(plan, nodes[place])
    fixed = not any(asks.draws(node) for node in nodes[: place + 1])
    after = _told(nodes[place])
    finishes = asked.times if mixes else asks.distinct_after(place, plan, asked.times)
    return Cut(marked, after, why, fixed, finishes)


def _nodes(plan: Plan) -> Iterator[AnyNode]:
    for segment in plan.segments:
        yield from segment.ops
        if segment.python is not None:
            yield segment.python


def _told(node: AnyNode) -> str:
    return f"{_name(node)} (step {node.stream + 1})"


def _name(node: AnyNode) -> str:
    return node.op.name if isinstance(node.op, PythonStep) else type(node.op).__name__


def _named(where: str, nodes: Sequence[AnyNode], after: str | int) -> int:
    found = [
        place
        for place, node in enumerate(nodes)
        if after == (_name(node) if isinstance(after, str) else node.stream + 1)
    ]
    steps = ", ".join(_told(node) for node in nodes) or "none"
    if not found:
        raise TransformError(
            f"{where}: after={after!r} is no step that works on single images. There are: {steps}."
        )
    if len(found) > 1:
        raise TransformError(
            f"{where}: after={after!r} is the name of {len(found)} steps. Give the number of one "
            f"of them: {steps}."
        )
    return found[0]


def _best(
    where: str, nodes: Sequence[AnyNode], asks: _Asks, plan: Plan, *, mixes: bool
) -> tuple[int, str]:
    resizes = [place for place in range(len(nodes)) if asks.resizes(place)]
    crops = [place for place in range(len(nodes)) if asks.changes_size(place)]
    if not crops:
        raise TransformError(
            f"{where}: no step makes images smaller, so whole photos would be kept. Add a "
            "RandomResizedCrop or Resize, or name the step to cut after in after=."
        )
    for places, what in ((resizes, "resizes"), (crops, "changes the size")):
        for place in reversed(places):
            if mixes or asks.random_after(place, plan):
                return place, f"the last step that {what} and has something random after it"
    raise TransformError(
        f"{where}: nothing random comes after {_told(nodes[crops[0]])}, so every image would come "
        "several times without a change. Move random steps, such as flips and colours, behind it, "
        "or name an earlier step in after=."
    )


def follows_epochs(plan: Plan) -> bool:
    """Whether a step follows a schedule of epochs."""
    plans = plan.views or (plan,)
    return any(_has_schedule(node) for one in plans for node in _nodes(one))


def _has_schedule(node: AnyNode) -> bool:
    return _is_scheduled(node.op)


def _is_scheduled(op: Any) -> bool:
    inner = getattr(op, "transforms", ())  # of containers
    return isinstance(op, PopulationBasedAugment) or any(_is_scheduled(one) for one in inner)


def _refuse_schedules(nodes: Sequence[AnyNode]) -> None:
    for node in nodes:
        if _has_schedule(node):
            raise TransformError(
                f"{_told(node)}: follows a schedule of epochs, but Reuse would use its images in "
                "later ones, too. Name an earlier step in Reuse(after=...), or use Echo."
            )


def is_random(plan: Plan) -> bool:
    """Whether a sample may come out differently if it is drawn again.

    A function of the user's may draw if it asks for a generator.
    """
    for one in plan.views or (plan,):
        nodes: list[AnyNode] = [node for segment in one.segments for node in segment.ops]
        asks = _Asks(nodes)
        calls = [segment.python for segment in one.segments if segment.python is not None]
        if (
            any(asks.draws(node) for node in nodes)
            or any(call.op.wants_rng for call in calls)
            or one.segments[-1].finishing
        ):
            return True
    return False


def _split(plan: Plan, last: AnyNode) -> Plan:
    """Mark what comes up to `last`, and cut its segment in two behind it."""
    segments: list[Segment] = []
    found = False
    for segment in plan.segments:
        if found:
            segments.append(segment)
            continue
        if segment.python is last:
            found = True
        elif last in segment.ops:
            found = True
            here = 1 + segment.ops.index(last)
            segments.append(Segment(segment.ops[:here], kept=True))
            segments.append(replace(segment, ops=segment.ops[here:]))
            continue
        segments.append(replace(segment, kept=True))
    return replace(plan, segments=tuple(segments))


class _Asks:
    """What the steps of a pipeline do to images, found out by letting them draw."""

    def __init__(self, nodes: Sequence[AnyNode]) -> None:
        self._nodes = nodes
        self._moves: list[tuple[Move, ...] | None] = []  # None if the step cannot tell
        self._sizes: list[Sizes] = []  # before each step
        sizes = Sizes(np.array(_PROBE_HEIGHTS), np.array(_PROBE_WIDTHS))
        for node in nodes:
            moves = _try(node, Draws(0, 0, np.arange(len(sizes)), node.stream), sizes)
            self._moves.append(moves)
            self._sizes.append(sizes)
            sizes = out_sizes(moves or (), sizes)
        self._end = sizes

    def resizes(self, place: int) -> bool:
        """Whether a step resizes."""
        return any(isinstance(move, ResizeMove) for move in self._moves[place] or ())

    def changes_size(self, place: int) -> bool:
        """Whether images leave a step with another size; a user's function is not asked."""
        moves, before = self._moves[place], self._sizes[place]
        if moves is None:
            return not isinstance(self._nodes[place].op, PythonStep)
        return not _same(out_sizes(moves, before), before)

    def random_after(self, place: int, plan: Plan) -> bool:
        """Whether an image may come out differently when all later steps are drawn again."""
        return any(
            drawn is None or len(set(drawn)) > 1 for drawn in self._drawn_after(place, plan, _ROWS)
        )

    def distinct_after(self, place: int, plan: Plan, times: int) -> float:
        """How many of `times` images that share a first part differ, as a mean, by counting."""
        rows = times * max(8, _ROWS // times)
        whole = [b""] * rows
        for drawn in self._drawn_after(place, plan, rows):
            if drawn is None:
                return float(times)
            whole = [before + new for before, new in zip(whole, drawn, strict=True)]
        groups = (whole[start : start + times] for start in range(0, rows, times))
        return float(np.mean([len(set(group)) for group in groups]))

    def _drawn_after(self, place: int, plan: Plan, rows: int) -> Iterator[list[bytes] | None]:
        """What each later step does to one image, drawn so often; None: always something else."""
        later = self._nodes[place + 1 :]
        for node, sizes in zip(later, self._sizes[place + 1 :], strict=True):
            yield _drawn_often(node, sizes, rows)
        for finishing in plan.segments[-1].finishing:
            yield _drawn_often(finishing, self._end, rows)

    def draws(self, node: AnyNode) -> bool:
        """Whether a step draws random numbers, or may do so."""
        if isinstance(node.op, PythonStep):
            return True
        if isinstance(node.op, BoxOp):
            return False
        draws = _WatchedDraws(0, 0, np.arange(len(_PROBE_HEIGHTS)), node.stream)
        place = self._nodes.index(node)
        return _try(node, draws, self._sizes[place]) is None or draws.drew


class _WatchedDraws(Draws):
    """Notes whether anything was drawn."""

    __slots__ = ("drew",)

    def __init__(self, seed: int, epoch: int | Ints, samples: Ints, stream: int) -> None:
        super().__init__(seed, epoch, samples, stream)
        self.drew = False

    def branch(self, index: int, rows: Ints | slice = slice(None)) -> Draws:
        """Branches are for drawing."""
        self.drew = True
        return super().branch(index, rows)

    def _next_blocks(self, count: int) -> Words:
        self.drew = True
        return super()._next_blocks(count)


def _try(
    node: AnyNode | Node[RandomErasing], draws: Draws, sizes: Sizes
) -> tuple[Move, ...] | None:
    """The moves of a step; None if only real samples can tell, such as those with boxes."""
    if isinstance(node.op, PythonStep):
        return None
    try:
        return node.op.sample(draws, sizes)
    except TransformError:
        return None


def _same(one: Sizes, other: Sizes) -> bool:
    return np.array_equal(one.height, other.height) and np.array_equal(one.width, other.width)


def _drawn_often(
    node: AnyNode | Node[RandomErasing], sizes: Sizes, rows: int
) -> list[bytes] | None:
    """What a step does to an image of the first of `sizes`, drawn for so many samples.

    None if that can be anything: a user's function that draws, a crop that looks for boxes.
    """
    if isinstance(node.op, PythonStep):
        return None if node.op.wants_rng else [b""] * rows
    one_size = sizes.at(np.zeros(rows, dtype=np.int64))
    moves = _try(node, Draws(0, 0, np.arange(rows), node.stream), one_size)
    if moves is None:
        return None
    columns = [
        np.asarray(getattr(move, field.name)).reshape(rows, -1).astype(np.float64)
        for move in moves
        for field in fields(move)
        if isinstance(getattr(move, field.name), np.ndarray)
    ]
    if not columns:
        return [b""] * rows
    return [row.tobytes() for row in np.concatenate(columns, axis=1)]
