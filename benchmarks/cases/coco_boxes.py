"""What training a detector on COCO asks for: images with boxes, perhaps with masks."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.case import Case
from benchmarks.cases.kind import CaseKind
from benchmarks.coco_set import with_objects


def make_case(paths: tuple[str, ...]) -> Case:
    """Return the case of ssdlite's pipeline for these files, without those that have no objects."""
    chosen = with_objects(paths)
    return Case(
        name=KIND.name,
        question=(
            "Images per second with their boxes: decode, RandomIoUCrop, RandomHorizontalFlip, "
            "Resize((320, 320)), SanitizeBoundingBoxes, to float32 CHW in batches of 32"
        ),
        paths=chosen,
        labels=(0,) * len(chosen),
        crop_px=320,
        mean=(0.0, 0.0, 0.0),
        std=(1.0, 1.0, 1.0),
        batch_size=32,
        iou_crop=True,
    )


def make_plain_case(paths: tuple[str, ...]) -> Case:
    """Return the same without the crop, which costs torchvision much."""
    return replace(
        make_case(paths),
        name=PLAIN_KIND.name,
        question=(
            "Images per second with their boxes: decode, RandomHorizontalFlip, "
            "Resize((320, 320)), SanitizeBoundingBoxes, to float32 CHW in batches of 32"
        ),
        iou_crop=False,
    )


KIND = CaseKind(
    name="coco_boxes",
    title="Boxes, with a random crop",
    make=make_case,
    photos="detect/coco128/images",
    images=640,
    rounds=3,
    peers=("penstock_coco", "penstock_coco_masks", "torchvision_coco", "torchvision_coco_masks"),
    cores=(2,),
    compares_pixels=False,
)
PLAIN_KIND = replace(KIND, name="coco_resize", title="Boxes, resized only", make=make_plain_case)
