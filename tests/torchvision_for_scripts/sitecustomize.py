"""Lets scripts that tests start import torchvision beside a CPU build of torch.

Python imports this file by itself where its folder is on PYTHONPATH.
"""

import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder


class TorchvisionFinder(MetaPathFinder):
    """Has torchvision imported the way the tests import it."""

    def find_spec(self, name, path, target=None):
        if name != "torchvision":
            return None
        sys.meta_path.remove(self)
        from penstock.cli.torchvision_import import import_torchvision

        return importlib.util.spec_from_loader(name, ReadyModule(import_torchvision()[1]))


class ReadyModule(Loader):
    """Gives out a module that is there already."""

    def __init__(self, module):
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec


sys.meta_path.insert(0, TorchvisionFinder())
