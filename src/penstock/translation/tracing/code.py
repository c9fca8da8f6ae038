"""Follows the code of a Dataset's `__getitem__` to what it does to a sample, for all at once.

Nothing is guessed: a statement or call whose effect is not known ends it, and is named. Images are
neither opened nor transformed; paths and labels are worked out for each sample.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

from penstock.translation.tracing.expressions import Expressions
from penstock.translation.tracing.values import (
    Column,
    Known,
    Tuple,
    UnfollowableError,
    Value,
    map_columns,
)

_DEEPEST = 8  # calls within calls


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

    expressions = Expressions(names, outside, follow)
    if isinstance(node, ast.Lambda):
        return expressions.value_of(node.body)
    returned = _Statements(names, expressions).run(node.body)
    if returned is None:
        raise UnfollowableError(f"{function.__qualname__} returns nothing")
    return returned


class _Statements:
    """The body of a function, which binds names."""

    def __init__(self, names: dict[str, Value], expressions: Expressions) -> None:
        self._names = names
        self._expressions = expressions

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
        value_of = self._expressions.value_of
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
                taken = statement.body if self._expressions.decide(statement.test) else None
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
            self._names[target.id] = value
        elif isinstance(target, ast.Tuple):
            for inner, part in zip(target.elts, _parts(value, len(target.elts)), strict=True):
                self._bind(inner, part)
        else:
            raise UnfollowableError("something other than a plain name is assigned to")


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
