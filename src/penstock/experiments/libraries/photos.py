"""Photos of exactly the sizes that the study used: made here, or fitted from a folder of yours."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import PIL.Image

from penstock.demo.sample_photo import FIELD_SIDE_PX, Dice, Fields, make_photo
from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.user_cache import needed_cache_folder

QUALITY, SAMPLING = 90, "4:2:0"
RECIPE = 1  # raised by any change that alters the files
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})
_MOST_ENLARGED = 1.05  # a photo that would have to be enlarged more than this is left out


def cache_folder() -> Path:
    """Return where photos and sample data of this experiment are kept."""
    return needed_cache_folder() / "experiments" / f"libraries-recipe-{RECIPE}"


def photos_of(size: Size, count: int, real: Path | None) -> list[str]:
    """Return up to `count` distinct photos of `size` as files: at least one.

    From `real`, photos that are large enough are cut to the proportions and reduced. Otherwise
    they are made.
    """
    if real is None:
        folder = cache_folder() / f"{size.width}x{size.height}"
        return [
            str(_kept(folder / f"{number}.jpg", partial(made_photo, size, number)))
            for number in range(count)
        ]
    found: list[str] = []
    for path in real_photos(real):
        if len(found) == count:
            break
        fitted = _fitted_file(path, size)
        if fitted is not None:
            found.append(fitted)
    if not found:
        raise SourceError(
            f"{real}: no photo in it is large enough for {size.width}x{size.height}. "
            "Name another folder with --photos, or leave that out to have photos made."
        )
    return found


def real_photos(folder: Path) -> Sequence[Path]:
    """Return the image files of a folder and the folders in it, largest files first."""
    found = [path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES]
    if not found:
        raise SourceError(f"{folder}: there are no photos. Name another folder with --photos.")
    return sorted(found, key=lambda path: (-path.stat().st_size, path.name))


def made_photo(size: Size, number: int) -> PIL.Image.Image:
    """Return a photo; large ones are soft at the scale of a pixel: made smaller, and enlarged."""
    scale = max(1.0, max(size.height, size.width) / FIELD_SIDE_PX)
    small = Size(math.floor(size.height / scale), math.floor(size.width / scale))
    image = make_photo(_fields(), small, Dice(0, number + 1), hue=number * 0.37 % 1, detail=0.5)
    return image.resize((size.width, size.height), PIL.Image.Resampling.BICUBIC)


def fitted_photo(image: PIL.Image.Image, size: Size) -> PIL.Image.Image | None:
    """Reduce the largest part in the middle with the proportions of `size`; None if too small."""
    if (image.height > image.width) != (size.height > size.width):
        image = image.transpose(PIL.Image.Transpose.ROTATE_90)
    scale = max(size.height / image.height, size.width / image.width)
    if scale > _MOST_ENLARGED:
        return None
    across, down = size.width / scale, size.height / scale
    left, top = (image.width - across) / 2, (image.height - down) / 2
    box = (left, top, left + across, top + down)
    return image.resize((size.width, size.height), PIL.Image.Resampling.LANCZOS, box)


def save_photo(image: PIL.Image.Image, path: Path) -> None:
    """Write a JPEG as this experiment's photos are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, quality=QUALITY, subsampling=SAMPLING)


def _fitted_file(path: Path, size: Size) -> str | None:
    """Return the photo in this size; as it is, if it is a JPEG that has the size."""
    with PIL.Image.open(path) as image:
        if image.format == "JPEG" and (image.width, image.height) == (size.width, size.height):
            return str(path)
        fitted = fitted_photo(image.convert("RGB"), size)
    if fitted is None:
        return None
    stat = path.stat()
    key = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    name = f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jpg"
    return str(_kept(cache_folder() / f"fitted-{size.width}x{size.height}" / name, lambda: fitted))


def _kept(path: Path, make: Callable[[], PIL.Image.Image]) -> Path:
    if not path.exists():
        beside = path.with_suffix(".part.jpg")
        save_photo(make(), beside)
        beside.replace(path)
    return path


@cache
def _fields() -> Fields:
    return Fields.make(0)
