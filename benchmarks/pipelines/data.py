"""The data that a pipeline needs: photos, large photos, photos with boxes, photos with masks.

Each is packed for penstock, and read by torchvision as its users do, one sample at a time.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import PIL.Image
from PIL import ImageDraw

import penstock
from benchmarks import coco_set
from benchmarks.dataset import CHECKOUT, default_folder, image_paths, shared_data_folder
from benchmarks.order.photos import photos_of
from penstock.geometry import Size

FOLDER = CHECKOUT / "build" / "benchmark_pipelines"
LARGE_PX = 12_000_000
MADE_LARGE = Size(3000, 4500)
IGNORED = 255  # the class of what comes into masks from outside

Transform = Callable[..., Any]
Tensors = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """Samples, packed and as torchvision reads them: its images, and what belongs to each."""

    packed: Path
    count: int
    read: Callable[[Transform, int], Tensors]  # the images of one sample, after a transform
    options: dict[str, Any] = field(default_factory=dict)  # of a Loader


def open_photos(count: int) -> Data:
    """Ordinary photos."""
    return _photos(image_paths(default_folder(), count), "photos")


def open_large_photos(count: int) -> Data:
    """Photos of 12 megapixels and more."""
    if shared_data_folder() is None:
        return _photos(photos_of(MADE_LARGE, count), "large")
    paths = dict.fromkeys(image_paths(default_folder("large"), 1000))
    large = [path for path in paths if _pixels(path) >= LARGE_PX]
    return _photos(large[:count], "large")


def open_boxes(count: int) -> Data:
    """Photos with boxes, as a COCO data set."""
    from torchvision import datasets

    paths = image_paths(default_folder("detect/coco128/images"), count)
    coco_set.write_coco(coco_set.with_objects(paths))
    with contextlib.redirect_stdout(io.StringIO()):  # it says how it reads its index
        coco = datasets.CocoDetection(coco_set.image_root(), str(coco_set.BOXES_ALONE))
    wrapped = datasets.wrap_dataset_for_transforms_v2(coco, target_keys=("boxes", "labels"))

    def read(transform: Transform, index: int) -> Tensors:
        image, target = transform(*wrapped[index])
        return image, target["boxes"]

    return Data(coco_set.PACKED, len(coco), read)


def open_masks(count: int) -> Data:
    """Photos with a class for each pixel."""
    from torchvision import tv_tensors
    from torchvision.transforms.v2.functional import pil_to_tensor

    paths = coco_set.with_objects(image_paths(default_folder("detect/coco128/images"), count))
    folder = FOLDER / "masks"
    pairs = _write_masks(paths, folder)
    packed = _packed(folder, "masks")

    def read(transform: Transform, index: int) -> Tensors:
        image, mask = (PIL.Image.open(path) for path in pairs[index])
        tensors: Tensors = transform(image.convert("RGB"), tv_tensors.Mask(pil_to_tensor(mask)))
        return tensors

    return Data(packed, len(pairs), read, {"mask_fill": IGNORED})


def _photos(paths: Sequence[str], name: str) -> Data:
    def read(transform: Transform, index: int) -> Tensors:
        return (transform(PIL.Image.open(paths[index]).convert("RGB")),)

    return Data(_packed(list(paths), name), len(paths), read)


def _packed(data: Any, name: str) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / f"{name}.pen"
    target.unlink(missing_ok=True)
    penstock.pack(data, target, progress=False)
    return target


def _pixels(path: str) -> int:
    with PIL.Image.open(path) as image:
        return int(image.width * image.height)


def _write_masks(paths: Sequence[str], folder: Path) -> list[tuple[Path, Path]]:
    """Write images/0.jpg and masks/0.png ...: the outlines of the objects that COCO's file has."""
    coco_set.write_coco(paths)
    objects = defaultdict(list)
    for each in json.loads(coco_set.INSTANCES.read_text("utf-8"))["annotations"]:
        objects[each["image_id"]].append(each)
    for part in ("images", "masks"):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for old in (folder / part).iterdir():
            old.unlink()
    pairs = []
    for number, path in enumerate(paths):
        image_file = folder / "images" / f"{number:04}.jpg"
        mask_file = folder / "masks" / f"{number:04}.png"
        os.symlink(os.path.abspath(path), image_file)
        with PIL.Image.open(path) as image:
            mask = PIL.Image.new("L", image.size)
        draw = ImageDraw.Draw(mask)
        for each in objects[number]:
            if isinstance(each["segmentation"], list):  # crowds are runs of pixels instead
                for outline in each["segmentation"]:
                    draw.polygon(outline, fill=each["category_id"])
        mask.save(mask_file)
        pairs.append((image_file, mask_file))
    return pairs
