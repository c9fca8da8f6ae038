"""What to type next: the command that looks closer at a loader of the user's script."""

from __future__ import annotations

import ast
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from penstock.analysis.user_code import makes_loader, parse_file, read_user_code
from penstock.results.records import Verdict
from penstock.watching.frames import Stage
from penstock.watching.report import WatchReport
from penstock.watching.script import ScriptLoader

NOTHING_TO_DO = {Verdict.NONE, Verdict.ACCELERATOR, Verdict.START_UP}
OP_BY_OP = {Verdict.DECODE, Verdict.AUGMENT, Verdict.OWN_CODE, Verdict.INPUT}


class ScriptObjects:
    """The objects of a script that has run, and which of them are there when it is imported.

    `penstock analyze` and `profile` import the script: what it makes behind
    `if __name__ == "__main__":` or inside a function does not exist then, and what trains outside
    of it would train again.
    """

    def __init__(self, script: str, file: str | None, *, is_module: bool) -> None:
        main: Any = sys.modules.get("__main__")
        self._script = script
        self._is_module = is_module
        self._objects: dict[str, Any] = dict(vars(main)) if main is not None else {}
        self._file = file
        self._tree = parse_file(file or "")

    def next_step(self, found: ScriptLoader, report: WatchReport) -> str | None:
        """Return the sentence with the command; None where there is nothing to look for."""
        if report.verdict in NOTHING_TO_DO or self._tree is None:
            return None
        return self._where_the_op_is_made(report) + self._command_for(found, report)

    def _where_the_op_is_made(self, report: WatchReport) -> str:
        """Return the line of the script that makes the slowest op, if there is just one."""
        if report.verdict is not Verdict.AUGMENT or report.inside is None or self._file is None:
            return ""
        op = report.inside.largest(Stage.OP).name
        code = read_user_code(self._file, op)
        place = None if code is None else code.call_place(op)
        return "" if place is None else f"{op} is made at {place}; "

    def _command_for(self, found: ScriptLoader, report: WatchReport) -> str:
        loader = found.loader()
        if report.verdict in OP_BY_OP:
            data = self._name_of(getattr(loader, "dataset", None))
            if data is not None:
                return self._sentence(found, "profile", data, "times it op by op")
        name = self._name_of(loader) or self._maker()
        if name is None:
            return (
                "make the loader in a function without arguments, such as make_loader(), at the "
                f"top level of {self._script}; then `{self._command('analyze', 'make_loader')}` "
                "measures what would help."
            )
        return self._sentence(found, "analyze", name, "measures what would help")

    def _sentence(self, found: ScriptLoader, verb: str, name: str, does: str) -> str:
        command = f"`{self._command(verb, name)}` {does}"
        if self._is_guarded(found.module_line):
            return f"{command}."
        return (
            'put what trains behind `if __name__ == "__main__":`, or it would train once more; '
            f"then {command}."
        )

    def _command(self, verb: str, name: str) -> str:
        return f"penstock {verb} {shlex.quote(f'{self._script}:{name}')}"

    def _name_of(self, value: Any) -> str | None:
        """Return the name under which an import of the script would give such an object."""
        if value is None or self._tree is None:
            return None
        names = [name for name, one in self._objects.items() if one is value]
        bound = set(_names_bound_on_import(self._tree))
        return next((name for name in names if name in bound), None)

    def _maker(self) -> str | None:
        """Return the only function that can be called as it is and returns a loader."""
        if self._tree is None:
            return None
        makers = [
            node.name
            for node in self._tree.body
            if isinstance(node, ast.FunctionDef) and _needs_nothing(node) and _returns_loader(node)
        ]
        return makers[0] if len(makers) == 1 else None

    def _is_guarded(self, line: int | None) -> bool:
        """Whether a line runs only when the script is started, not when it is imported."""
        if self._tree is None or line is None:
            return self._is_module
        return any(
            node.lineno <= line <= (node.end_lineno or node.lineno)
            for node in self._tree.body
            if _is_guard(node)
        )


def _is_guard(node: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__":`, written either way round."""
    return isinstance(node, ast.If) and {"__name__", "'__main__'"} <= {
        ast.unparse(part) for part in ast.walk(node.test) if isinstance(part, ast.expr)
    }


def _names_bound_on_import(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if _is_guard(statement) or isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _needs_nothing(function: ast.FunctionDef) -> bool:
    given = function.args
    positional = len(given.posonlyargs) + len(given.args)
    return positional == len(given.defaults) and None not in given.kw_defaults


def _returns_loader(function: ast.FunctionDef) -> bool:
    """Whether it returns what a call of DataLoader gave."""
    made: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and makes_loader(node.value):
            made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return bool(returned) and all(
        makes_loader(value) or (isinstance(value, ast.Name) and value.id in made)
        for value in returned
    )
