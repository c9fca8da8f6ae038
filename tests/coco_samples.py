"""A small COCO data set: gaps in the category ids, crowds, and images without objects."""

import json

import numpy as np

from folders import make_image

CATEGORIES = {1: "person", 3: "car", 17: "cat", 90: "toothbrush"}


def write_coco_set(folder, images=12, seed=0):
    """Write `instances.json` and its images, those in the order of their ids; return the file."""
    rng = np.random.default_rng(seed)
    listed, annotations = [], []
    for number in range(images):
        height, width = rng.integers(70, 130, 2).tolist()
        image_id, name = 10 + 7 * number, f"{number:04}.jpg"
        make_image(rng, height, width).save(folder / name, quality=90)
        listed.append({"id": image_id, "file_name": name, "height": height, "width": width})
        for _ in range(number % 4):  # every fourth has none
            crowd = bool(rng.random() < 0.3)
            left, top = (float(rng.uniform(0, side / 2)) for side in (width, height))
            across, down = float(rng.uniform(8, width / 2)), float(rng.uniform(8, height / 2))
            corners = [left, top, left + across, top, left + across, top + down, left, top + down]
            runs = {"size": [height, width], "counts": [height, height, height * (width - 2)]}
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image_id,
                    "category_id": int(rng.choice(list(CATEGORIES))),
                    "bbox": [round(left, 2), round(top, 2), round(across, 2), round(down, 2)],
                    "area": across * down,
                    "iscrowd": int(crowd),
                    "segmentation": runs if crowd else [corners],
                }
            )
    categories = [{"id": number, "name": name} for number, name in CATEGORIES.items()]
    file = folder / "instances.json"
    file.write_text(
        json.dumps({"images": listed, "annotations": annotations, "categories": categories})
    )
    return file
