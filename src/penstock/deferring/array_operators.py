"""The operators of arrays that are not computed yet.

Adding, subtracting, multiplying and dividing are remembered where that is possible; all others are
NumPy's own, on the values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.deferring.array_base import settled

_ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide}
_OTHERS = (*("floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or", "matmul"),)
_IN_PLACE = ("floordiv", "mod", "pow", "lshift", "rshift", "and", "xor", "or", "matmul")
_COMPARED = ("lt", "le", "eq", "ne", "gt", "ge", "contains")
_ALONE = (
    *("neg", "pos", "abs", "invert", "bool", "int", "float", "complex", "index"),
    *("repr", "str"),
)


def operators() -> dict[str, Callable[..., Any]]:
    """Return the methods of all operators, by their names."""
    methods: dict[str, Callable[..., Any]] = {}
    for name, ufunc in _ARITHMETIC.items():
        methods |= _arithmetic(name, ufunc)
    names = [*_OTHERS, *(f"r{name}" for name in _OTHERS), *_COMPARED, *_ALONE]
    methods |= {f"__{name}__": _by_values(f"__{name}__") for name in names}
    methods |= {f"__i{name}__": _here_by_values(name) for name in _IN_PLACE}
    methods["__format__"] = _by_values("__format__")
    return methods


def _arithmetic(name: str, ufunc: np.ufunc) -> dict[str, Callable[..., Any]]:
    plain, mirrored = getattr(np.ndarray, f"__{name}__"), getattr(np.ndarray, f"__r{name}__")
    in_place = getattr(operator, f"i{name}")

    def forward(self: Any, other: Any) -> Any:
        done = self.after(ufunc, other)
        return plain(self.values(), settled(other)) if done is None else done

    def backward(self: Any, other: Any) -> Any:
        done = self.after(ufunc, other, is_first=False)
        return mirrored(self.values(), settled(other)) if done is None else done

    def here(self: Any, other: Any) -> Any:
        if not self.change(ufunc, other):
            in_place(self.values(), settled(other))
        return self

    return {f"__{name}__": forward, f"__r{name}__": backward, f"__i{name}__": here}


def _by_values(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        return getattr(self.values(), name)(*settled(args))

    return method


def _here_by_values(name: str) -> Callable[..., Any]:
    in_place = getattr(operator, f"i{name}")

    def method(self: Any, other: Any) -> Any:
        in_place(self.values(), settled(other))
        return self

    return method
