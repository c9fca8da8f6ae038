"""Tensors that lie in one batch already, so that stacking them costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from multiprocessing.reduction import ForkingPickler
from typing import Any, ClassVar

import torch
from torch.multiprocessing.reductions import reduce_tensor
from torch.utils import _pytree
from torch.utils.data._utils.collate import default_collate_fn_map

from penstock.torch.segments import ready_to_send


class Row:
    """What rows of all classes have in common: the batch, and which row of it they are."""

    whole: torch.Tensor
    number: int
    plain_class: ClassVar[type[torch.Tensor]] = torch.Tensor

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if func is torch.stack:
            together = _stacked(*args, **(kwargs or {}))
            if together is not None:
                return together
        args, kwargs = _pytree.tree_map(_as_plain, (args, kwargs or {}))
        return func(*args, **kwargs)

    def plain(self) -> torch.Tensor:
        """The same as an ordinary tensor."""
        with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (as torch documents it)
            return self.as_subclass(self.plain_class)  # type: ignore[attr-defined,no-any-return]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.plain().clone().__reduce_ex__(protocol)  # type: ignore[no-untyped-call]


class RowTensor(Row, torch.Tensor):
    """A row that is a plain tensor."""


def split_rows(whole: torch.Tensor, kind: type[torch.Tensor]) -> list[torch.Tensor]:
    """The rows of a batch, each a tensor of this class to everybody."""
    row_class = RowTensor if kind is torch.Tensor else _row_class(kind)
    rows = []
    sent = ready_to_send(whole)  # one object, so that pickle sends it once
    for number, row in enumerate(whole.unbind()):
        made: Any = row.as_subclass(row_class)
        made.whole, made.number = sent, number
        rows.append(made)
    return rows


@cache
def _row_class(kind: type[torch.Tensor]) -> Any:
    """The class of rows that are instances of another class, such as tv_tensors.Image."""
    made = type(f"Row{kind.__name__}", (Row, kind), {"plain_class": kind})
    _register(made)
    return made


def _stacked(tensors: Sequence[Any], dim: int = 0, *, out: Any = None) -> torch.Tensor | None:
    """The batch that these are the rows of, if they are, in order; `out` is then not needed."""
    del out
    first = tensors[0]
    if dim != 0 or not isinstance(first, Row) or len(tensors) != len(first.whole):
        return None
    for number, row in enumerate(tensors):
        if not isinstance(row, Row) or row.whole is not first.whole or row.number != number:
            return None
    return first.whole


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
    if type(row.whole) is torch.Tensor:
        return reduce_tensor(row.plain())  # type: ignore[no-untyped-call]
    return _receive, (row.whole, row.number, type(row).plain_class)


def _receive(whole: torch.Tensor, number: int, kind: type[torch.Tensor]) -> torch.Tensor:
    row = whole[number]
    return row if kind is torch.Tensor else row.as_subclass(kind)


def _register(kind: Any) -> None:
    default_collate_fn_map[kind] = _collate
    ForkingPickler.register(kind, _send)


_register(RowTensor)
