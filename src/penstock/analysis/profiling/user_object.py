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
    module_name, colon, attributes = name.rpartition(":")
    if not colon or not module_name or not attributes:
        raise PenstockError(
            f"{name!r} does not name an object. Write MODULE:OBJECT, such as train:dataset "
            "or train.py:make_transform."
        )
    value: Any = _import(module_name)
    for attribute in attributes.split("."):
        if not hasattr(value, attribute):
            raise PenstockError(f"{module_name}: there is no {attributes!r}. Check the name.")
        value = getattr(value, attribute)
    return value


def file_of(name: str) -> str | None:
    """Return the file that defines what `load_object` was asked for; None if there is none."""
    module_name = name.rpartition(":")[0]
    if module_name.endswith(".py"):
        return module_name
    return getattr(sys.modules.get(module_name), "__file__", None)


def _import(name: str) -> ModuleType:
    try:
        if name.endswith(".py"):
            return _import_file(name)
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(name)
    except Exception as error:  # whatever the user's module raises while it is imported
        raise PenstockError(
            f"{name}: cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _import_file(path: str) -> ModuleType:
    # Under its own name, so that what it defines can be pickled and found again.
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
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
