"""What was drawn for the samples of a batch, noted while it is made.

Runners tell the sizes and targets with which samples reach each segment of the plan; the segment's
ops are then drawn a second time, with the same keys, to learn what each of them drew. What the
planner makes of the moves does not matter here.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints, Size, Sizes
from penstock.planner.plan import Plan, Segment, sample_op
from penstock.transforms.drawn import DrawnOp, ToldDraws, drawn_ops
from penstock.transforms.moves import out_sizes
from penstock.transforms.python_step import PythonStep
from penstock.transforms.targets import Targets

_UNKNOWN = Size(0, 0)


class Witness:
    """Notes what is drawn for one batch, slot by slot. Any thread may tell it."""

    def __init__(self, plan: Plan) -> None:
        self._view_of = _views_of_steps(plan)
        self._drawn: dict[int, dict[int, DrawnOp]] = {}  # by slot and step
        self._lock = threading.Lock()

    def saw(
        self,
        segment: Segment,
        key: tuple[int, int | Ints, Ints],
        slots: npt.NDArray[np.int32],
        sizes: Sizes,
        targets: Targets | None,
    ) -> None:
        """Note what a segment draws for the samples in these slots.

        They may come again, where another sample takes the place of a bad one.
        """
        for node in segment.ops:
            draws = ToldDraws(*key, node.stream)
            moves, targets = sample_op(node.op, draws, sizes, targets)
            view = self._view_of.get(node.stream)
            self._note(slots, drawn_ops(node.op, draws, moves, sizes, view))
            sizes = out_sizes(moves, sizes)
        for last in segment.finishing:
            draws = ToldDraws(*key, last.stream)
            drawn = last.op.sample(draws, sizes)
            view = self._view_of.get(last.stream)
            self._note(slots, drawn_ops(last.op, draws, drawn, sizes, view))
        if segment.python is not None:
            step, stream = segment.python.op, segment.python.stream
            call = DrawnOp(
                step.name,
                _UNKNOWN,
                _UNKNOWN,
                step=stream + 1,
                view=self._view_of.get(stream),
                note=_about(step),
            )
            self._note(slots, [replace(call, saw=sizes[row]) for row in range(len(slots))])

    def drawn_for(self, slot: int, final: Sequence[Size]) -> tuple[DrawnOp, ...]:
        """What was drawn for one sample, in the order written; `final` are its sizes, by view."""
        steps = [drawn for _, drawn in sorted(self._drawn.get(slot, {}).items())]
        for place, one in enumerate(steps):
            if one.gave == _UNKNOWN:
                later = (two for two in steps[place + 1 :] if one.view in (None, two.view))
                known = next(later, None)
                steps[place] = replace(
                    one, gave=final[(one.view or 1) - 1] if known is None else known.saw
                )
        return tuple(steps)

    def _note(self, slots: npt.NDArray[np.int32], drawn: Sequence[DrawnOp]) -> None:
        with self._lock:
            for slot, one in zip(slots.tolist(), drawn, strict=True):
                self._drawn.setdefault(slot, {})[(one.step or 0) - 1] = one


def _about(step: PythonStep) -> str:
    if step.wants_rng:
        return "your function, with a generator for this sample"
    return "your function"


def _views_of_steps(plan: Plan) -> dict[int, int]:
    """The view that each step belongs to, from 1; steps that all views share are not there."""
    found: dict[int, int] = {}
    for number, view in enumerate(plan.views, start=1):
        for segment in plan.after_shared(view).segments:
            nodes = [*segment.ops, *segment.finishing]
            found.update(dict.fromkeys((node.stream for node in nodes), number))
            if segment.python is not None:
                found[segment.python.stream] = number
    return found
