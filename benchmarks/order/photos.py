"""Photos of exactly the sizes that the study used: real ones where there are some, else made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import PIL.Image

from benchmarks.dataset import CHECKOUT, IMAGE_SUFFIXES, shared_data_folder
from penstock.experiments.libraries.photos import fitted_photo, made_photo, save_photo
from penstock.geometry import Size

FOLDER = CHECKOUT / "build" / "benchmark_order"


def photos_of(size: Size, count: int) -> list[str]:
    """Return up to `count` photos of `size`, at least one.

    Photos that have this size are taken as they are; then larger ones are cut to its proportions
    and reduced; and where there are no photos at all, some are made.
    """
    shared = shared_data_folder()
    if shared is None:
        return [_written(size, number, made_photo(size, number)) for number in range(count)]
    found = [str(path) for path in _jpegs(shared / "detect" / "coco128") if _size_of(path) == size]
    for number, path in enumerate(_jpegs(shared / "large")):
        if len(found) >= count:
            break
        fitted = fitted_photo(PIL.Image.open(path).convert("RGB"), size)
        if fitted is not None:
            found.append(_written(size, number, fitted))
    if not found:
        raise FileNotFoundError(
            f"{shared}: has no photo that is large enough for {size.width}x{size.height}. "
            "Unset PENSTOCK_TEST_DATA to have photos made."
        )
    return found[:count]


def _jpegs(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in IMAGE_SUFFIXES)


def _size_of(path: Path) -> Size:
    with PIL.Image.open(path) as image:
        return Size(image.height, image.width)


def _written(size: Size, number: int, image: PIL.Image.Image) -> str:
    path = FOLDER / f"{size.width}x{size.height}" / f"{number}.jpg"
    save_photo(image, path)
    return str(path)
