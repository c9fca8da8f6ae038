"""Which of Lightning's two packages is used; their classes are not the same."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from penstock.errors import LoaderError

_PACKAGES = {"lightning": "lightning.pytorch", "pytorch_lightning": "pytorch_lightning"}


def find_lightning() -> ModuleType:
    """Return the one that was imported; else import the one that is installed, `lightning` first.

    A Trainer of one does not know data modules of the other.
    """
    for module in _PACKAGES.values():
        imported = sys.modules.get(module)  # None also where somebody forbids to import it
        if imported is not None:
            return imported
    for package, module in _PACKAGES.items():
        if find_spec(package) is not None:
            return import_module(module)
    raise LoaderError(
        "penstock.lightning: neither lightning nor pytorch_lightning is installed. Install one: "
        "pip install lightning."
    )
