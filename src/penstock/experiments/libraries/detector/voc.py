"""A data set in the layout of Pascal VOC, as torchvision's VOCDetection expects it."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from pathlib import Path

from PIL import ImageDraw

from penstock.demo.sample_photo import Dice
from penstock.errors import SourceError
from penstock.experiments.libraries.photos import cache_folder, made_photo, save_photo
from penstock.geometry import Size

SPLIT = "trainval"
_YEARS = ("2012", "2007")
_MADE_YEAR = "2012"
_SIZES = (Size(375, 500), Size(333, 500), Size(500, 375))
# Those of Pascal VOC that the made data set has: each an ellipse of a colour of its own.
_CLASSES = ("aeroplane", "bird", "car", "cat", "dog", "person", "sheep", "train")
_MOST_OBJECTS = 4


def open_voc(root: Path) -> tuple[Path, str]:
    """Return the folder of a year inside `root`, and the year; SourceError if there is none."""
    for year in _YEARS:
        folder = voc_folder(root, year)
        if (folder / "ImageSets" / "Main" / f"{SPLIT}.txt").is_file():
            return folder, year
    raise SourceError(
        f"{root}: has no VOCdevkit/VOC2012 or VOCdevkit/VOC2007 with ImageSets/Main/{SPLIT}.txt. "
        "Name the folder that holds VOCdevkit with --voc, or leave that out to have one made."
    )


def voc_folder(root: Path, year: str) -> Path:
    """Return where torchvision looks for a year."""
    return root / "VOCdevkit" / f"VOC{year}"


def make_voc(photos: int) -> Path:
    """Return the root of a data set of so many photos, made where it is not there yet."""
    root = cache_folder() / f"voc-{photos}"
    folder = voc_folder(root, _MADE_YEAR)
    listed = folder / "ImageSets" / "Main" / f"{SPLIT}.txt"
    if listed.is_file():
        return root
    names = [f"{number:06}" for number in range(photos)]
    for number, name in enumerate(names):
        _make_photo(folder, number, name)
    # The list comes last: a set that was interrupted is made again.
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text("\n".join(names) + "\n", encoding="ascii")
    return root


def _make_photo(folder: Path, number: int, name: str) -> None:
    size = _SIZES[number % len(_SIZES)]
    image = made_photo(size, number)
    draw = ImageDraw.Draw(image)
    dice = Dice(1, number)
    objects = []
    for _ in range(1 + dice.below(_MOST_OBJECTS)):
        kind = dice.below(len(_CLASSES))
        width = round(dice.uniform(0.15, 0.5) * size.width)
        height = round(dice.uniform(0.15, 0.5) * size.height)
        left, top = 1 + dice.below(size.width - width - 1), 1 + dice.below(size.height - height - 1)
        box = (left, top, left + width, top + height)
        red, green, blue = colorsys.hsv_to_rgb(kind / len(_CLASSES), 0.8, 0.8)
        draw.ellipse(box, fill=(round(red * 255), round(green * 255), round(blue * 255)))
        objects.append((_CLASSES[kind], box))
    save_photo(image, folder / "JPEGImages" / f"{name}.jpg")
    target = folder / "Annotations" / f"{name}.xml"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_annotation(name, size, objects), encoding="utf-8")


def _annotation(
    name: str, size: Size, objects: Sequence[tuple[str, tuple[int, int, int, int]]]
) -> str:
    listed = "".join(
        f"<object><name>{kind}</name><difficult>0</difficult><bndbox>"
        f"<xmin>{left}</xmin><ymin>{top}</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax>"
        "</bndbox></object>"
        for kind, (left, top, right, bottom) in objects
    )
    return (
        f"<annotation><filename>{name}.jpg</filename><size><width>{size.width}</width>"
        f"<height>{size.height}</height><depth>3</depth></size>{listed}</annotation>\n"
    )
