"""Photo-like JPEGs: ordinary ones, and some of several megapixels."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import PIL.Image

from penstock.demo.sample_photo import FIELD_SIDE_PX, Dice, Fields, make_photo
from penstock.geometry import Size

ORDINARY = 72  # files; enough that a share of them has every sampling, size and quality
SIZES = ((375, 500), (333, 500), (500, 375), (400, 300), (360, 360), (281, 403))
SAMPLINGS = ("4:4:4", "4:2:0", "4:4:4", "4:2:2")
# Large photos are soft at the scale of a pixel, so they are made smaller and enlarged.
LARGE = ((1344, 2016), (2016, 1344), (1190, 2040), (1536, 2048))
ENLARGED = 1.6


@lru_cache(maxsize=1)
def fields() -> Fields:
    """What all photos are cut from."""
    return Fields.make(12)


def photo(number: int, height: int, width: int) -> PIL.Image.Image:
    """The photo of this number, in this size."""
    assert max(height, width) <= FIELD_SIDE_PX
    dice = Dice(12, number + 1)
    return make_photo(
        fields(), Size(height, width), dice, hue=number * 0.37 % 1, detail=0.2 + number % 5 * 0.15
    )


def write_ordinary(folder: Path) -> None:
    """Sizes, samplings and qualities in turn, and a gray one now and then."""
    for number in range(ORDINARY):
        image = photo(number, *SIZES[number % len(SIZES)])
        options: dict[str, object] = {"subsampling": SAMPLINGS[number % len(SAMPLINGS)]}
        if number % 17 == 5:
            image, options = image.convert("L"), {}
        image.save(folder / f"photo_{number:03}.jpg", quality=72 + number * 7 % 24, **options)


def write_large(folder: Path) -> None:
    """Photos of some seven megapixels, one of them progressive."""
    for number, (height, width) in enumerate(LARGE):
        size = (int(width * ENLARGED), int(height * ENLARGED))
        image = photo(100 + number, height, width).resize(size, PIL.Image.Resampling.BICUBIC)
        image.save(
            folder / f"large_{number}.jpg",
            quality=85,
            subsampling="4:2:0",
            progressive=number == 2,
        )
