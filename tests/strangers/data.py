"""Small data of every kind that the strangers' Datasets read, from a seed or from given photos.

    photos/class_0/0000.jpg   several sizes and samplings; gray, CMYK, progressive, with EXIF
    masks/0000.png            a class for each pixel of the photo as it is stored
    cutouts/0000.png          with alpha, and with a palette
    scans/0000.png, 0001.tif  gray, 16 bits
    arrays/0000.npy           bytes, height x width x 3
    clips/clip_00/000.jpg     frames
    damaged/0000.jpg          the photos again, some of them cut short
    labels.csv, attributes.json, samples.pkl, instances.json, captions.txt
    photos.tar, photos.lmdb, photos.h5   the files of photos/; the last two where lmdb and h5py are

Given photos are linked as they are; all else is made of them, so it has their sizes.
"""

from __future__ import annotations

import json
import pickle
import tarfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

CLASSES = 4
ATTRIBUTES = 6
FRAMES = 4  # in a clip
WORDS = ("a", "the", "two", "red", "small", "dark", "dog", "boat", "tree", "near", "under", "with")
SHAPES = ((1.0, 1.33), (1.4, 1.0), (1.0, 1.0), (0.95, 1.71), (1.13, 1.27))  # height, width
ORIENTATION = 0x0112  # the tag of EXIF
# How a photo is made and saved, in turn; sizes take other turns, so that kinds meet sizes.
KINDS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("RGB", {"subsampling": "4:2:0"}, 1),
    ("RGB", {"progressive": True}, 1),
    ("L", {}, 1),
    ("RGB", {"subsampling": "4:2:2"}, 6),
    ("RGB", {"subsampling": "4:4:4", "quality": 95}, 1),
    ("CMYK", {}, 1),
    ("RGB", {"optimize": True, "quality": 60}, 3),
)


def make_data(
    folder: Path,
    *,
    count: int = 10,
    side_px: int = 40,
    photos: Sequence[str | Path] | None = None,
    seed: int = 0,
) -> Path:
    """Write everything below `folder`, and return it.

    `count` photos are made, the shorter side of most of them `side_px`; or `photos` are taken.
    """
    rng = np.random.default_rng(seed)
    if photos is None:
        paths = [_make_photo(folder, number, side_px, rng) for number in range(count)]
    else:
        paths = [_link_photo(folder, number, Path(photo)) for number, photo in enumerate(photos)]
    for number, path in enumerate(paths):
        with PIL.Image.open(path) as opened:
            _write_pictures(folder, number, opened.convert("RGB"), rng)
    for number in range(0, len(paths), FRAMES):
        _write_clip(folder, number, paths[number], rng)
    _write_damaged(folder, paths)
    _write_tables(folder, paths, rng)
    _write_archives(folder, paths)
    return folder


def _make_photo(folder: Path, number: int, side_px: int, rng: np.random.Generator) -> Path:
    shape = SHAPES[number % len(SHAPES)]
    height, width = (round(side_px * factor) for factor in shape)
    mode, options, orientation = KINDS[number % len(KINDS)]
    image = _smooth(rng, height, width).convert(mode)
    if orientation != 1:
        exif = PIL.Image.Exif()
        exif[ORIENTATION] = orientation
        options = {**options, "exif": exif}
    path = _photo_path(folder, number)
    image.save(path, **{"quality": 80, **options})
    return path


def _link_photo(folder: Path, number: int, photo: Path) -> Path:
    path = _photo_path(folder, number)
    path.symlink_to(photo.resolve())
    return path


def _photo_path(folder: Path, number: int) -> Path:
    return _inside(folder / "photos" / f"class_{number % CLASSES}") / f"{number:04}.jpg"


def _smooth(rng: np.random.Generator, height: int, width: int) -> PIL.Image.Image:
    """Return a picture whose JPEG has few large coefficients, as photos have."""
    small = rng.integers(0, 256, (max(2, height // 6), max(2, width // 6), 3), dtype=np.uint8)
    return PIL.Image.fromarray(small).resize((width, height), PIL.Image.Resampling.BICUBIC)


def _write_pictures(
    folder: Path, number: int, photo: PIL.Image.Image, rng: np.random.Generator
) -> None:
    """Write the mask, the cutout, the scan and the array of a photo."""
    width, height = photo.size
    mask = PIL.Image.fromarray(rng.integers(0, CLASSES, (5, 6), dtype=np.uint8))
    mask = mask.resize(photo.size, PIL.Image.Resampling.NEAREST)
    _save(mask, folder / "masks" / f"{number:04}.png")

    if number % 2:
        cutout = photo.quantize(32)
        _save(cutout, folder / "cutouts" / f"{number:04}.png", transparency=3)
    else:
        cutout = photo.copy()
        ramp = np.linspace(0, 255, width, dtype=np.uint8)[None].repeat(height, axis=0)
        cutout.putalpha(PIL.Image.fromarray(ramp))
        _save(cutout, folder / "cutouts" / f"{number:04}.png")

    gray = np.asarray(photo.convert("L"), dtype=np.uint16)
    deep = gray * 256 + rng.integers(0, 256, gray.shape, dtype=np.uint16)
    ending = "tif" if number % 3 == 1 else "png"
    _save(PIL.Image.fromarray(deep), folder / "scans" / f"{number:04}.{ending}")

    array = np.asarray(photo.resize((max(1, width // 2), max(1, height // 2))))
    np.save(_inside(folder / "arrays") / f"{number:04}.npy", array)


def _write_clip(folder: Path, number: int, photo: Path, rng: np.random.Generator) -> None:
    """Write frames that move over a photo."""
    with PIL.Image.open(photo) as opened:
        image = opened.convert("RGB")
    width, height = (round(side * 0.9) for side in image.size)
    for frame in range(FRAMES):
        left, top = rng.integers(0, (image.width - width + 1, image.height - height + 1)).tolist()
        part = image.crop((left, top, left + width, top + height))
        name = f"clips/clip_{number // FRAMES:02}/{frame:03}.jpg"
        _save(part, folder / name, quality=85)


def _write_damaged(folder: Path, paths: Sequence[Path]) -> None:
    """Write photos; some fail when they are decoded, and some when they are opened."""
    for number, path in enumerate(paths):
        data = path.read_bytes()
        kept = {1: len(data) * 9 // 10, 4: 20}.get(number % 8, len(data))
        (_inside(folder / "damaged") / path.name).write_bytes(data[:kept])


def _write_tables(folder: Path, paths: Sequence[Path], rng: np.random.Generator) -> None:
    """Write labels as people keep them."""
    names = [path.relative_to(folder).as_posix() for path in paths]
    labels = [number % CLASSES for number in range(len(names))]
    rows = [f"{name},{label}" for name, label in zip(names, labels, strict=True)]
    _write(folder / "labels.csv", "\n".join(["file,label", *rows, ""]))

    found = rng.random((len(names), ATTRIBUTES)) < 0.4
    attributes = [
        {"file": name, "attributes": np.flatnonzero(row).tolist()}
        for name, row in zip(names, found, strict=True)
    ]
    _write(folder / "attributes.json", json.dumps(attributes))

    with (folder / "samples.pkl").open("wb") as file:
        pickle.dump(list(zip(names, labels, strict=True)), file)

    sentences = (" ".join(rng.choice(WORDS, rng.integers(2, 8))) for _ in names)
    lines = [f"{name}\t{sentence}" for name, sentence in zip(names, sentences, strict=True)]
    _write(folder / "captions.txt", "\n".join(lines))
    _write(folder / "instances.json", json.dumps(_instances(paths, names, rng)))


def _instances(
    paths: Sequence[Path], names: Sequence[str], rng: np.random.Generator
) -> dict[str, object]:
    """Return boxes as COCO has them: left, top, width and height, in pixels."""
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number, (path, name) in enumerate(zip(paths, names, strict=True)):
        with PIL.Image.open(path) as opened:
            width, height = opened.size
        images.append({"id": number, "file_name": name, "width": width, "height": height})
        for _ in range(rng.integers(1, 4)):
            left, top = rng.uniform(0, 0.6, 2) * (width, height)
            box = [left, top, *(rng.uniform(0.1, 0.4, 2) * (width, height))]
            annotations.append(
                {
                    "id": len(annotations),
                    "image_id": number,
                    "category_id": int(rng.integers(1, CLASSES)),
                    "bbox": [round(float(side), 2) for side in box],
                }
            )
    categories = [{"id": label, "name": f"class_{label}"} for label in range(1, CLASSES)]
    return {"images": images, "annotations": annotations, "categories": categories}


def _write_archives(folder: Path, paths: Sequence[Path]) -> None:
    with tarfile.open(folder / "photos.tar", "w", dereference=True) as archive:
        for path in paths:
            archive.add(path, path.relative_to(folder / "photos").as_posix())
    contents = [path.read_bytes() for path in paths]
    if find_spec("lmdb"):
        import lmdb

        size = sum(map(len, contents)) * 2 + (1 << 20)
        opened = lmdb.open(str(folder / "photos.lmdb"), map_size=size)
        with opened as environment, environment.begin(write=True) as transaction:
            for number, content in enumerate(contents):
                transaction.put(f"{number:08}".encode(), content)
    if find_spec("h5py"):
        import h5py  # type: ignore[import-untyped]  # it has no types

        with h5py.File(folder / "photos.h5", "w") as file:
            images = file.create_dataset("images", len(contents), h5py.vlen_dtype(np.uint8))
            for number, content in enumerate(contents):
                images[number] = np.frombuffer(content, np.uint8)
            file["labels"] = [number % CLASSES for number in range(len(contents))]


def _save(image: PIL.Image.Image, path: Path, **options: Any) -> None:
    _inside(path.parent)
    if path.suffix == ".png":
        options["compress_level"] = 1
    image.save(path, **options)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _inside(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
