"""Photos of exactly the sizes that the study used: real ones where there are some, else made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import PIL.Image

from benchmarks.dataset import CHECKOUT, IMAGE_SUFFIXES, shared_data_folder
from penstock.demo.sample_photo import FIELD_SIDE_PX, Dice, Fields, make_photo
from penstock.geometry import Size

FOLDER = CHECKOUT / "build" / "benchmark_order"
QUALITY, SAMPLING = 90, "4:2:0"
MOST_ENLARGED = 1.05  # photos that would have to be enlarged more than this are left out


def photos_of(size: Size, count: int) -> list[str]:
    """Return up to `count` photos of `size`, at least one.

    Photos that have this size are taken as they are; then larger ones are cut to its proportions
    and reduced; and where there are no photos at all, some are made.
    """
    shared = shared_data_folder()
    if shared is None:
        return [_written(size, number, _made(size, number)) for number in range(count)]
    found = [str(path) for path in _jpegs(shared / "detect" / "coco128") if _size_of(path) == size]
    for number, path in enumerate(_jpegs(shared / "large")):
        if len(found) >= count:
            break
        image = PIL.Image.open(path).convert("RGB")
        if (image.height > image.width) != (size.height > size.width):
            image = image.transpose(PIL.Image.Transpose.ROTATE_90)
        scale = max(size.height / image.height, size.width / image.width)
        if scale <= MOST_ENLARGED:
            found.append(_written(size, number, _fitted(image, size)))
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


def _fitted(image: PIL.Image.Image, size: Size) -> PIL.Image.Image:
    """Reduce the largest part in the middle that has the proportions of `size`."""
    scale = max(size.height / image.height, size.width / image.width)
    across, down = size.width / scale, size.height / scale
    left, top = (image.width - across) / 2, (image.height - down) / 2
    box = (left, top, left + across, top + down)
    return image.resize((size.width, size.height), PIL.Image.Resampling.LANCZOS, box)


@cache
def _fields() -> Fields:
    return Fields.make(0)


def _made(size: Size, number: int) -> PIL.Image.Image:
    """Large photos are soft at the scale of a pixel: they are made smaller, and enlarged."""
    scale = max(1.0, max(size.height, size.width) / FIELD_SIDE_PX)
    small = Size(math.floor(size.height / scale), math.floor(size.width / scale))
    image = make_photo(_fields(), small, Dice(0, number + 1), hue=number * 0.37 % 1, detail=0.5)
    return image.resize((size.width, size.height), PIL.Image.Resampling.BICUBIC)


def _written(size: Size, number: int, image: PIL.Image.Image) -> str:
    folder = FOLDER / f"{size.width}x{size.height}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number}.jpg"
    image.save(path, quality=QUALITY, subsampling=SAMPLING)
    return str(path)
