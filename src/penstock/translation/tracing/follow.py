"""Follows the code of a Dataset's `__getitem__` to learn what its samples are, all at once.

Nothing is guessed: a statement or call whose effect is not known ends it, and is named. Images are
neither opened nor transformed; paths and labels are worked out for each sample.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any

from penstock.translation.tracing.values import (
    Column,
    Known,
    Named,
    Picture,
    Tensors,
    Tuple,
    UnfollowableError,
    Value,
    call_function,
    call_method,
    known,
    look_up,
    makes_array,
    map_columns,
)
from penstock.translation.transforms.identify import is_of_a_library

_DEEPEST = 8  # calls within calls
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


def follow_getitem(dataset: Any) -> Value:
    """Return what `dataset[index]` is, for every index."""
    indices = Column(tuple(range(len(dataset))))
    return follow_function(type(dataset).__getitem__, [Known(dataset), indices], {})


def follow_function(
    function: Any, arguments: list[Value], named: dict[str, Value], depth: int = 0
) -> Value:
    """Return what a function written in Python returns."""
    if depth > _DEEPEST:
        raise UnfollowableError("functions call each other too deeply to be followed")
    node = read_code(function)
    try:
        bound = inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        raise UnfollowableError(str(error)) from error
    given = set(bound.arguments)
    bound.apply_defaults()
    names = {
        name: value if name in given else Known(value) for name, value in bound.arguments.items()
    }
    outside = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}

    def follow(inner: Any, arguments: list[Value], named: dict[str, Value]) -> Value:
        return follow_function(inner, arguments, named, depth + 1)

    expressions = _Expressions(names, outside, follow)
    if isinstance(node, ast.Lambda):
        return expressions.value_of(node.body)
    returned = _Statements(names, expressions).run(node.body)
    if returned is None:
        raise UnfollowableError(f"{function.__qualname__} returns nothing")
    return returned


@dataclass(frozen=True, slots=True)
class _Statements:
    """The body of a function, which binds names."""

    names: dict[str, Value]
    expressions: _Expressions

    def run(self, body: list[ast.stmt]) -> Value | None:
        """Follow statements; the value of a `return`, or None at the end."""
        for statement in body:
            try:
                returned = self._run_one(statement)
            except UnfollowableError as error:
                if error.has_code:
                    raise
                raise UnfollowableError(str(error), _first_line(statement)) from error
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                why = f"{type(error).__name__}: {error}"
                raise UnfollowableError(why, _first_line(statement)) from error
            if returned is not None:
                return returned
        return None

    def _run_one(self, statement: ast.stmt) -> Value | None:
        value_of = self.expressions.value_of
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return None
            case ast.Return(value=ast.expr() as value):
                return value_of(value)
            case ast.Assign(targets=[target], value=value):
                self._bind(target, value_of(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value_of(value))
            case ast.Expr(value=ast.Call() as call):
                value_of(call)  # such as image.load(); one that is not known stops it
            case ast.If():
                taken = statement.body if self.expressions.decide(statement.test) else None
                return self.run(statement.orelse if taken is None else taken)
            case ast.With():
                for item in statement.items:
                    opened = value_of(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, opened)
                return self.run(statement.body)
            case _:
                raise UnfollowableError("such a statement cannot be followed")
        return None

    def _bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple):
            for inner, part in zip(target.elts, _parts(value, len(target.elts)), strict=True):
                self._bind(inner, part)
        else:
            raise UnfollowableError("something other than a plain name is assigned to")


@dataclass(frozen=True, slots=True)
class _Expressions:
    """Works out expressions, given what names stand for and how to follow a function."""

    names: Mapping[str, Value]
    outside: Mapping[str, Any]
    follow: Follow

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
        if name in self.names:
            return self.names[name]
        if name in self.outside:
            return Known(self.outside[name])
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
            return self.follow(function.__func__, [Known(function.__self__), *arguments], named)
        if isinstance(function, FunctionType) and _concerns_samples([*arguments, *named.values()]):
            return self.follow(function, arguments, named)
        raise UnfollowableError(f"what {spelled} does is not known")

    def _transform(self, transform: Any, picture: Picture) -> Picture:
        """Look into a function of the user's own that makes an array; all others are steps."""
        call = transform if isinstance(transform, FunctionType) else type(transform).__call__
        if isinstance(call, FunctionType) and not is_of_a_library(transform):
            given: list[Value] = [picture] if call is transform else [Known(transform), picture]
            try:
                result = self.follow(call, given, {})
            except UnfollowableError:
                result = picture
            if isinstance(result, Picture) and makes_array(result, picture):
                return result
        return replace(picture, steps=(*picture.steps, transform))


def _concerns_samples(arguments: list[Value]) -> bool:
    return any(isinstance(argument, (Column, Tensors, Picture)) for argument in arguments)


def _first_line(statement: ast.stmt) -> str:
    return ast.unparse(statement).splitlines()[0]


def _parts(value: Value, count: int) -> tuple[Value, ...]:
    if isinstance(value, Tuple) and len(value.items) == count:
        return value.items
    if isinstance(value, Column) and all(len(row) == count for row in value.values):
        return tuple(
            map_columns(lambda row, place: row[place], value, Known(place))
            for place in range(count)
        )
    raise UnfollowableError(f"it is not known to have {count} parts")


def read_code(function: Any) -> ast.FunctionDef | ast.Lambda:
    """Return the syntax tree of a function; its decorators would be unknown work."""
    name = getattr(function, "__qualname__", str(function))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise UnfollowableError(f"the source of {name} cannot be read ({error})") from error
    kind = ast.Lambda if function.__name__ == "<lambda>" else ast.FunctionDef
    found = [node for node in ast.walk(tree) if isinstance(node, kind)]
    if not found or (kind is ast.Lambda and len(found) > 1):
        raise UnfollowableError(f"the source of {name} cannot be told from what stands beside it")
    node = found[0]
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        raise UnfollowableError(f"what the decorators of {name} do is not known")
    return node
