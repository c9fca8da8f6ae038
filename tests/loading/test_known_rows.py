"""From the second epoch on, a Loader knows where rows of files begin: the pixels stay the same."""

import os

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import transforms as T
from penstock.errors import LoaderError
from penstock.loading import core_runner, course
from penstock.loading.row_memory import row_memory_bytes

EPOCHS = 4


def _loader(folder, transform, **options):
    options = {"batch_size": 5, "shuffle": True, "seed": 3, "output": "numpy", **options}
    return penstock.Loader(folder, transform=transform, **options)


def _parts(batch):
    """Copies of all arrays of a batch."""
    if isinstance(batch, (tuple, list)):
        return [part for one in batch for part in _parts(one)]
    return [np.array(batch)]


@pytest.fixture(scope="module")
def old_files(in1k):
    """Files that have not changed for a while: others are not remembered."""
    return in1k[0].parent


TRANSFORMS = {
    "crops": T.RandomResizedCrop(48),
    "windows": T.RandomCrop(64, pad_if_needed=True),
    "views": T.MultiView([T.RandomResizedCrop(32), T.RandomResizedCrop(24)]),
    "effects": T.Compose([T.RandomResizedCrop(40), T.RandAugment()]),
    "gray": T.Compose([T.Grayscale(), T.RandomCrop(50, pad_if_needed=True)]),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_epochs_are_those_of_loaders_that_know_nothing(old_files, name, threads, monkeypatch):
    knowing = _loader(old_files, TRANSFORMS[name], threads=threads)
    epochs = [[_parts(batch) for batch in knowing] for _ in range(EPOCHS)]
    monkeypatch.setattr(core_runner, "row_memory_bytes", lambda: 0)
    unknowing = _loader(old_files, TRANSFORMS[name], threads=1)
    for epoch in epochs:
        for parts, batch in zip(epoch, unknowing, strict=True):
            for part, expected in zip(parts, _parts(batch), strict=True):
                np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize(("told", "bytes_"), [("0", 0), (" 2 GB", 2 * 10**9), ("70", 70)])
def test_its_memory_may_be_chosen(told, bytes_, monkeypatch):
    monkeypatch.setenv("PENSTOCK_ROW_MEMORY", told)
    assert row_memory_bytes() == bytes_
    assert row_memory_bytes(processes=4) == bytes_ // 4


def test_it_has_little_memory_unless_told(monkeypatch):
    monkeypatch.delenv("PENSTOCK_ROW_MEMORY", raising=False)
    assert 0 < row_memory_bytes() <= 256 * 2**20


def test_a_wish_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    Image.new("RGB", (40, 40)).save(tmp_path / "a.jpg")
    monkeypatch.setenv("PENSTOCK_ROW_MEMORY", "plenty")
    with pytest.raises(LoaderError, match="PENSTOCK_ROW_MEMORY must be a number of bytes"):
        next(iter(_loader(tmp_path, T.CenterCrop(20))))


def test_a_file_that_changes_is_read_anew(tmp_path, monkeypatch):
    """It has the same name, size and time of modification."""
    monkeypatch.setattr(course, "_PAUSE_S", 0.0)  # or the next epoch would begin before the change
    pixels = np.random.default_rng(0).integers(0, 256, (3, 12, 12, 3), dtype=np.uint8)
    contents = []
    for number, one in enumerate(pixels):
        path = tmp_path / f"{number}.jpg"
        Image.fromarray(one).resize((160, 160), Image.Resampling.BICUBIC).save(path)
        contents.append(path.read_bytes())
        path.unlink()
    size = max(map(len, contents))
    file = tmp_path / "a.jpg"
    loader = None
    for content in contents:
        file.write_bytes(content.ljust(size, b"\0"))
        os.utime(file, ns=(10**18, 10**18))
        loader = loader or _loader(tmp_path, T.CenterCrop(80), batch_size=1)
        expected = np.asarray(Image.open(file).crop((40, 40, 120, 120)))
        [batch] = loader
        np.testing.assert_array_equal(_parts(batch)[0][0].transpose(1, 2, 0), expected)
