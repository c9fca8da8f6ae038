"""The object that `MODULE:OBJECT` names."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from types import ModuleType
from typing import Any

from penstock.errors import PenstockError


def load_object(name: str) -> Any:
    """Import `package.module:object` or `file.py:object`.

    A class, or a function that needs no arguments, is called: what it returns is meant.
    """
    value = load_as_is(name)
    if not _is_maker(value):
        return value
    try:
        return value()
    except Exception as error:
        raise PenstockError(f"{name}() failed: {type(error).__name__}: {error}") from error


def load_as_is(name: str) -> Any:
    """Import `package.module:object` or `file.py:object`, and call nothing."""
    home, _, attributes = name.rpartition(":")
    if not home or not attributes:
        raise PenstockError(
            f"{name}: says no object to take. Write FILE.py:OBJECT or PACKAGE.MODULE:OBJECT."
        )
    value: Any = _import(home)
    for attribute in attributes.split("."):
        if not hasattr(value, attribute):
            raise PenstockError(f"{name}: {home} has no {attributes}. Check the name.")
        value = getattr(value, attribute)
    return value


def file_of(name: str) -> str | None:
    """Return the file that defines what `load_object` was asked for; None if there is none."""
    module_name = name.rpartition(":")[0]
    if module_name.endswith(".py"):
        return module_name
    return getattr(sys.modules.get(module_name), "__file__", None)


def _import(home: str) -> ModuleType:
    is_file = home.endswith(".py")
    if is_file and not os.path.isfile(home):
        raise PenstockError(f"{home}: no such file. Check the path.")
    folder = os.path.dirname(os.path.abspath(home)) if is_file else os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python FILE.py` and `python -m MODULE` have it
    try:
        return _run_file(home) if is_file else importlib.import_module(home)
    # Whatever the user's module raises, or that it ends the program, is worth a sentence.
    except (Exception, SystemExit) as error:
        is_missing = isinstance(error, ModuleNotFoundError) and home.startswith(error.name or "?")
        advice = (
            "Check the name, and that you stand in its folder."
            if is_missing
            else "Keep what trains behind `if __name__ == '__main__':`."
        )
        raise PenstockError(
            f"{home}: cannot be imported ({type(error).__name__}: {error}). {advice}"
        ) from error


def _run_file(path: str) -> ModuleType:
    # Under its own name, so that what it defines can be pickled and found again.
    name = os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _is_maker(value: Any) -> bool:
    if inspect.isclass(value):
        return True
    if not inspect.isfunction(value):
        return False
    return all(
        parameter.default is not parameter.empty
        or parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        for parameter in inspect.signature(value).parameters.values()
    )
