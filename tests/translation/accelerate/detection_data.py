"""Small data sets with boxes, made from generated images, in the forms of COCO and VOC."""

import json

import numpy as np
from PIL import Image

VOC_CLASSES = ("person", "dog", "car", "tvmonitor")


def boxes_of(rng, size, count):
    """Corners of some boxes inside an image; those are whole numbers."""
    width, height = size
    left, top = rng.integers(1, width - 6, count), rng.integers(1, height - 6, count)
    right = [rng.integers(each + 3, width + 1) for each in left]
    bottom = [rng.integers(each + 3, height + 1) for each in top]
    return np.stack([left, top, right, bottom], axis=1)


def write_coco(folder, file):
    """COCO's JSON: image 0 has no objects, every third has whole numbers, some are crowds."""
    rng = np.random.default_rng(0)
    images, annotations = [], []
    for number, path in enumerate(sorted(folder.rglob("*.jpg"))):
        size = Image.open(path).size
        name = str(path.relative_to(folder))
        images.append({"id": 7 * number, "file_name": name, "width": size[0], "height": size[1]})
        for left, top, right, bottom in boxes_of(rng, size, number % 4).tolist():
            shift = 0 if number % 3 == 0 else round(float(rng.uniform(0.1, 0.9)), 2)
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": 7 * number,
                    "category_id": int(rng.integers(1, 90)),
                    "bbox": [left - shift, top - shift, right - left, bottom - top],
                    "area": float((right - left) * (bottom - top)),
                    "iscrowd": int(rng.integers(0, 2)),
                }
            )
    categories = [{"id": number, "name": str(number)} for number in range(1, 90)]
    file.write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": categories})
    )


def write_voc(folder, root):
    """The folders of VOC 2012 as VOCDetection wants them."""
    rng = np.random.default_rng(1)
    base = root / "VOCdevkit" / "VOC2012"
    for name in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (base / name).mkdir(parents=True)
    names = []
    for number, path in enumerate(sorted(folder.rglob("*.jpg"))):
        names.append(f"{number:06}")
        (base / "JPEGImages" / f"{names[-1]}.jpg").symlink_to(path)
        corners = boxes_of(rng, Image.open(path).size, 1 + number % 3)
        objects = "".join(_object(rng, *row) for row in corners.tolist())
        (base / "Annotations" / f"{names[-1]}.xml").write_text(
            f"<annotation><filename>{names[-1]}.jpg</filename>{objects}</annotation>"
        )
    (base / "ImageSets" / "Main" / "train.txt").write_text("\n".join(names) + "\n")


def _object(rng, left, top, right, bottom):
    name = VOC_CLASSES[int(rng.integers(len(VOC_CLASSES)))]
    return (
        f"<object><name>{name}</name><difficult>0</difficult><bndbox><xmin>{left}</xmin>"
        f"<ymin>{top}</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>"
    )
