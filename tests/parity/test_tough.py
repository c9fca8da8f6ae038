"""Rare, hostile and broken files: Pillow's pixels or an error of ours, nothing else.

Deliberate differences from Pillow: none in pixels. `pixel_limit` refuses a file before Pillow
would have warned, if it is set lower than Pillow's own limit.
"""

from __future__ import annotations

import warnings

import numpy as np
import PIL.Image
import pytest

from penstock import DecodeError, Loader, decode
from penstock import transforms as T
from penstock.limits import Limits

# Cheap to decode here, dear to hold twice: the largest files only say that they are large.
PIXEL_LIMIT = 40_000_000


def pillow_pixels(path) -> np.ndarray | None:
    """What torchvision's loader would hand on, or None where Pillow gives up."""
    try:
        with path.open("rb") as file:
            image = PIL.Image.open(file)
            if image.width * image.height > PIXEL_LIMIT:
                return None
            return np.asarray(image.convert("RGB"))
    except Exception:
        return None


def by_loader(file) -> np.ndarray:
    loader = Loader([file], output="numpy", layout="hwc", threads=1, pixel_limit=PIXEL_LIMIT)
    (images,) = loader
    return images[0]


def by_decode(file) -> np.ndarray:
    return decode(file, limits=Limits(pixels=PIXEL_LIMIT))


@pytest.mark.filterwarnings("ignore")
def test_every_tough_file(tough, isa) -> None:
    """One by one, whole, without a transform: the very pixels, or a DecodeError."""
    check_every_file(tough, by_loader)


@pytest.mark.filterwarnings("ignore")
def test_every_tough_file_without_a_loader(tough) -> None:
    check_every_file(tough, by_decode)


def check_every_file(tough, read) -> None:
    assert Limits().pixels > PIXEL_LIMIT
    outcomes = {"pixels": 0, "error": 0}
    for file in tough:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = pillow_pixels(file)
            try:
                pixels = read(file)
            except DecodeError as error:
                assert file.name in str(error)
                assert expected is None, f"{file}: Pillow reads it, we say: {error}"
                outcomes["error"] += 1
                continue
        assert expected is not None, f"{file}: Pillow fails, we give pixels"
        np.testing.assert_array_equal(pixels, expected, err_msg=str(file))
        outcomes["pixels"] += 1

    assert outcomes["pixels"] + outcomes["error"] == len(tough) >= 475
    assert outcomes["pixels"] >= 325  # the rest: broken, or above the limit set here


@pytest.mark.filterwarnings("ignore")
def test_tough_regions(tough, isa) -> None:
    """Random crops and sizes of what can be read: regions are those of the whole image."""
    transform = T.Compose([T.RandomResizedCrop(37), T.RandomHorizontalFlip()])
    paths = tough
    common = {
        "labels": range(len(paths)),
        "batch_size": 64,
        "transform": transform,
        "on_error": "skip",
        "seed": 5,
    }
    limits = {"pixel_limit": PIXEL_LIMIT, "output": "numpy"}
    native = Loader(paths, **common, **limits)
    pillow = Loader(paths, **common, **limits, backend="pillow")

    for (ours, labels), (theirs, their_labels) in zip(native, pillow, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(labels, their_labels)
    skipped = {entry.file for entry in native.ledger if entry.event == "skipped"}
    assert skipped == {entry.file for entry in pillow.ledger if entry.event == "skipped"}
