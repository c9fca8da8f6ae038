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
    """Raise if the folders that would be classes are parts of a data set by their names.

    Among more folders than a data set has parts, any name may be a class.
    """
    names = {name.lower() for name in folders}
    way_out = "If these really are the classes, give a list of files with labels=[...]."
    if names and names <= SPLIT_FOLDERS:
        raise SourceError(
            f"{title}: {', '.join(folders)} are parts of a data set by their names, no classes. "
            f"Give one of them. {way_out}"
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
        f"{title}: {', '.join(folders)} look like the images and annotations of one data set, not "
        f"like classes. {meant}. {way_out}"
    )


def _holds_images(folder: str) -> bool:
    return any(
        name.lower().endswith(IMAGE_EXTENSIONS) for _, _, names in os.walk(folder) for name in names
    )
