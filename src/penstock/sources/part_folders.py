"""Folders that are parts of a data set, and so are no classes: images, masks, training, test."""

from __future__ import annotations

import os
from collections.abc import Sequence

from penstock.errors import SourceError
from penstock.sources.scan import IMAGE_EXTENSIONS

IMAGE_FOLDERS = frozenset(["images", "image", "img", "imgs", "jpegimages", "photos", "inputs"])
MASK_FOLDERS = frozenset(
    [
        *("masks", "mask", "labels", "label", "annotations", "annotation", "gt", "ground_truth"),
        *("groundtruth", "seg", "segmentation", "segmentations", "segmentationclass"),
        *("segmentationobject", "segmentation_masks", "trimaps", "targets"),
    ]
)
SPLIT_FOLDERS = frozenset(
    ["train", "training", "val", "valid", "validation", "test", "testing", "data", "default"]
)
_MOST_PARTS = 5  # images, masks, lists of splits, depth ...


def image_and_mask_folders(folders: Sequence[str]) -> tuple[str, str] | None:
    """Return the one folder of images and the one of masks among these names, if there are both."""
    images = [name for name in folders if name.lower() in IMAGE_FOLDERS]
    masks = [name for name in folders if name.lower() in MASK_FOLDERS]
    return (images[0], masks[0]) if len(images) == len(masks) == 1 else None


def refuse_parts(title: str, root: str, folders: Sequence[str]) -> None:
    """Raise if folders that would be classes are parts of a data set by their names.

    One such name among others may be a class: `train`, beside `bus` and `car`.
    """
    names = {name.lower() for name in folders}
    way_out = (
        "If these really are the classes, say so: open_image_folder(..., any_names=True), or "
        "--kind folder to pack them."
    )
    splits = [name for name in folders if name.lower() in SPLIT_FOLDERS]
    if splits and (len(splits) > 1 or len(splits) == len(folders)):
        raise SourceError(
            f"{title}: one folder per class was expected, but by their names these are parts of "
            f"a data set: {', '.join(splits)}. Give one of them instead. {way_out}"
        )
    pair = image_and_mask_folders(folders)
    only_parts = names <= IMAGE_FOLDERS | MASK_FOLDERS and not names.isdisjoint(IMAGE_FOLDERS)
    if not only_parts and (pair is None or len(folders) > _MOST_PARTS):
        return
    if pair is None:
        meant = "Give the folder of the images itself, or a list of files"
    elif _holds_images(os.path.join(root, pair[1])):
        images, masks = (os.path.join(title, name) for name in pair)
        meant = (
            f"For pairs of images and masks: Loader({images!r}, masks={masks!r}), or pack them: "
            f"penstock pack {title} pairs.pen"
        )
    else:
        meant = f"Pack the data set first: penstock pack {title} data.pen, then Loader('data.pen')"
    raise SourceError(
        f"{title}: one folder per class was expected, but {', '.join(folders)} look like the "
        f"images and annotations of one data set. {meant}. {way_out}"
    )


def _holds_images(folder: str) -> bool:
    return any(
        name.lower().endswith(IMAGE_EXTENSIONS) for _, _, names in os.walk(folder) for name in names
    )
