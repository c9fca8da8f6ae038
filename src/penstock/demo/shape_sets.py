"""Small data sets of drawn shapes, for trainings that learn something within a minute on a CPU.

The same arguments give the same bytes with the same Pillow.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from penstock.demo.made_set import make_set
from penstock.demo.sample_photo import Dice
from penstock.demo.shapes import OUTLINES, SIDE_PX, Shape, draw_shapes, place_shapes
from penstock.errors import SourceError

RECIPE = 1  # raised by any change that alters the files
JPEG_QUALITY = 85
SINGLE_RADIUS = 0.4  # largest radius of a shape that is alone, as a share of the side
SCENE_RADIUS = 0.25
MOST_SHAPES = 3  # in a scene
SPLITS = ("train", "test")
_TEST_STREAM = 1 << 32  # test images have other draws than any training image


def make_shape_set(
    folder: str | os.PathLike[str],
    train: int = 300,
    test: int = 1000,
    seed: int = 0,
    side_px: int = SIDE_PX,
    progress: bool | None = None,
) -> Path:
    """Write JPEGs of ten shapes into `folder/train/arrow` ... and `folder/test/arrow` ....

    A class is an outline; place, scale, rotation, colours, patterns and clutter are nuisance, drawn
    anew for every image. So few training images are learned by heart, and augmentation helps.
    A folder that already holds this very set is left as it is; nothing is ever deleted.

    Args:
        folder: Where to write; made if missing.
        train: How many images to train with, over all classes.
        test: How many images to test with.
        seed: Another seed makes other images of the same kind.
        side_px: The size of the images, which are drawn at 144 pixels and then resized.
        progress: Show a bar; None means if stderr is a terminal.
    """
    if side_px < 1:
        raise SourceError(f"shapes: side_px must be 1 or more, got {side_px}.")
    names = list(OUTLINES)
    images: dict[Path, tuple[Dice, str]] = {}
    for split, index in _images(train, test, least=len(names)):
        name = names[index % len(names)]
        path = Path(split) / name / f"{index // len(names):05}.jpg"
        images[path] = _dice(seed, split, index), name

    def draw(path: Path) -> bytes:
        dice, name = images[path]
        image = draw_shapes(dice, place_shapes(dice, [name], SINGLE_RADIUS))
        if side_px != SIDE_PX:
            image = image.resize((side_px, side_px), Image.Resampling.BICUBIC)
        return _jpeg(image)

    parameters = {"shapes": 1, "train": train, "test": test, "seed": seed, "side_px": side_px}
    return make_set(
        folder,
        {**parameters, "recipe": RECIPE},
        list(images),
        lambda: draw,
        title="drawing shapes",
        progress=progress,
    )


def make_shape_scenes(
    folder: str | os.PathLike[str],
    train: int = 200,
    test: int = 100,
    classes: int = 3,
    seed: int = 0,
    progress: bool | None = None,
) -> Path:
    """Write images of several shapes each, and their boxes in COCO's form.

    `folder/annotations/instances_train.json` lists the images in `folder/train`, and there is the
    same for `test`. See `make_shape_set` for what is drawn.

    Args:
        folder: Where to write; made if missing.
        train: How many images to train with.
        test: How many images to test with.
        classes: How many kinds of shapes.
        seed: Another seed makes other images of the same kind.
        progress: Show a bar; None means if stderr is a terminal.
    """
    if not 1 <= classes <= len(OUTLINES):
        raise SourceError(f"shapes: classes must be 1 to {len(OUTLINES)}, got {classes}.")
    names = list(OUTLINES)[-classes:]
    scenes: dict[Path, tuple[Dice, list[Shape]]] = {}
    for split, index in _images(train, test, least=1):
        dice = _dice(seed, split, index)
        wanted = [names[dice.below(classes)] for _ in range(1 + dice.below(MOST_SHAPES))]
        path = Path(split) / f"{index:05}.jpg"
        scenes[path] = dice, place_shapes(dice, wanted, SCENE_RADIUS)
    lists = {Path("annotations") / f"instances_{split}.json": split for split in SPLITS}

    def make(path: Path) -> bytes:
        if path in scenes:
            return _jpeg(draw_shapes(*scenes[path]))
        inside = {
            image.name: shapes
            for image, (_, shapes) in scenes.items()
            if image.parts[0] == lists[path]
        }
        return json.dumps(_as_coco(inside, names), indent=1).encode()

    parameters = {"scenes": 1, "train": train, "test": test, "classes": classes, "seed": seed}
    return make_set(
        folder,
        {**parameters, "recipe": RECIPE},
        [*scenes, *lists],
        lambda: make,
        title="drawing scenes",
        progress=progress,
    )


def _images(train: int, test: int, *, least: int) -> Iterator[tuple[str, int]]:
    for split, count in zip(SPLITS, (train, test), strict=True):
        if count < least:
            raise SourceError(f"shapes: {split} must be {least} images or more, got {count}.")
        yield from ((split, index) for index in range(count))


def _dice(seed: int, split: str, index: int) -> Dice:
    return Dice(seed, stream=index + (_TEST_STREAM if split == "test" else 0))


def _jpeg(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()


def _as_coco(scenes: Mapping[str, Sequence[Shape]], names: Sequence[str]) -> dict[str, Any]:
    """Return what COCO's json says of images and their boxes; ids count from 1."""
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for image_id, (file, shapes) in enumerate(scenes.items(), start=1):
        images.append({"id": image_id, "file_name": file, "width": SIDE_PX, "height": SIDE_PX})
        for shape in shapes:
            left, top, right, bottom = (round(end, 2) for end in shape.box())
            width, height = round(right - left, 2), round(bottom - top, 2)
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image_id,
                    "category_id": names.index(shape.name) + 1,
                    "bbox": [left, top, width, height],
                    "area": round(width * height, 2),
                    "iscrowd": 0,
                }
            )
    categories = [{"id": number, "name": name} for number, name in enumerate(names, start=1)]
    return {"images": images, "annotations": annotations, "categories": categories}
