"""Several loaders and threads at a time, and many epochs after each other."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from PIL import Image

from penstock.deferring.dataset import DeferredDataset
from tests.deferring.loaders import SEED, Files, loaders, same
from tests.strangers.compare import batches


def test_two_loaders_at_once(files):
    expected = batches(loaders(Files, files)[0], SEED, 1)[0]
    one, other = (iter(loaders(Files, files)[1]) for _ in range(2))
    for batch in expected:
        assert torch.equal(next(one), batch)
        assert torch.equal(next(other), batch)


def test_threads_that_load_and_one_that_opens_images(files):
    expected = batches(loaders(Files, files)[0], SEED, 1)[0]
    kinds = set()
    done = threading.Event()

    def opens():
        while not done.is_set():
            with Image.open(files[0]) as image:
                kinds.add(type(image).__name__)

    def loads(_number):
        for _ in range(3):
            found = list(loaders(Files, files)[1])
            assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))

    opening = threading.Thread(target=opens)
    opening.start()
    try:
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(loads, range(3)))
    finally:
        done.set()
        opening.join()

    assert kinds == {"JpegImageFile"}


class Loads(Files):
    """Asks another accelerated Dataset meanwhile."""

    def __init__(self, files):
        super().__init__(files)
        self.other = DeferredDataset(Files(files))

    def __getitem__(self, index):
        return self.other[index] + self.tensor(index)


def test_a_dataset_that_asks_another(files):
    same(Loads, files)


class GivesTwice(Files):
    def __getitem__(self, index):
        image = self.tensor(index)
        return image, image


def _memory_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.parametrize("workers", [0, 1])
def test_nothing_is_left_behind(files, workers):
    """Neither files that are open nor memory."""
    options = {"num_workers": workers, "persistent_workers": bool(workers)}
    loader = loaders(GivesTwice, files, **options)[1]

    def runs(epochs):
        for _ in range(epochs):
            for _batch in loader:
                pass
        return len(list(Path("/proc/self/fd").iterdir())), _memory_bytes()

    runs(10)
    files_before, memory_before = runs(10)
    files_after, memory_after = runs(60)

    assert files_after <= files_before + 2
    assert memory_after < memory_before + 8 * 2**20
