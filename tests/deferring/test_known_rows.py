"""Workers remember where rows of files begin: later epochs have the same pixels, in less time."""

import os
import time

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision.transforms import functional as TF

from penstock._core import RowMemory, file_version, run_here
from penstock.deferring import carry_out, opening
from penstock.translation.deferred import deferred_loader
from tests.deferring.loaders import SEED, Files, loaders
from tests.strangers.compare import batches, difference

EPOCHS = 4


class Crops(Files):
    """A random window, of a file that is opened by its path or by the user."""

    def __getitem__(self, index):
        if index % 2:
            return self._window(Image.open(self.files[index]))
        with open(self.files[index], "rb") as file:
            return self._window(Image.open(file))

    def _window(self, image):
        width, height = image.size
        top = int(torch.randint(0, height - 39, (1,)))
        left = int(torch.randint(0, width - 39, (1,)))
        return TF.to_tensor(image.convert("RGB").crop((left, top, left + 40, top + 40)))


@pytest.fixture(scope="module")
def old_files(tmp_path_factory):
    """Files that have not changed for a while: others are not remembered."""
    folder, random = tmp_path_factory.mktemp("old"), np.random.default_rng(0)
    for number in range(10):
        pixels = random.integers(0, 256, (11, 13, 3), dtype=np.uint8)
        image = Image.fromarray(pixels).resize((200, 160), Image.Resampling.BICUBIC)
        image.save(folder / f"{number}.jpg", subsampling=number % 3, quality=92)
    time.sleep(2.1)  # as long as the clock of a file system may need for a step
    return [str(folder / f"{number}.jpg") for number in range(10)]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("threads", [1, 2])
def test_epochs_are_those_of_the_data_loader(old_files, workers, threads):
    options = {"batch_size": 4, "num_workers": workers, "persistent_workers": workers > 0}
    usual = DataLoader(Crops(old_files), **options)
    ours = deferred_loader(DataLoader(Crops(old_files), **options), threads=threads)
    assert difference(batches(usual, SEED, EPOCHS), batches(ours, SEED, EPOCHS)) is None


def test_rows_are_kept_of_files_that_have_not_changed(old_files, monkeypatch):
    asked = []
    monkeypatch.setattr(
        carry_out, "run_here", lambda *given: asked.append(given[3]) or run_here(*given)
    )
    _, ours = loaders(Crops, old_files)
    list(ours)
    versions = np.concatenate(asked)
    assert (versions != 0).all()
    assert len({tuple(row) for row in versions.tolist()}) == len(old_files)


def test_a_file_that_changes_is_read_anew(tmp_path):
    """It has the same name, size and time of modification."""
    contents, pixels = [], np.random.default_rng(0).integers(0, 256, (3, 12, 12, 3), dtype=np.uint8)
    for one in pixels:
        path = tmp_path / "new.jpg"
        Image.fromarray(one).resize((160, 160), Image.Resampling.BICUBIC).save(path)
        contents.append(path.read_bytes())
    size = max(map(len, contents))
    file = tmp_path / "a.jpg"
    usual, ours = loaders(Crops, [str(file)])
    for content in contents:
        padded = content[:-2].ljust(size - 2, b"\xff") + content[-2:]
        file.write_bytes(padded)
        os.utime(file, ns=(10**18, 10**18))
        assert difference(batches(usual, SEED, 2), batches(ours, SEED, 2)) is None


def test_a_file_that_was_read_from_before_has_no_version(old_files):
    """What its buffer holds may be older than the file."""
    with open(old_files[0], "rb") as file:
        assert opening.read_bytes(file).version == file_version(file.fileno())
    with open(old_files[0], "rb") as file:
        file.read(10)
        file.seek(0)
        assert opening.read_bytes(file).version == (0, 0, 0, 0)


def test_what_is_no_file_has_no_version():
    read_end, write_end = os.pipe()
    try:
        assert file_version(read_end) == (0, 0, 0, 0)
    finally:
        os.close(read_end)
        os.close(write_end)
    assert file_version(-1) == (0, 0, 0, 0)


def test_memory_is_shared_out_among_workers(monkeypatch):
    given = []
    monkeypatch.setattr(carry_out, "RowMemory", lambda size: given.append(size) or RowMemory(size))
    monkeypatch.setenv("PENSTOCK_ROW_MEMORY", "1 MB")
    monkeypatch.setattr(carry_out.torch_data, "get_worker_info", lambda: _Worker)
    carry_out._row_memory.__wrapped__(0)
    assert given == [250_000]


class _Worker:
    num_workers = 4
