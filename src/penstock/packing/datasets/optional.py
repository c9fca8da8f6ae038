"""Libraries that only some layouts need."""

from __future__ import annotations

import importlib
from typing import Any

from penstock.errors import SourceError


def require(module: str, package: str, where: str) -> Any:
    """Import a library of the `formats` extra, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SourceError(
            f"{where}: reading it needs {package}, which is not installed. "
            "Install it with: pip install 'penstock[formats]'"
        ) from error
