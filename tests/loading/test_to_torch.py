"""Batches as tensors, with and without torch, with and without a CUDA device."""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np
import pytest

from penstock import Loader, LoaderError
from penstock import transforms as T
from penstock._core import BatchBuffer
from penstock.transforms.targets import read_targets


class FakeAllocator:
    """Stands for torch's allocator of page-locked memory, which needs a GPU."""

    def __init__(self) -> None:
        self.made: list[weakref.ref] = []
        self.refuse = False

    def __call__(self, size_bytes: int):
        if self.refuse:
            return None
        tensor = sys.modules["torch"].empty(size_bytes, dtype=sys.modules["torch"].uint8)
        self.made.append(weakref.ref(tensor.untyped_storage()))
        return tensor

    def holds(self, tensor) -> bool:
        """Whether the tensor's storage, not only its memory, is one of those made here."""
        begin = tensor.untyped_storage().data_ptr()
        return any(made() is not None and made().data_ptr() == begin for made in self.made)


@pytest.fixture
def cuda(monkeypatch):
    """A machine on which torch sees a CUDA device."""
    torch = pytest.importorskip("torch")
    allocator = FakeAllocator()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        "penstock.loading.to_torch.PinnedMemory.allocate", lambda _, size: allocator(size)
    )
    return allocator


@pytest.mark.parametrize("dtype", [None, "float32", "bfloat16", "float16"])
def test_batches_lie_in_torchs_own_page_locked_memory(folder, cuda, dtype) -> None:
    """Its allocator waits for copies under way, but knows of those from its own storage only."""
    steps = [T.RandomResizedCrop(32)] + (
        [] if dtype is None else [T.ToDtype("float32", scale=True)]
    )
    options = {"batch_size": 4, "transform": T.Compose(steps), "dtype": dtype, "seed": 1}
    loader = Loader(folder, output="torch", **options)
    batches = [images for images, _ in loader]

    assert all(cuda.holds(images) for images in batches)
    assert all(cuda.holds(images[2:]) for images in batches if len(images) > 2)
    cuda.refuse = True
    for pinned, (plain, _) in zip(batches, Loader(folder, output="torch", **options), strict=True):
        assert not cuda.holds(plain)
        assert pinned.dtype == plain.dtype
        assert pinned.equal(plain)


def test_images_of_different_sizes_are_pinned_too(folder, cuda) -> None:
    targets = read_targets(offsets=np.zeros(24, dtype=np.int64))
    loader = Loader(folder, batch_size=4, targets=targets, output="torch")
    images, _ = next(iter(loader))

    assert isinstance(images, list)
    assert all(cuda.holds(image) for image in images)


def test_memory_is_given_back_when_the_user_and_the_core_let_go(folder, cuda) -> None:
    loader = Loader(folder, batch_size=4, transform=T.Resize((8, 8)), output="torch")
    kept = [images for images, _ in loader][1]
    loader.close()
    del loader
    gc.collect()
    BatchBuffer.release_borrowed()

    assert [made().data_ptr() for made in cuda.made if made() is not None] == [
        kept.untyped_storage().data_ptr()
    ]


def test_a_refused_lock_costs_only_speed(folder, cuda) -> None:
    """Where no memory can be locked, ordinary memory is used."""
    cuda.refuse = True
    images, _ = next(iter(Loader(folder, transform=T.Resize((8, 8)), output="torch")))

    assert images.shape == (1, 3, 8, 8)


def test_without_torch_numpy_comes_out(folder, monkeypatch) -> None:
    """Torch is optional: not asked for, not missed."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("penstock.loading.work.torch_is_installed", lambda: False)

    images, labels = next(iter(Loader(folder, transform=T.Resize((8, 8)))))

    assert isinstance(images, np.ndarray)
    assert labels.dtype == np.int64
    with pytest.raises(LoaderError, match="Install torch, or use output='numpy'"):
        Loader(folder, output="torch")
