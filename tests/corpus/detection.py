"""Detection data sets of photos: one in COCO's and in YOLO's form, one in Pascal VOC's."""

from __future__ import annotations

import json
import random
from pathlib import Path

from pycocotools import mask as coco_mask

from corpus.photos import photo

COCO_IMAGES, VOC_IMAGES = 24, 30
CATEGORIES = {1: "person", 3: "car", 17: "cat", 18: "dog", 44: "bottle", 62: "chair", 90: "brush"}
CELLS = ("Platelets", "RBC", "WBC")
SPLITS = {"train": 14, "val": 9, "test": 7}


def write_coco_and_yolo(folder: Path) -> None:
    """Write the same objects twice; crowds, which YOLO does not have, only once.

    Objects have one outline or two, crowds run lengths by pycocotools, some images no object.
    """
    draws = random.Random(3)
    images, annotations = folder / "images", []
    labels = folder / "labels_yolo"
    images.mkdir(parents=True)
    labels.mkdir()
    listed = []
    numbers = list(CATEGORIES)
    for index in range(COCO_IMAGES):
        height, width = draws.choice([(160, 213), (213, 160), (144, 144), (120, 240)])
        name = f"{index:012}.jpg"
        image = photo(200 + index, height, width)
        (image.convert("L") if index == 7 else image).save(images / name, quality=90)
        listed.append({"id": 9 + 11 * index, "file_name": name, "height": height, "width": width})
        lines = []
        for _ in range(0 if index % 8 == 3 else draws.randint(1, 9)):
            left, top = draws.uniform(0, width * 0.7), draws.uniform(0, height * 0.7)
            across = draws.uniform(1.5, width - left)
            down = draws.uniform(1.5, height - top)
            box = [round(value, 2) for value in (left, top, across, down)]
            left, top, across, down = box
            crowd = draws.random() < 0.12
            number = draws.choice(numbers)
            corners = [
                left, top, left + across, top, left + across, top + down, left + across / 2,
                top + down / 2, left, top + down,
            ]  # fmt: skip
            outlines = [[round(value, 2) for value in corners]]
            if draws.random() < 0.3:
                outlines.append(outlines[0][4:])  # of two parts, as behind a pole
            outline: object = outlines
            if crowd:
                (runs,) = coco_mask.frPyObjects(outlines[:1], height, width)
                whole = coco_mask.decode(runs).flatten(order="F").tolist()
                outline = {"size": [height, width], "counts": _run_lengths(whole)}
            else:
                middle = (left + across / 2) / width, (top + down / 2) / height
                sides = (across / width, down / height)
                lines.append(
                    " ".join([str(numbers.index(number)), *(f"{v:.6f}" for v in middle + sides)])
                )
            annotations.append(
                {
                    "id": 1 + len(annotations),
                    "image_id": listed[-1]["id"],
                    "category_id": number,
                    "bbox": box,
                    "area": across * down,
                    "iscrowd": int(crowd),
                    "segmentation": outline,
                }
            )
        if lines:
            (labels / name.replace(".jpg", ".txt")).write_text("\n".join(lines) + "\n")
    names = [{"id": number, "name": name} for number, name in CATEGORIES.items()]
    whole = {"images": listed, "annotations": annotations, "categories": names}
    (folder / "instances.json").write_text(json.dumps(whole))
    (folder / "names.txt").write_text("\n".join(CATEGORIES.values()) + "\n")


def write_voc(folder: Path) -> None:
    """Cells under a microscope, in three splits; `<path>` points to nowhere, as it often does."""
    draws = random.Random(4)
    for name in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (folder / name).mkdir(parents=True)
    stems = [f"cells_{number:05}" for number in range(VOC_IMAGES)]
    for number, stem in enumerate(stems):
        height, width = 120, 160
        photo(300 + number, height, width).save(folder / "JPEGImages" / f"{stem}.jpg", quality=88)
        objects = []
        for _ in range(0 if number == 11 else draws.randint(1, 12)):
            left, top = draws.randint(1, width - 20), draws.randint(1, height - 20)
            right, bottom = draws.randint(left + 2, width), draws.randint(top + 2, height)
            objects.append(
                f"\t<object>\n\t\t<name>{draws.choice(CELLS)}</name>\n\t\t<pose>Unspecified</pose>\n"
                f"\t\t<truncated>{draws.randint(0, 1)}</truncated>\n\t\t<difficult>0</difficult>\n"
                f"\t\t<bndbox>\n\t\t\t<xmin>{left}</xmin>\n\t\t\t<ymin>{top}</ymin>\n"
                f"\t\t\t<xmax>{right}</xmax>\n\t\t\t<ymax>{bottom}</ymax>\n\t\t</bndbox>\n"
                "\t</object>\n"
            )
        (folder / "Annotations" / f"{stem}.xml").write_text(
            f"<annotation>\n\t<folder>JPEGImages</folder>\n\t<filename>{stem}.jpg</filename>\n"
            f"\t<path>/somebody/{stem}.jpg</path>\n\t<size>\n\t\t<width>{width}</width>\n"
            f"\t\t<height>{height}</height>\n\t\t<depth>3</depth>\n\t</size>\n"
            f"\t<segmented>0</segmented>\n{''.join(objects)}</annotation>\n"
        )
    start = 0
    for split, count in SPLITS.items():
        chosen = stems[start : start + count]
        (folder / "ImageSets" / "Main" / f"{split}.txt").write_text("\n".join(chosen) + "\n")
        start += count


def _run_lengths(values: list[int]) -> list[int]:
    """How many zeros, then how many ones, and so on."""
    runs, before = [0], 0
    for value in values:
        if value != before:
            runs.append(0)
            before = value
        runs[-1] += 1
    return runs
