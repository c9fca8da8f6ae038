"""Functions of torch's on images that are not computed yet: those that move axes, cast, calculate.

Arithmetic is done by torch itself on a table of all levels.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from penstock.deferring.array_index import read_index
from penstock.deferring.values import Values, calculated, read_operand

Function = Callable[..., Any]

_NAMES = {
    "div": ("div", "true_divide", "divide", "__truediv__"),
    "mul": ("mul", "multiply", "__mul__", "__rmul__"),
    "sub": ("sub", "subtract", "__sub__"),
    "add": ("add", "__add__", "__radd__"),
    "rsub": ("__rsub__", "rsub"),
}
_HERE = {
    "div": ("div_", "true_divide_", "divide_", "__itruediv__", "__idiv__"),
    "mul": ("mul_", "multiply_", "__imul__"),
    "sub": ("sub_", "subtract_", "__isub__"),
    "add": ("add_", "__iadd__"),
}
_MOVES = {"hwc": ((2, 0, 1), "chw"), "chw": ((1, 2, 0), "hwc")}


def _functions(names: Iterable[str]) -> list[Any]:
    places = [torch.Tensor, torch]
    return [getattr(place, name) for place in places for name in names if hasattr(place, name)]


def _calculation(name: str, function: Function) -> Function:
    def calculate(given: Any, *args: Any, **kwargs: Any) -> Any:
        values = _after(given, name, function, *args) if not kwargs else None
        return None if values is None else given.with_values(values)

    return calculate


def _calculation_here(name: str, function: Function) -> Function:
    def on_copy(table: torch.Tensor, number: Any) -> Any:
        return function(table.clone(), number)

    def calculate(given: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or not given.is_alone or not given.dtype.is_floating_point:
            return None
        values = _after(given, name, on_copy, *args, is_here=True)
        if values is None or given.dtype != torch.from_numpy(values.table).dtype:
            return None
        given.change(given.spec.with_values(values))
        return given

    return calculate


def _after(
    given: Any, name: str, function: Function, *args: Any, is_here: bool = False
) -> Values | None:
    spec = given.spec
    values = spec.as_values()
    operand = read_operand(args[0], spec.layout, spec.channels) if len(args) == 1 else None
    if values is None or operand is None or isinstance(operand.number, np.ndarray):
        return None
    label = f"{name} here" if is_here else name
    return calculated(values, label, function, operand, is_first=True)


def _cast(given: Any, dtype: Any) -> Any:
    if dtype == given.dtype:
        return given
    values = given.spec.as_values()
    found = None if values is None else values.cast_by_torch(dtype)
    return None if found is None else given.with_values(found)


def _to(given: Any, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and not kwargs and isinstance(args[0], torch.dtype):
        return _cast(given, args[0])
    if not args and kwargs.keys() == {"dtype"} and isinstance(kwargs["dtype"], torch.dtype):
        return _cast(given, kwargs["dtype"])
    return None


def _cast_to(dtype: torch.dtype) -> Function:
    def cast(given: Any, *args: Any, **kwargs: Any) -> Any:
        return None if args or kwargs else _cast(given, dtype)

    return cast


def _type(given: Any, *args: Any, **kwargs: Any) -> Any:
    is_dtype = len(args) == 1 and not kwargs and isinstance(args[0], torch.dtype)
    return _cast(given, args[0]) if is_dtype else None


def _permute(given: Any, *dims: Any, **kwargs: Any) -> Any:
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    known, layout = _MOVES.get(given.spec.layout, ((), ""))
    if kwargs or not known or tuple(order) != known:
        return None
    return given.moved(layout, known)


def _unsqueeze(given: Any, dim: Any = None) -> Any:
    if type(dim) is not int or dim != 0:
        return None
    return given.with_one_channel() if given.spec.layout == "hw" else given.as_stack()


def _view(given: Any, *sides: Any, **kwargs: Any) -> Any:
    """Remember a shape that only adds an axis of one image."""
    wanted = sides[0] if len(sides) == 1 and isinstance(sides[0], (tuple, list)) else sides
    is_stack = not kwargs and tuple(wanted) == (1, *given.shape)
    return _unsqueeze(given, 0) if is_stack and given.is_ordered else None


def _getitem(given: Any, key: Any = ...) -> Any:
    if key is None:
        return _unsqueeze(given, 0)
    shape = tuple(given.shape)
    found = read_index(key, given.spec.layout, shape, shape)
    if found is None or found.flip_horizontal or found.flip_vertical or found.is_turned:
        return None  # torch has no steps backwards, and says so
    return given.part(found.chain_of(given.chains[0]), operator.itemgetter(key))


def _flip(given: Any, *dims: Any, **kwargs: Any) -> Any:
    """Remember a mirror, which torch copies."""
    dims = tuple(kwargs.pop("dims", ())) or dims
    wanted = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    layout, axes = given.spec.layout, len(given.spec.layout)
    if kwargs or any(type(one) is not int or not -axes <= one < axes for one in wanted):
        return None
    names = {layout[one] for one in wanted}
    if not names or "c" in names or len(names) != len(wanted):
        return None
    return given.mirrored(horizontal="w" in names, vertical="h" in names)


def _clamp(given: Any, min: Any = None, max: Any = None) -> Any:  # noqa: A002 (torch's names)
    limits = [type(one) for one in (min, max)]
    values = given.spec.as_values()
    if values is None or any(kind not in (int, float) for kind in limits):
        return None
    key = ("clamp", *limits, repr(min), repr(max))
    made = values.after(
        key, lambda table: torch.from_numpy(table).clamp(min, max).numpy(), values.guess
    )
    return None if made is None else given.with_values(made)


def _movedim(given: Any, source: Any, destination: Any) -> Any:
    layout = given.spec.layout
    if layout == "hwc" and (source, destination) in ((-1, 0), (2, 0)):
        return _permute(given, 2, 0, 1)
    is_back = layout == "chw" and (source, destination) in ((0, -1), (0, 2))
    return _permute(given, 1, 2, 0) if is_back else None


def _contiguous(given: Any, *args: Any, **kwargs: Any) -> Any:
    if args or kwargs or given.is_ordered is None:
        return None
    return given if given.is_ordered else given.again_ordered()


def _clone(given: Any, *args: Any, **kwargs: Any) -> Any:
    return None if args or kwargs else given.again()


REMEMBERED: dict[Any, Function] = {
    torch.Tensor.to: _to,
    torch.Tensor.float: _cast_to(torch.float32),
    torch.Tensor.double: _cast_to(torch.float64),
    torch.Tensor.half: _cast_to(torch.float16),
    torch.Tensor.long: _cast_to(torch.int64),
    torch.Tensor.int: _cast_to(torch.int32),
    torch.Tensor.byte: _cast_to(torch.uint8),
    torch.Tensor.type: _type,
    torch.Tensor.permute: _permute,
    torch.permute: _permute,
    torch.Tensor.unsqueeze: _unsqueeze,
    torch.unsqueeze: _unsqueeze,
    torch.Tensor.view: _view,
    torch.Tensor.reshape: _view,
    torch.Tensor.__getitem__: _getitem,
    **dict.fromkeys((torch.Tensor.flip, torch.flip), _flip),
    **dict.fromkeys(_functions(("clamp", "clip")), _clamp),
    **dict.fromkeys(_functions(("movedim", "moveaxis")), _movedim),
    torch.Tensor.contiguous: _contiguous,
    torch.Tensor.clone: _clone,
    torch.clone: _clone,
    **{f: _calculation(name, f) for name, names in _NAMES.items() for f in _functions(names)},
    **{f: _calculation_here(name, f) for name, names in _HERE.items() for f in _functions(names)},
}
