"""Lets any script in .venv import torchvision, whose wheel is built for CUDA, beside a CPU torch.

`make setup` puts this file into .venv with a .pth file beside it, which Python reads at its start.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class TorchvisionFinder(MetaPathFinder):
    """Has torchvision imported the way `penstock` imports it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Import it here, once, and hand it out."""
        del path, target
        if name != "torchvision":
            return None
        sys.meta_path.remove(self)
        try:
            from penstock.demo.torchvision_import import import_torchvision
        except ImportError:  # not built yet
            return None
        return importlib.util.spec_from_loader(name, ReadyModule(import_torchvision()[1]))


class ReadyModule(Loader):
    """Gives out a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        del spec
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Give it back its own spec, which the import system has replaced."""
        module.__spec__ = self._spec


sys.meta_path.insert(0, TorchvisionFinder())
