"""What an expression of Python comes to, for all samples at once."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

from penstock.translation.tracing.arrays import makes_array
from penstock.translation.tracing.calls import call_function, call_method, look_up
from penstock.translation.tracing.values import (
    Column,
    Known,
    Named,
    Picture,
    Tensors,
    Tuple,
    UnfollowableError,
    Value,
    known,
    map_columns,
)
from penstock.translation.transforms.identify import is_of_a_library

Follow = Callable[[Any, list[Value], dict[str, Value]], Value]

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}


class Expressions:
    """Works out expressions, given what names stand for and how to follow a function."""

    def __init__(
        self, names: Mapping[str, Value], outside: Mapping[str, Any], follow: Follow
    ) -> None:
        self._names = names
        self._outside = outside
        self._follow = follow

    def value_of(self, node: ast.expr) -> Value:
        """Return what the expression stands for."""
        match node:
            case ast.Constant():
                return Known(node.value)
            case ast.Name():
                return self._name(node.id)
            case ast.Attribute():
                owner = known(self.value_of(node.value), f"what .{node.attr} is read from")
                return Known(getattr(owner, node.attr))
            case ast.Subscript():
                return look_up(self.value_of(node.value), self._key(node.slice))
            case ast.Tuple() | ast.List():
                return Tuple(tuple(self.value_of(item) for item in node.elts))
            case ast.Dict():
                return self._named(node)
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                sides = self.value_of(node.left), self.value_of(node.right)
                return map_columns(_ARITHMETIC[type(node.op)], *sides)
            case ast.JoinedStr():
                parts = [self._text(part) for part in node.values]
                return map_columns(lambda *texts: "".join(texts), *parts)
            case ast.Call():
                return self._call(node)
        return Known(self.decide(node))

    def decide(self, node: ast.expr) -> Any:
        """Return what a condition comes to; it must be the same for every sample."""
        match node:
            case ast.BoolOp():
                decided = [self.decide(node.values[0])]
                for value in node.values[1:]:
                    if bool(decided[-1]) == isinstance(node.op, ast.Or):
                        break
                    decided.append(self.decide(value))
                return decided[-1]
            case ast.UnaryOp(op=ast.Not()):
                return not self.decide(node.operand)
            case ast.Compare() if len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
                left, right = self.decide(node.left), self.decide(node.comparators[0])
                return _COMPARISONS[type(node.ops[0])](left, right)
            case ast.Constant() | ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
                return known(self.value_of(node), f"`{ast.unparse(node)}`")
        raise UnfollowableError(f"`{ast.unparse(node)}` cannot be followed")

    def _name(self, name: str) -> Value:
        if name in self._names:
            return self._names[name]
        if name in self._outside:
            return Known(self._outside[name])
        if hasattr(builtins, name):
            return Known(getattr(builtins, name))
        raise UnfollowableError(f"{name} is not known")

    def _key(self, node: ast.expr) -> Value:
        key = self.value_of(node)
        if isinstance(key, Tuple):  # as in table.iloc[index, 0]
            return map_columns(lambda *parts: parts, *key.items)
        return key

    def _named(self, node: ast.Dict) -> Named:
        names = [known(self.value_of(key), "a name") for key in node.keys if key is not None]
        if len(names) != len(node.values):
            raise UnfollowableError("a dictionary is made of another one")
        values = (self.value_of(value) for value in node.values)
        return Named(dict(zip(names, values, strict=True)))

    def _text(self, node: ast.expr) -> Value:
        if not isinstance(node, ast.FormattedValue):
            return self.value_of(node)
        if node.conversion != -1:
            raise UnfollowableError("!r, !s and !a are not followed")
        layout = Known("") if node.format_spec is None else self.value_of(node.format_spec)
        return map_columns(format, self.value_of(node.value), layout)

    def _call(self, node: ast.Call) -> Value:
        if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        ):
            raise UnfollowableError("arguments given by * are not followed")
        arguments = [self.value_of(argument) for argument in node.args]
        named = {str(keyword.arg): self.value_of(keyword.value) for keyword in node.keywords}
        if isinstance(node.func, ast.Attribute):
            owner = self.value_of(node.func.value)
            if not isinstance(owner, Known):
                return call_method(owner, node.func.attr, [*arguments, *named.values()])
            function = getattr(owner.value, node.func.attr)
        else:
            function = known(self.value_of(node.func), "the function that is called")
        return self._call_function(function, arguments, named, ast.unparse(node.func))

    def _call_function(
        self, function: Any, arguments: list[Value], named: dict[str, Value], spelled: str
    ) -> Value:
        result = call_function(function, arguments, named)
        if result is not None:
            return result
        if len(arguments) == 1 and isinstance(arguments[0], Picture) and not named:
            return self._transform(function, arguments[0])
        if is_of_a_library(function):
            raise UnfollowableError(f"what {spelled} does is not known")
        if isinstance(function, MethodType):
            return self._follow(function.__func__, [Known(function.__self__), *arguments], named)
        if isinstance(function, FunctionType) and _concerns_samples([*arguments, *named.values()]):
            return self._follow(function, arguments, named)
        raise UnfollowableError(f"what {spelled} does is not known")

    def _transform(self, transform: Any, picture: Picture) -> Picture:
        """A user's own that goes on with an array is looked into; all others are steps as such."""
        call = transform if isinstance(transform, FunctionType) else type(transform).__call__
        if isinstance(call, FunctionType) and not is_of_a_library(transform):
            given: list[Value] = [picture] if call is transform else [Known(transform), picture]
            try:
                result = self._follow(call, given, {})
            except UnfollowableError:
                result = picture
            if isinstance(result, Picture) and makes_array(result, picture):
                return result
        return replace(picture, steps=(*picture.steps, transform))


def _concerns_samples(arguments: list[Value]) -> bool:
    return any(isinstance(argument, (Column, Tensors, Picture)) for argument in arguments)
