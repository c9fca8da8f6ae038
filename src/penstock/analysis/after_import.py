"""Do something with a module as soon as somebody imports it, and not before."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Action = Callable[[ModuleType], None]


def after_import(name: str, action: Action) -> None:
    """Call `action` with module `name` once it is imported: now, if it already is."""
    if name in sys.modules:
        action(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, action))


class _Finder(MetaPathFinder):
    """Leaves the finding to others, and has the module's own loader call the action."""

    def __init__(self, name: str, action: Action) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self._follow(spec)
        return spec

    def _follow(self, spec: ModuleSpec) -> None:
        loader = spec.loader
        assert loader is not None  # noqa: S101 (seen by the caller; for the type checker)
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._action(module)

        loader.exec_module = exec_module  # type: ignore[method-assign]
