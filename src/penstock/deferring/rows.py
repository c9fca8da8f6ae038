"""Tensors that lie in one batch already, so that stacking them costs nothing.

Whoever stacks all rows of a batch gets the batch itself, once, and only if nobody has had single
rows before: they share memory, and one would change with the other. Rows that are asked for after
that are copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from multiprocessing.reduction import ForkingPickler
from typing import Any, ClassVar

import torch
from torch.multiprocessing.reductions import reduce_tensor
from torch.utils import _pytree
from torch.utils.data._utils.collate import default_collate_fn_map

from penstock.deferring.tensor import ABOUT, with_added
from penstock.errors import TranslationError
from penstock.torch.segments import ready_to_send

_OURS = frozenset({"whole", "number", "_own"})


class Whole:
    """A batch, until somebody has it, or a row of it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = ready_to_send(tensor)  # one object, so that pickle sends it once
        self.has_rows_out = False
        self._version: int | None = None  # of the batch when it was given away

    @property
    def is_given(self) -> bool:
        """Whether somebody has the batch."""
        return self._version is not None

    def give(self) -> torch.Tensor:
        """Return the batch, which is theirs from now on."""
        self._version = self.tensor._version  # noqa: SLF001 (how torch counts changes in place)
        return self.tensor

    def copy_of(self, row: torch.Tensor) -> torch.Tensor:
        """Return what a row was when the batch was given away."""
        if self.tensor._version != self._version:  # noqa: SLF001 (as above)
            raise TranslationError(
                "The collate function changes a batch that it has stacked in place, and then uses "
                "the samples again: their values are gone. Copy the batch first (`.clone()`), or "
                "let it be as it was, without accelerate.",
                ("a batch was changed in place",),
            )
        return row.clone()


class Row:
    """What rows of all classes have in common: the batch, and which row of it they are."""

    whole: Whole
    number: int
    plain_class: ClassVar[type[torch.Tensor]] = torch.Tensor
    _own: torch.Tensor | None = None  # what whoever uses it gets

    @property
    def is_untouched(self) -> bool:
        """Whether it is still nothing but a place in its batch."""
        return self._own is None and not self.whole.is_given

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        kwargs = kwargs or {}
        if func is torch.stack and "out" not in kwargs:
            together = _stacked(*args, **kwargs)
            if together is not None:
                return together
        if func in ABOUT and isinstance(args[0], Row) and args[0].is_untouched:
            with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (as torch documents it)
                return func(*args, **kwargs)
        args, kwargs = _pytree.tree_map(_as_plain, (args, kwargs))
        return func(*args, **kwargs)

    def plain(self) -> torch.Tensor:
        """The same as an ordinary tensor: always the same one, or changes of it would be lost."""
        if self._own is None:
            with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (as torch documents it)
                # `data`, so that torch takes no change of a row for one of all others.
                mine = self.data.as_subclass(self.plain_class)  # type: ignore[attr-defined]
                self._own = self.whole.copy_of(mine) if self.whole.is_given else mine
            self.whole.has_rows_out = True
        return with_added(self._own, self, _OURS)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.plain().clone().__reduce_ex__(protocol)  # type: ignore[no-untyped-call]


class RowTensor(Row, torch.Tensor):
    """A row that is a plain tensor."""


def split_rows(tensor: torch.Tensor, kind: type[torch.Tensor]) -> list[torch.Tensor]:
    """The rows of a batch, each a tensor of this class to everybody."""
    row_class = RowTensor if kind is torch.Tensor else _row_class(kind)
    rows = []
    whole = Whole(tensor)
    for number, row in enumerate(tensor.unbind()):
        made: Any = row.as_subclass(row_class)
        made.whole, made.number = whole, number
        rows.append(made)
    return rows


@cache
def _row_class(kind: type[torch.Tensor]) -> Any:
    """The class of rows that are instances of another class, such as tv_tensors.Image."""
    made = type(f"Row{kind.__name__}", (Row, kind), {"plain_class": kind})
    _register(made)
    return made


def _stacked(tensors: Sequence[Any], dim: int = 0) -> torch.Tensor | None:
    """The batch that these are the rows of, if they are, in order, and nobody has it yet."""
    first = tensors[0]
    if dim != 0 or not isinstance(first, Row):
        return None
    whole = first.whole
    if whole.is_given or whole.has_rows_out or len(tensors) != len(whole.tensor):
        return None
    for number, row in enumerate(tensors):
        if not isinstance(row, Row) or row.whole is not whole or row.number != number:
            return None
    return whole.give()


def _collate(batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
    """Collate rows as torch collates tensors, without a copy where they are a whole batch."""
    together = _stacked(batch)
    if together is not None:
        return together
    return default_collate_fn_map[torch.Tensor](
        [_as_plain(row) for row in batch], collate_fn_map=collate_fn_map
    )


def _as_plain(value: Any) -> Any:
    return value.plain() if isinstance(value, Row) else value


def _send(row: Any) -> Any:
    """Send the batch once, and rows as places in it."""
    if not row.is_untouched or type(row.whole.tensor) is torch.Tensor:
        return reduce_tensor(row.plain())  # type: ignore[no-untyped-call]
    return _receive, (row.whole.tensor, row.number, type(row).plain_class)


def _receive(whole: torch.Tensor, number: int, kind: type[torch.Tensor]) -> torch.Tensor:
    row = whole.data[number]  # `data`, as above
    return row if kind is torch.Tensor else row.as_subclass(kind)


def _register(kind: Any) -> None:
    default_collate_fn_map[kind] = _collate
    ForkingPickler.register(kind, _send)


_register(RowTensor)
