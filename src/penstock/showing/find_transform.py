"""A user's own pipeline, by the place where it is written: train.py:transform."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from penstock.errors import TransformError
from penstock.planner.plan import as_written


def find_transform(place: str) -> Any:
    """Import FILE.py:OBJECT or PACKAGE.MODULE:OBJECT; OBJECT may be an attribute of another."""
    home, _, name = place.rpartition(":")
    if not home or not name:
        raise TransformError(
            f"{place}: says no object to take. Write FILE.py:OBJECT or PACKAGE.MODULE:OBJECT."
        )
    found: Any = _import(home)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise TransformError(f"{place}: {home} has no {name}. Check the name.") from None
    try:
        as_written(found)
    except TransformError as error:
        raise TransformError(f"{place}: {error}") from None
    return found


def _import(home: str) -> ModuleType:
    is_file = home.endswith(".py")
    if is_file and not os.path.isfile(home):
        raise TransformError(f"{home}: no such file. Check the path.")
    folder = os.path.dirname(os.path.abspath(home)) if is_file else os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python FILE.py` and `python -m MODULE` have it
    try:
        return _run_file(home) if is_file else import_module(home)
    # Whatever the user's module raises, or that it ends the program, is worth a sentence.
    except (Exception, SystemExit) as error:
        raise TransformError(
            f"{home}: cannot be imported ({type(error).__name__}: {error}). "
            "Keep what trains behind `if __name__ == '__main__':`."
        ) from error


def _run_file(path: str) -> ModuleType:
    name = os.path.basename(path).removesuffix(".py")
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a module")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look there
    spec.loader.exec_module(module)
    return module
