"""torchvision's own functions and classes, to compare with."""

from importlib import import_module

import pytest


@pytest.fixture(scope="session")
def theirs(torchvision):
    return import_module("torchvision.transforms.v2.functional")


@pytest.fixture(scope="session")
def tv_tensors(torchvision):
    return import_module("torchvision.tv_tensors")
