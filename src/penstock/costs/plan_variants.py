"""Loaders of ours with another plan: ops left out, of other sizes, more often, or on other data.

What an op costs shows when it is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from penstock.geometry import Sizes
from penstock.loading.loader import Loader
from penstock.planner.plan import Node, Plan, Segment
from penstock.rng import Draws
from penstock.sources import Source
from penstock.transforms.moves import out_sizes
from penstock.transforms.op import ImageOp
from penstock.transforms.policies.rand_augment import RandAugment
from penstock.transforms.python_step import PythonStep
from penstock.transforms.values import ToDtype

_SIZE_FIELDS = ("size", "max_size", "min_size", "target_size")
_PROBE_HEIGHTS, _PROBE_WIDTHS = (375, 500, 800), (500, 333, 600)


OpNode: TypeAlias = Node[ImageOp] | Node[PythonStep]


def op_nodes(plan: Plan) -> list[OpNode]:
    """All ops of a plan in the order in which they run; with views, view after view."""
    if plan.views:
        of_views = [node for view in plan.views for node in op_nodes(view)]
        return list({node.stream: node for node in of_views}.values())
    nodes: list[OpNode] = []
    for segment in plan.segments:
        nodes += segment.ops
        if segment.python is not None:
            nodes.append(segment.python)
        nodes += segment.finishing
    return nodes


def keep_only(plan: Plan, streams: Collection[int]) -> Plan:
    """Return a plan of these ops alone; the final pass stays."""
    segments: list[Segment] = []
    ops: tuple[Node[ImageOp], ...] = ()
    for segment in plan.segments:
        ops += tuple(node for node in segment.ops if node.stream in streams)
        if segment.python is not None and segment.python.stream in streams:
            segments.append(Segment(ops, segment.python))
            ops = ()
    finishing = tuple(node for node in plan.segments[-1].finishing if node.stream in streams)
    views = tuple(keep_only(view, streams) for view in plan.views)
    return replace(plan, segments=(*segments, Segment(ops, finishing=finishing)), views=views)


def changes_size(op: ImageOp | PythonStep) -> bool:
    """Tell whether images leave an op with another size; a user's function is not asked."""
    if isinstance(op, PythonStep):
        return False
    sizes = Sizes(np.array(_PROBE_HEIGHTS), np.array(_PROBE_WIDTHS))
    draws = Draws(0, 0, np.arange(len(_PROBE_HEIGHTS)), 0)
    after = out_sizes(op.sample(draws, sizes), sizes)
    return not (
        np.array_equal(after.height, sizes.height) and np.array_equal(after.width, sizes.width)
    )


def _with_ops(plan: Plan, change: Callable[[ImageOp], ImageOp]) -> Plan:
    """Return the plan with `change(op)` in the place of every op."""
    segments = [
        replace(segment, ops=tuple(replace(node, op=change(node.op)) for node in segment.ops))
        for segment in plan.segments
    ]
    views = tuple(_with_ops(view, change) for view in plan.views)
    return replace(plan, segments=tuple(segments), views=views)


def with_size(plan: Plan, factor: float) -> Plan | None:
    """Return the plan with every size that an op sets times `factor`; None if none sets one."""
    found = False

    def resized(op: ImageOp) -> ImageOp:
        nonlocal found
        sizes = {name: getattr(op, name, None) for name in _SIZE_FIELDS if changes_size(op)}
        given = {name: scaled(size, factor) for name, size in sizes.items() if size is not None}
        found |= bool(given)
        # Every op is a dataclass; their base cannot say so.
        changed: ImageOp = replace(cast("Any", op), **given) if given else op
        return changed

    changed = _with_ops(plan, resized)
    return changed if found else None


def scaled(size_px: int | Sequence[int], factor: float) -> int | tuple[int, ...]:
    """Return a size, or several, times `factor`; at least a pixel is left."""
    if isinstance(size_px, Sequence):
        return tuple(max(1, round(side * factor)) for side in size_px)
    return max(1, round(size_px * factor))


def with_layers(plan: Plan, layers: int) -> Plan:
    """Return the plan with RandAugment of so many layers, added at the end if it has none."""
    if any(isinstance(node.op, RandAugment) for node in op_nodes(plan)):
        return _with_ops(
            plan, lambda op: replace(op, num_ops=layers) if isinstance(op, RandAugment) else op
        )
    if plan.views:
        return replace(plan, views=tuple(with_layers(view, layers) for view in plan.views))
    *others, last = plan.segments
    stream = 1 + max((node.stream for node in op_nodes(plan)), default=-1)
    added = Node(RandAugment(num_ops=layers), stream)
    return replace(plan, segments=(*others, replace(last, ops=(*last.ops, added))))


class MeasuredLoader(Protocol):
    """What `Loader` has, and the loader that `accelerate` returns, which holds one."""

    @property
    def source(self) -> Source:
        """The data set."""
        ...

    @property
    def plan(self) -> Plan:
        """The steps as they are run."""
        ...

    @property
    def batch_size(self) -> int:
        """Images in a batch."""
        ...

    @property
    def threads(self) -> int:
        """Threads that decode and augment."""
        ...

    @property
    def prefetch(self) -> int:
        """Batches under way beyond the one asked for."""
        ...

    def __iter__(self) -> Iterator[Any]: ...

    def replica(
        self,
        *,
        plan: Plan | None = None,
        threads: int | None = None,
        fidelity: str | None = None,
        batch_size: int | None = None,
    ) -> MeasuredLoader:
        """Return a loader over the same data from its first epoch on, changed as asked."""
        ...

    def close(self) -> None:
        """Stop its threads."""
        ...


def like(
    loader: MeasuredLoader,
    data: Any,
    *,
    batch_size: int | None = None,
    threads: int | None = None,
    labels: Sequence[int] | None = None,
    targets: str = "labels",
    **order: Any,
) -> Loader:
    """Return a loader with the same plan; without targets, since other data may have none.

    `order` are arguments of `Loader` about which samples come, and in which order.
    """
    element = loader.plan.final.element.name.lower()
    other = Loader(
        data,
        batch_size=batch_size or loader.batch_size,
        threads=threads or loader.threads,
        labels=labels,
        targets=targets,
        # The plan replaces this transform; only the type that batches end in is taken from it.
        transform=None if element == "uint8" else ToDtype(element, scale=True),
        **order,
    )
    return other.replica(plan=loader.plan)
