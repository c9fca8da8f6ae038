"""Batches as tensors, with and without torch, with and without a CUDA device."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from penstock import Loader, LoaderError
from penstock import transforms as T
from penstock.loading.to_torch import PageLocks


class FakeRuntime:
    """Stands for torch.cuda.cudart(), which needs a GPU."""

    def __init__(self, refuse: bool = False) -> None:
        self.locked: dict[int, int] = {}
        self.refuse = refuse

    def cudaHostRegister(self, address: int, size: int, flags: int) -> int:  # noqa: N802
        assert flags == 0
        if not self.refuse:
            self.locked[address] = size
        return 2 if self.refuse else 0

    def cudaHostUnregister(self, address: int) -> int:  # noqa: N802
        del self.locked[address]
        return 0


@pytest.fixture
def cuda(monkeypatch):
    """A machine on which torch sees a CUDA device."""
    torch = pytest.importorskip("torch")
    runtime = FakeRuntime()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "cudart", lambda: runtime)
    return runtime


def test_batches_are_page_locked_where_torch_sees_cuda(folder, cuda) -> None:
    """Each batch's memory is locked once, used again, and unlocked at the end."""
    loader = Loader(folder, batch_size=4, transform=T.RandomResizedCrop(32), output="torch")
    for _ in range(3):
        for images, _ in loader:
            start, size = images.data_ptr(), images.numel()
            assert any(a <= start and start + size <= a + n for a, n in cuda.locked.items())
    assert 1 <= len(cuda.locked) <= 6

    loader.close()
    assert cuda.locked == {}


def test_a_refused_lock_costs_only_speed(cuda) -> None:
    """Memory that cannot be locked is used as it is."""
    cuda.refuse = True
    locks = PageLocks()

    locks.lock(4096, 4096)
    locks.release()

    assert locks.wanted
    assert cuda.locked == {}


def test_without_torch_numpy_comes_out(folder, monkeypatch) -> None:
    """Torch is optional: not asked for, not missed."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("penstock.loading.loader.torch_is_installed", lambda: False)

    images, labels = next(iter(Loader(folder, transform=T.Resize((8, 8)))))

    assert isinstance(images, np.ndarray)
    assert labels.dtype == np.int64
    with pytest.raises(LoaderError, match="Install torch, or use output='numpy'"):
        Loader(folder, output="torch")
