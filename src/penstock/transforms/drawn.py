"""What transforms drew for single images, as data and in words.

In a training, draws become moves and nobody asks what they were. For a batch that is looked at,
`ToldDraws` gives transforms the same numbers and keeps what they say about them; the rest is read
from their moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from penstock.geometry import Ints, Size, Sizes
from penstock.rng import Draws
from penstock.transforms.move_words import move_as_data, say_move, say_number
from penstock.transforms.moves import Move, out_sizes
from penstock.transforms.op import BoxOp, Transform

# Said in words only where the moves cannot be.
_QUIET = frozenset({"level", "magnitude"})


@dataclass(frozen=True, slots=True)
class DrawnOp:
    """What one transform drew for one image, and what it then did to it.

    `drawn` has what the transform calls by name, such as an angle, and what was drawn by each
    transform inside it, in the order in which they were done. `moves` has what follows from that:
    boxes are left, top, right, bottom in pixels of the image as the transform saw it or, after an
    earlier move of the same transform, as that one left it.
    """

    op: str
    saw: Size  # of the image, before and after
    gave: Size
    drawn: tuple[Drawn, ...] = ()
    moves: tuple[dict[str, Any], ...] = ()
    step: int | None = None  # its number in what the user wrote, from 1; None: within another
    view: int | None = None  # with MultiView: of which view, from 1; None: of all of them
    note: str = ""  # in words, where nothing else is known

    @property
    def words(self) -> str:
        """What happened, on one line."""
        return "; ".join(self._said()) or self.note or "nothing"

    @property
    def call(self) -> str:
        """The same with the name of the transform, as a call is written."""
        name = self.op.lower()
        said = [one.removeprefix(f"{name} ") for one in self._said() if one != name]
        if said or not self._said():
            return f"{self.op}({', '.join(said) or self.note or 'nothing'})"
        return self.op

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"op": self.op, "step": self.step, "view": self.view}
        found |= {"saw": [self.saw.height, self.saw.width]}
        found |= {"gave": [self.gave.height, self.gave.width]}
        found["drawn"] = [
            one.to_dict() if isinstance(one, DrawnOp) else dict(one) for one in self.drawn
        ]
        return found | {"moves": list(self.moves), "words": self.words}

    def _said(self) -> list[str]:
        told = list(self._say_drawn())
        if any(isinstance(one, DrawnOp) for one in self.drawn):
            return told  # which says what the moves are
        moved = [said for move in self.moves if (said := say_move(move, brief=bool(self.drawn)))]
        if told or moved:
            return [*told, *moved]
        plain = [one for one in self.drawn if not isinstance(one, DrawnOp)]
        return [say_number(one["magnitude"]) for one in plain if "magnitude" in one]

    def _say_drawn(self) -> Iterator[str]:
        for one in self.drawn:
            if isinstance(one, DrawnOp):
                yield one.call
            elif said := ", ".join(
                f"{name.replace('_', ' ')} {say_number(value)}"
                for name, value in one.items()
                if name not in _QUIET
            ):
                yield said


Drawn: TypeAlias = "dict[str, Any] | DrawnOp"


class ToldDraws(Draws):
    """The same random numbers; what transforms say about them is kept, row by row."""

    __slots__ = ("notes",)

    listens: ClassVar[bool] = True

    def __init__(self, seed: int, epoch: int | Ints, samples: Ints, stream: int) -> None:
        super().__init__(seed, epoch, samples, stream)
        self.notes: list[list[Drawn]] = [[] for _ in range(len(samples))]

    def branch(self, index: int, rows: Ints | slice = slice(None)) -> ToldDraws:
        """The draws of a step inside this one, which are told apart."""
        return ToldDraws(*self._branch_key(index, rows))

    def tell(self, rows: Ints | None = None, **drawn: Any) -> None:
        """Keep what was drawn."""
        chosen = np.arange(len(self.notes)) if rows is None else rows
        for place, row in enumerate(chosen.tolist()):
            self.notes[row].append(_at(drawn, place))

    def tell_op(
        self,
        name: str,
        rows: Ints,
        moves: Sequence[Move],
        sizes: Sizes,
        *,
        within: Draws | None = None,
        **drawn: Any,
    ) -> None:
        """Keep what an op inside this one did."""
        notes = within.notes if isinstance(within, ToldDraws) else [[] for _ in range(len(rows))]
        after = out_sizes(moves, sizes)
        for place, row in enumerate(rows.tolist()):
            told: list[Drawn] = [_at(drawn, place)] if drawn else []
            done = DrawnOp(
                name,
                sizes[place],
                after[place],
                (*told, *notes[place]),
                tuple(_moves_of(moves, place, sizes)),
            )
            self.notes[row].append(done)


def drawn_ops(
    op: Transform, draws: ToldDraws, moves: Sequence[Move], sizes: Sizes, view: int | None
) -> list[DrawnOp]:
    """What a step of a pipeline drew for each image of a batch, after it has drawn."""
    note = "changes targets, not images" if isinstance(op, BoxOp) else ""
    after = out_sizes(moves, sizes)
    return [
        DrawnOp(
            type(op).__name__,
            sizes[row],
            after[row],
            tuple(notes),
            tuple(_moves_of(moves, row, sizes)),
            draws.stream + 1,
            view,
            note,
        )
        for row, notes in enumerate(draws.notes)
    ]


def _moves_of(moves: Sequence[Move], row: int, sizes: Sizes) -> Iterator[dict[str, Any]]:
    for move in moves:
        told = move_as_data(move, row, sizes[row])
        if told is not None:
            yield told
        sizes = move.out_sizes(sizes)


def _at(drawn: dict[str, Any], place: int) -> dict[str, Any]:
    """One row of named columns, as plain numbers."""
    return {
        name: value[place].tolist() if isinstance(value, np.ndarray) else value
        for name, value in drawn.items()
    }
