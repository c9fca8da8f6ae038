"""Fixtures: small folders of images, good and bad."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest


def make_image(rng: np.random.Generator, height: int, width: int) -> PIL.Image.Image:
    """A smooth random picture: JPEGs of it have few large coefficients, as photos have."""
    small = rng.integers(0, 256, (max(2, height // 8), max(2, width // 8), 3), dtype=np.uint8)
    return PIL.Image.fromarray(small).resize((width, height), PIL.Image.Resampling.BICUBIC)


@pytest.fixture(scope="session")
def make_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Write `images` JPEGs into class folders."""

    def make(
        images: int = 23, classes: int = 3, seed: int = 0, sides: tuple[int, int] = (40, 90)
    ) -> Path:
        root = tmp_path_factory.mktemp("images")
        rng = np.random.default_rng(seed)
        for index in range(images):
            folder = root / f"class_{index % classes}"
            folder.mkdir(exist_ok=True)
            height, width = rng.integers(*sides, 2).tolist()
            make_image(rng, height, width).save(
                folder / f"{index:03}.jpg",
                quality=int(rng.integers(60, 96)),
                subsampling=int(rng.integers(0, 3)),
            )
        return root

    return make


@pytest.fixture(scope="session")
def make_photos(
    tmp_path_factory: pytest.TempPathFactory, photo: np.ndarray
) -> Callable[[int], Path]:
    """Write some different JPEGs of one photo, all in one class."""

    def make(images: int) -> Path:
        root = tmp_path_factory.mktemp("photos")
        (root / "all").mkdir()
        for number in range(images):
            image = PIL.Image.fromarray(np.roll(photo, number * 9, axis=1))
            image.save(root / "all" / f"{number:02}.jpg")
        return root

    return make


@pytest.fixture(scope="session")
def large_folder(make_folder: Callable[..., Path]) -> Path:
    """The same in sizes for which planning pays."""
    return make_folder(sides=(300, 500))


@pytest.fixture(scope="session")
def folder(make_folder: Callable[..., Path]) -> Path:
    """23 good JPEGs in three classes."""
    return make_folder()


@pytest.fixture
def broken_folder(make_folder: Callable[..., Path], tmp_path: Path) -> Path:
    """Good JPEGs, and among them: cut short, empty, text; stray marker, PNG, RGB, CMYK."""
    root = make_folder(images=20, classes=2, seed=1)
    rng = np.random.default_rng(7)
    first, second = root / "class_0", root / "class_1"
    whole = (first / "000.jpg").read_bytes()
    (first / "cut.jpg").write_bytes(whole[: len(whole) * 2 // 3])
    (first / "empty.jpg").write_bytes(b"")
    (second / "text.jpg").write_text("not an image")
    middle = len(whole) * 3 // 4
    (second / "marker.jpg").write_bytes(whole[:middle] + b"\xff\xd3" + whole[middle + 2 :])
    make_image(rng, 50, 60).save(second / "picture.png")
    make_image(rng, 60, 50).save(second / "rgb.jpg", keep_rgb=True, quality=80)
    make_image(rng, 64, 48).convert("CMYK").save(first / "cmyk.jpg")
    return root


class Files:
    """A user's data set of image files; what a sample is, the classes made of it say."""

    def __init__(self, files, transform=None):
        self.files = files
        self.transform = transform

    def __len__(self):
        return len(self.files)
