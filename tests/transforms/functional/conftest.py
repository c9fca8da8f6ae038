"""torchvision's own functions and classes, to compare with."""

import sys
from importlib import import_module

import pytest


@pytest.fixture(autouse=True)
def _one_thread():
    """Threads of torch's would wait for those of other tests."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def theirs(torchvision):
    return import_module("torchvision.transforms.v2.functional")


@pytest.fixture(scope="session")
def tv_tensors(torchvision):
    return import_module("torchvision.tv_tensors")
