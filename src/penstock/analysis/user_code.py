"""The lines of the user's own code that advice is about: where a loader or an op is made."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

_MAKERS = {"DataLoader", "Loader"}
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(frozen=True, slots=True)
class UserCode:
    """A file, and the call in it that makes the loader, if there is just one that can be meant."""

    file: str
    tree: ast.Module
    loader: ast.Call | None

    def loader_place(self, keyword: str | None = None) -> str | None:
        """Return `file:line` of the call that makes the loader, or of one of its arguments."""
        if self.loader is None:
            return None
        given = {one.arg: one.value.lineno for one in self.loader.keywords}
        return self._place(given.get(keyword, self.loader.lineno))

    def call_place(self, name: str) -> str | None:
        """Return `file:line` of the only call of a function or class of this name."""
        calls = [call for call in _calls(self.tree) if _called(call) == name]
        return self._place(calls[0].lineno) if len(calls) == 1 else None

    def _place(self, line: int) -> str:
        relative = os.path.relpath(self.file)
        return f"{self.file if relative.startswith(os.pardir) else relative}:{line}"


def read_user_code(file: str, name: str) -> UserCode | None:
    """Read the file in which `name` is a loader, or a function that makes one.

    None where the file is not there to be read, as what is typed at a prompt.
    """
    tree = parse_file(file)
    if tree is None:
        return None
    return UserCode(os.path.abspath(file), tree, _find_loader(tree, name, set()))


def parse_file(file: str) -> ast.Module | None:
    """Return the syntax tree of a file; None if it cannot be read or is not Python."""
    try:
        with open(file, encoding="utf-8") as source:
            return ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None


def makes_loader(value: ast.AST | None) -> bool:
    """Whether an expression is a call of DataLoader or Loader."""
    return isinstance(value, ast.Call) and _called(value) in _MAKERS


def code_of_caller(loader: Any) -> UserCode | None:
    """Read the code that holds `loader` in a variable and asked for the analysis."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 (has no public name)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    if frame is None:
        return None
    for variables in (frame.f_locals, frame.f_globals):
        for name, value in variables.items():
            if value is loader:
                return read_user_code(frame.f_code.co_filename, name)
    return None


def _find_loader(tree: ast.AST, name: str, seen: set[str]) -> ast.Call | None:
    """Return the one call that makes the loader, through functions of the same file."""
    seen.add(name)
    found: dict[int, ast.Call] = {}
    for place in _bindings(tree, name):
        for call in _calls(place):
            called = _called(call)
            if makes_loader(call):
                found[call.lineno] = call
            elif called is not None and called not in seen:
                inner = _find_loader(tree, called, seen)
                if inner is not None:
                    found[inner.lineno] = inner
    return next(iter(found.values())) if len(found) == 1 else None


def _bindings(tree: ast.AST, name: str) -> Iterator[ast.AST]:
    """Yield what gives a name its meaning: assignments, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name:
                yield node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == name for one in targets):
                yield node.value


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _called(call: ast.Call) -> str | None:
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else None
