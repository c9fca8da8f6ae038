"""A small data set of photo-like JPEGs in class folders, for demonstrations and benchmarks.

Sizes, chroma sampling and bytes per pixel follow those of ImageNet's training photos,
because they decide what decoding costs: about 0.2 megapixels and 110 KB per image.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from penstock.demo.made_set import make_set
from penstock.demo.sample_photo import Dice, Fields, make_photo
from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.user_cache import needed_cache_folder

# Raised by any change that alters the files, so that an older set is not taken for this one.
RECIPE = 1

# Height, width, chroma sampling and share in per cent, as counted in ImageNet.
KINDS: tuple[tuple[int, int, str, int], ...] = (
    (375, 500, "4:4:4", 30),
    (500, 375, "4:4:4", 12),
    (333, 500, "4:4:4", 14),
    (500, 333, "4:4:4", 8),
    (500, 500, "4:4:4", 3),
    (300, 400, "4:4:4", 5),
    (150, 200, "4:4:4", 4),
    (375, 500, "4:2:0", 4),
    (500, 375, "4:2:0", 1),
    (333, 500, "4:2:0", 2),
    (300, 400, "4:2:0", 1),
    (150, 200, "4:2:0", 2),
    (600, 800, "4:2:0", 7),
    (768, 1024, "4:2:0", 2),
    (1200, 1600, "4:2:0", 1),
    (375, 500, "4:2:2", 1),
    (500, 375, "4:2:2", 1),
    (333, 500, "gray", 1),
    (500, 500, "gray", 1),
)

# Quantiles of bytes per pixel: photos kept with full chroma are also kept at a higher quality.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
BYTES_PER_PIXEL_FULL_CHROMA = (0.15, 0.35, 0.5, 0.65, 0.84, 0.98, 1.37)
BYTES_PER_PIXEL_OTHER = (0.09, 0.13, 0.17, 0.22, 0.3, 0.39, 0.91)

LOWEST_QUALITY, HIGHEST_QUALITY = 30, 98
PROBE_SIDE_PX = 192  # the quality is found on a piece of the image this large
HEADER_BYTES = 620  # of a JPEG with the standard tables, which a small probe should not count


@dataclass(frozen=True, slots=True)
class _Parameters:
    """What a sample set is made from; equal parameters make equal files."""

    images: int
    seed: int
    classes: int
    recipe: int = RECIPE


@dataclass(frozen=True, slots=True)
class _Photo:
    """One file to be made."""

    index: int
    label: int
    path: Path
    size: Size
    sampling: str
    bytes_per_pixel: float


def make_sample_set(
    folder: str | os.PathLike[str],
    images: int = 256,
    seed: int = 0,
    classes: int = 8,
    progress: bool | None = None,
) -> Path:
    """Write `images` photo-like JPEGs into `folder/class_0` ... and return the folder.

    The same arguments give the same bytes with the same Pillow.
    A folder that already holds this very set is left as it is;
    one that holds anything else is refused, and nothing is ever deleted.

    Args:
        folder: Where to write; made if missing.
        images: How many, over all classes.
        seed: Another seed makes other images of the same kind.
        classes: How many class folders. Each class has a tint of its own, so a model can learn it.
        progress: Show a bar; None means if stderr is a terminal.
    """
    if not 1 <= classes <= images:
        raise SourceError(
            f"sample set: {classes} classes for {images} images. Give each class an image or more."
        )
    parameters = _Parameters(images, seed, classes)
    photos = {photo.path: photo for photo in _photos(parameters)}

    def start() -> Callable[[Path], bytes]:
        fields = Fields.make(seed)
        return lambda path: _encoded(photos[path], fields, parameters)

    return make_set(
        folder, asdict(parameters), list(photos), start, title="making photos", progress=progress
    )


def cached_folder(images: int) -> Path:
    """Return where a set of so many photos is kept from one call to the next."""
    return needed_cache_folder() / "sample-sets" / f"{images}-images-recipe-{RECIPE}"


def _photos(parameters: _Parameters) -> Iterator[_Photo]:
    """Plan the files: every kind gets its share of them, whatever their number."""
    dice = Dice(parameters.seed, stream=1)
    count = parameters.images
    kind_ranks, quality_ranks = _shuffled(count, dice), _shuffled(count, dice)
    upper = np.cumsum([share for *_, share in KINDS]) / 100
    digits = len(str(parameters.classes - 1))
    for index in range(count):
        kind = int(np.searchsorted(upper, (kind_ranks[index] + 0.5) / count))
        height, width, sampling, _ = KINDS[min(kind, len(KINDS) - 1)]
        full = sampling == "4:4:4"
        quantiles = BYTES_PER_PIXEL_FULL_CHROMA if full else BYTES_PER_PIXEL_OTHER
        label = index % parameters.classes
        yield _Photo(
            index,
            label,
            Path(f"class_{label:0{digits}}") / f"{index // parameters.classes:05}.jpg",
            Size(height, width),
            sampling,
            float(np.interp((quality_ranks[index] + 0.5) / count, SHARES, quantiles)),
        )


def _shuffled(count: int, dice: Dice) -> list[int]:
    return sorted(range(count), key=[dice.uniform(0, 1) for _ in range(count)].__getitem__)


def _encoded(photo: _Photo, fields: Fields, parameters: _Parameters) -> bytes:
    dice = Dice(parameters.seed, stream=2 + photo.index)
    # Detail in step with the bytes to spend leaves the quality near that of real photos.
    full = photo.sampling == "4:4:4"
    detail = photo.bytes_per_pixel**1.2 if full else 2.0 * photo.bytes_per_pixel
    hue = photo.label / parameters.classes
    image = make_photo(fields, photo.size, dice, hue=hue, detail=detail)
    if photo.sampling == "gray":
        image = image.convert("L")
    probe = _middle(image)
    wanted = HEADER_BYTES + photo.bytes_per_pixel * probe.width * probe.height
    low, high = LOWEST_QUALITY, HIGHEST_QUALITY
    while low < high:
        quality = (low + high) // 2
        if len(_jpeg(probe, quality, photo.sampling)) < wanted:
            low = quality + 1
        else:
            high = quality
    return _jpeg(image, low, photo.sampling)


def _middle(image: Image.Image) -> Image.Image:
    width, height = min(image.width, PROBE_SIDE_PX), min(image.height, PROBE_SIDE_PX)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def _jpeg(image: Image.Image, quality: int, sampling: str) -> bytes:
    stream = io.BytesIO()
    options = {} if sampling == "gray" else {"subsampling": sampling}
    image.save(stream, "JPEG", quality=quality, **options)
    return stream.getvalue()
