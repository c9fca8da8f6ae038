"""Small data sets of every kind, made anew for each soak: folders, packed files and shards."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from penstock import pack
from penstock.packing.items import LABEL, Column, PackItem

CLASSES = ("cat", "dog", "owl")
CATEGORIES = {1: "person", 3: "car", 17: "cat", 90: "toothbrush"}
SHARDS = 3
NOT_IMAGES = 3  # files of the folder "damaged" that cannot be decoded


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set in all the forms that a Loader can open."""

    name: str
    samples: int
    forms: dict[str, Path]  # "folder", "packed", "shards"
    options: dict[str, Any]  # what a Loader over the folder needs beside its path


class ColumnSource:
    """Images with a column of every kind: fixed, ragged, text and bytes."""

    columns = (
        LABEL,
        Column("score", "fixed", "float32", (3,)),
        Column("points", "ragged", "int16", (2,)),
        Column("caption", "text"),
        Column("blob", "bytes"),
    )
    classes = CLASSES
    box_classes = None

    def __init__(self, files: list[Path]) -> None:
        self._files = files
        self.length = len(files)

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples from position `start` on."""
        for number in range(start, len(self._files)):
            rng = np.random.default_rng(number)
            values = {
                "label": number % len(CLASSES),
                "score": rng.random(3, dtype=np.float32),
                "points": rng.integers(-99, 99, (number % 4, 2), dtype=np.int16),
                "caption": f"picture {number}: " + "ä" * (number % 7),
                "blob": rng.bytes(number % 11),
            }
            file = self._files[number]
            yield PackItem(f"{number:03}{file.suffix}", file, values)

    def describe(self) -> str:
        """Return one line for people."""
        return f"{self.length} images with columns"


def make_data_sets(root: Path, seed: int, images: int = 40) -> dict[str, DataSet]:
    """Write every data set below `root`."""
    photos, other = root / "photos", root / "other"
    _write_photos(photos, seed, images)
    _write_photos(other, seed + 1, images)
    damaged = root / "damaged"
    _write_photos(damaged, seed + 2, images // 2)
    _write_damage(damaged)
    instances = write_coco(root / "coco", seed, images // 2)
    pairs = root / "maps"
    _write_maps(pairs, seed, images // 3)
    files = sorted(photos.rglob("*.*"))
    maps: dict[str, Any] = {"masks": str(pairs / "masks")}
    return {
        "photos": DataSet("photos", images, {"folder": photos, **_packed(photos)}, {}),
        "other": DataSet("other", images, {"folder": other, **_packed(other)}, {}),
        "damaged": DataSet("damaged", images // 2 + NOT_IMAGES, {"folder": damaged}, {}),
        "coco": DataSet("coco", images // 2, _packed(instances, root / "coco"), {}),
        "maps": DataSet(
            "maps",
            images // 3,
            {"folder": pairs / "images", **_packed(pairs / "images", pairs, **maps)},
            maps,
        ),
        "columns": DataSet(
            "columns", images, _packed(ColumnSource(files), root / "columns", shards=False), {}
        ),
    }


def _packed(
    source: Any, name: Path | None = None, *, shards: bool = True, **options: Any
) -> dict[str, Path]:
    base = name or source
    forms = {"packed": base.with_suffix(".pen")}
    pack(source, forms["packed"], progress=False, threads=2, **options)
    if shards:
        forms["shards"] = base.with_suffix(".shards")
        pack(source, forms["shards"], progress=False, threads=2, shards=SHARDS, **options)
    return forms


def picture(rng: np.random.Generator, height: int, width: int) -> PIL.Image.Image:
    """Return a smooth random picture: JPEGs of it have few large coefficients, as photos have."""
    small = rng.integers(0, 256, (max(2, height // 8), max(2, width // 8), 3), dtype=np.uint8)
    return PIL.Image.fromarray(small).resize((width, height), PIL.Image.Resampling.BICUBIC)


def _write_photos(root: Path, seed: int, images: int) -> None:
    """Write JPEGs of all sorts, and what Pillow decodes for us."""
    rng, dice = np.random.default_rng(seed), random.Random(seed)
    for number in range(images):
        folder = root / CLASSES[number % len(CLASSES)]
        folder.mkdir(parents=True, exist_ok=True)
        height, width = rng.integers(17, 160, 2).tolist()
        image, path = picture(rng, height, width), folder / f"{number:03}"
        sort = dice.choice(["jpg"] * 6 + ["gray", "cmyk", "png", "rgba", "palette", "bmp"])
        if sort in {"jpg", "gray", "cmyk"}:
            mode = {"jpg": "RGB", "gray": "L", "cmyk": "CMYK"}[sort]
            exif = PIL.Image.Exif()
            exif[0x0112] = dice.randint(1, 8)
            image.convert(mode).save(
                path.with_suffix(".jpg"),
                quality=dice.randint(40, 98),
                subsampling=dice.randint(0, 2),
                progressive=dice.random() < 0.2,
                exif=exif.tobytes() if dice.random() < 0.3 else b"",
            )
        elif sort == "bmp":
            image.save(path.with_suffix(".bmp"))
        else:
            mode = {"png": "RGB", "rgba": "RGBA", "palette": "P"}[sort]
            image.convert(mode).save(path.with_suffix(".png"))


def _write_damage(root: Path) -> None:
    folder = root / CLASSES[0]
    whole = max(root.rglob("*.jpg"), key=lambda path: path.stat().st_size).read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.jpg").write_bytes(b"")
    (root / CLASSES[1] / "text.png").write_text("not an image")


def write_coco(root: Path, seed: int, images: int) -> Path:
    """Write images with boxes and masks: polygons, crowds, and images without objects."""
    root.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    listed: list[dict[str, Any]] = []
    objects: list[dict[str, Any]] = []
    for number in range(images):
        height, width = rng.integers(60, 130, 2).tolist()
        name = f"{number:04}.jpg"
        picture(rng, height, width).save(root / name, quality=90)
        image_id = 10 + 7 * number
        listed.append({"id": image_id, "file_name": name, "height": height, "width": width})
        for _ in range(number % 4):
            crowd = bool(rng.random() < 0.3)
            left, top = (round(float(rng.uniform(0, side / 2)), 2) for side in (width, height))
            across, down = (round(float(rng.uniform(8, side / 2)), 2) for side in (width, height))
            corners = [left, top, left + across, top, left + across, top + down, left, top + down]
            runs = {"size": [height, width], "counts": [height, height, height * (width - 2)]}
            objects.append(
                {
                    "id": len(objects) + 1,
                    "image_id": image_id,
                    "category_id": int(rng.choice(list(CATEGORIES))),
                    "bbox": [left, top, across, down],
                    "area": across * down,
                    "iscrowd": int(crowd),
                    "segmentation": runs if crowd else [corners],
                }
            )
    categories = [{"id": number, "name": name} for number, name in CATEGORIES.items()]
    file = root / "instances.json"
    file.write_text(
        json.dumps({"images": listed, "annotations": objects, "categories": categories})
    )
    return file


def _write_maps(root: Path, seed: int, images: int) -> None:
    """Write images and their masks of class numbers."""
    rng = np.random.default_rng(seed)
    for part in ("images", "masks"):
        (root / part).mkdir(parents=True)
    for number in range(images):
        height, width = rng.integers(40, 120, 2).tolist()
        picture(rng, height, width).save(root / "images" / f"{number:03}.jpg", quality=90)
        blocks = rng.integers(0, 21, (-(-height // 8), -(-width // 8)), dtype=np.uint8)
        mask = np.kron(blocks, np.ones((8, 8), np.uint8))[:height, :width]
        PIL.Image.fromarray(mask).save(root / "masks" / f"{number:03}.png")
