"""Pixels stored as a zlib stream: inflated by the core, as far down as a crop needs."""

import shutil

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import transforms as T
from penstock.errors import PenstockError
from penstock.packing.format import RECORD_ZLIB
from penstock.packing.read import PackFile

SIZES = [(90, 120), (200, 75), (64, 300), (301, 97), (80, 80)]
COUNT = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Even areas with some noise, in colour, in gray and with a palette."""
    folder, random = tmp_path_factory.mktemp("plain"), np.random.default_rng(3)
    (folder / "only").mkdir()
    for number in range(COUNT):
        height, width = SIZES[number % len(SIZES)]
        down, right = np.indices((height, width))
        gray = (down // 9 * 5 + right // 7 * 3 + random.integers(0, 2, (height, width))) % 256
        image = Image.fromarray(np.stack([gray, 255 - gray, gray // 2], axis=2).astype(np.uint8))
        mode = ("RGB", "L", "P")[number % 3]
        image.convert(mode).save(folder / "only" / f"{number:04d}.png")
    return folder


@pytest.fixture(scope="module")
def packed(folder, tmp_path_factory):
    target = tmp_path_factory.mktemp("packed") / "plain.pen"
    penstock.pack(folder, target)
    flags = [PackFile(target).sample(number).flags for number in range(COUNT)]
    assert set(flags) == {RECORD_ZLIB}
    return target


PIPELINES = {
    "crop": [T.RandomResizedCrop(48), T.RandomHorizontalFlip()],
    "bottom": [T.RandomVerticalFlip(1.0), T.RandomCrop(40)],
    "border": [T.RandomCrop(64, padding=20, fill=7)],
    "effects": [T.RandomResizedCrop(48), T.RandAugment(3, 9)],
    "whole first": [T.ColorJitter(0.4, 0.4), T.CenterCrop(50)],
    "views": [T.MultiView([T.RandomResizedCrop(48), T.RandomResizedCrop(48), T.CenterCrop(48)])],
}


@pytest.mark.parametrize("steps", PIPELINES.values(), ids=PIPELINES)
@pytest.mark.parametrize("plan", [True, False])
def test_batches_are_those_of_the_files(folder, packed, steps, plan):
    loader = {"transform": T.Compose([*steps, T.ToImage()]), "seed": 5, "output": "numpy"}
    one = penstock.Loader(packed, batch_size=16, shuffle=True, threads=2, plan=plan, **loader)
    other = penstock.Loader(folder, batch_size=16, shuffle=True, backend="pillow", **loader)

    for batch, expected in zip(one, other, strict=True):
        for images, wanted in zip(batch, expected, strict=True):
            np.testing.assert_array_equal(images, wanted)
    assert not list(one.ledger)  # nothing was left to Pillow


def damaged(packed, target, sample):
    """A copy with a byte changed in the middle of a record."""
    shutil.copy(packed, target)
    place = PackFile(packed).sample(sample)
    with target.open("r+b") as file:
        file.seek(place.offset + place.size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 0x55]))
    return target


def test_a_damaged_stream_is_named(packed, tmp_path):
    bad = damaged(packed, tmp_path / "bad.pen", 7)
    whole = T.Compose([T.Resize((32, 32)), T.ToImage()])
    with pytest.raises(PenstockError, match=r"sample 7 .*0007\.png"):
        list(penstock.Loader(bad, batch_size=8, transform=whole, output="numpy"))

    loader = penstock.Loader(bad, batch_size=8, transform=whole, output="numpy", on_error="skip")
    assert sum(len(images) for images, _ in loader) == COUNT - 1
    assert [(entry.sample, entry.event) for entry in loader.ledger] == [(7, "skipped")]
