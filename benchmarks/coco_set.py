"""Images with boxes and masks as a COCO data set: real ones where there are some, else made up."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from benchmarks.dataset import CHECKOUT

FOLDER = CHECKOUT / "build" / "benchmark_coco"
INSTANCES = FOLDER / "instances.json"  # with masks
BOXES_ALONE = FOLDER / "boxes.json"
PACKED, PACKED_WITH_MASKS = FOLDER / "boxes.pen", FOLDER / "masks.pen"
MADE_UP_BOXES = 8  # about as many as COCO has in the mean
_CLASSES = 90


def with_objects(paths: Sequence[str]) -> tuple[str, ...]:
    """Leave out images without objects, as torchvision's reference does for training."""
    if not paths:
        return ()
    known = _annotations(_instances_beside(paths[0]))
    return tuple(path for path in paths if not known or known.get(os.path.basename(path)))


def write_coco(paths: Sequence[str]) -> None:
    """Write COCO files of these images, and pack them with and without masks."""
    from penstock import pack

    FOLDER.mkdir(parents=True, exist_ok=True)
    known = _annotations(_instances_beside(paths[0]))
    root = Path(os.path.commonpath([os.path.dirname(path) for path in paths]))
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number, path in enumerate(paths):
        with PIL.Image.open(path) as image:
            width, height = image.size
        name = Path(path).relative_to(root).as_posix()
        images.append({"id": number, "file_name": name, "height": height, "width": width})
        objects = known.get(os.path.basename(path)) or _made_up(number, height, width)
        for each in objects:
            annotations.append({**each, "id": len(annotations) + 1, "image_id": number})
    categories = [{"id": n, "name": f"class {n}"} for n in range(1, _CLASSES + 1)]
    for file, left_out in ((INSTANCES, set()), (BOXES_ALONE, {"segmentation"})):
        kept = [{k: v for k, v in each.items() if k not in left_out} for each in annotations]
        file.write_text(
            json.dumps(
                {
                    "info": {"images": str(root)},
                    "images": images,
                    "annotations": kept,
                    "categories": categories,
                }
            )
        )
    for file, packed in ((BOXES_ALONE, PACKED), (INSTANCES, PACKED_WITH_MASKS)):
        packed.unlink(missing_ok=True)
        pack(file, packed, images=root)


def image_root() -> str:
    """Return the folder that the file names of the COCO files start from."""
    with BOXES_ALONE.open() as file:
        return str(json.load(file)["info"]["images"])


def _instances_beside(path: str) -> Path:
    return Path(path).parent.parent / "instances.json"


@cache
def _annotations(instances: Path) -> dict[str, list[dict[str, Any]]]:
    """Annotations by the name of their image; nothing where there is no such file."""
    if not instances.exists():
        return {}
    whole = json.loads(instances.read_text())
    name_of = {image["id"]: image["file_name"] for image in whole["images"]}
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in whole["annotations"]:
        found[os.path.basename(name_of[each["image_id"]])].append(each)
    return dict(found)


def _made_up(seed: int, height: int, width: int) -> list[dict[str, Any]]:
    """Rectangles somewhere in an image."""
    rng = np.random.default_rng(seed)
    objects = []
    for _ in range(MADE_UP_BOXES):
        across, down = rng.uniform(0.1, 0.5) * width, rng.uniform(0.1, 0.5) * height
        left, top = rng.uniform(0, width - across), rng.uniform(0, height - down)
        right, bottom = left + across, top + down
        objects.append(
            {
                "bbox": [round(float(side), 2) for side in (left, top, across, down)],
                "category_id": int(rng.integers(1, _CLASSES + 1)),
                "iscrowd": 0,
                "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
            }
        )
    return objects
