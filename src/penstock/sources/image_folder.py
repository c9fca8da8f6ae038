"""A folder with one folder per class, read as `torchvision.datasets.ImageFolder` reads it.

Folders named like parts of a data set (images, masks, training, test) are not taken for classes
unless somebody says so.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Ints
from penstock.printable import printable
from penstock.sources.scan import IMAGE_EXTENSIONS, Scan, find_images, special_kind_of
from penstock.sources.source import FileSource, PathTable

CLASSES_NAMED_IN_ERRORS = 10
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


def open_image_folder(
    root: str | bytes | os.PathLike[str],
    *,
    allow_empty: bool = False,
    any_names: bool = False,
    refresh: bool = False,
    progress: bool | None = None,
) -> FileSource:
    """Open `root/<class>/.../<image>` with torchvision's classes, labels and order of files.

    Args:
        root: The folder that holds the class folders.
        allow_empty: Accept class folders without an image; their labels stay reserved.
        any_names: Take folders for classes even if they are named as the parts of a data set are
            (images and masks, train and val).
        refresh: Scan again even if the remembered scan seems to hold.
        progress: Show a bar during a long scan; None means if stderr is a terminal.

    Unlike torchvision, a folder that cannot be read is an error, not left out.
    """
    title = printable(root)
    folder = existing_folder(root)
    scan = find_images(folder, refresh=refresh, progress=progress)
    loose = 0 if _classes(scan) else sum(map(_is_image, os.listdir(folder)))
    return source_of_scan(title, folder, scan, loose, allow_empty=allow_empty, any_names=any_names)


def source_of_scan(
    title: str, root: str, scan: Scan, loose: int, *, allow_empty: bool, any_names: bool
) -> FileSource:
    """Return the source of class folders that were found; `loose` images are beside them."""
    classes = _classes(scan)
    if not classes:
        raise SourceError(_no_classes(title, loose))
    if not any_names:
        refuse_parts(title, root, classes)
    labels = _labels(scan, classes)
    images_per_class = np.bincount(labels, minlength=len(classes))
    empty = [name for name, images in zip(classes, images_per_class, strict=True) if not images]
    if empty and not (allow_empty and len(labels)):
        raise SourceError(_empty_classes(title, empty, total=len(classes)))
    return FileSource(title, root, scan.files, labels, classes, left_out=scan.left_out)


def open_loose_images(root: str | os.PathLike[str]) -> FileSource | None:
    """Open a folder with images and no folders in it; None if it is not one."""
    folder = existing_folder(root)
    with os.scandir(folder) as entries:
        shown = sorted(
            (e.name, e.is_dir(), special_kind_of(e)) for e in entries if not e.name.startswith(".")
        )
    images = [entry for entry in shown if entry[0].lower().endswith(IMAGE_EXTENSIONS)]
    if not images or any(is_folder for _, is_folder, _ in shown):
        return None
    files = PathTable.from_paths(os.fsencode(name) for name, _, kind in images if kind is None)
    left_out = tuple(f"{printable(name)} ({kind})" for name, _, kind in images if kind is not None)
    if not len(files):
        raise SourceError(f"{printable(root)}: no image file in it, but {', '.join(left_out[:5])}.")
    return FileSource(printable(root), folder, files, None, None, left_out=left_out)


def existing_folder(root: str | bytes | os.PathLike[str]) -> str:
    """Return the absolute path of a folder given by the user, or raise a SourceError."""
    given = os.fsdecode(root)
    folder = os.path.abspath(os.path.expanduser(given))
    if os.path.isdir(folder):
        return folder
    if os.path.lexists(folder):
        raise SourceError(
            f"{printable(given)}: not a folder. Give the folder that holds the images, "
            "or a list of files: [path, ...]."
        )
    looked = "" if os.path.isabs(given) else f" (looked for {printable(folder)})"
    raise SourceError(f"{printable(given)}: no such folder{looked}. Check the path.")


def _classes(scan: Scan) -> tuple[str, ...]:
    # Sorted already: a class folder comes right before the directories below it.
    return tuple(path for path in scan.directories if path and os.sep not in path)


def _labels(scan: Scan, classes: tuple[str, ...]) -> Ints:
    label_of = {name: label for label, name in enumerate(classes)}
    of_directory = [label_of.get(path.split(os.sep, 1)[0], 0) for path in scan.directories]
    return np.repeat(np.array(of_directory, np.int64), scan.file_counts)


def _is_image(name: str) -> bool:
    return name.lower().endswith(IMAGE_EXTENSIONS)


def _no_classes(title: str, loose: int) -> str:
    if loose:
        return (
            f"{title}: {loose:,} images but no class folders. Give a labels file (labels=... or "
            "--labels), a dictionary from path to label, or the folder above this one. For images "
            "without labels give the list of files."
        )
    return (
        f"{title}: neither class folders nor images in it. "
        "Expected one folder per class, with image files inside."
    )


def _empty_classes(title: str, empty: list[str], *, total: int) -> str:
    named = ", ".join(printable(name) for name in empty[:CLASSES_NAMED_IN_ERRORS])
    more = len(empty) - CLASSES_NAMED_IN_ERRORS
    if more > 0:
        named += f" and {more:,} more"
    way_out = "Remove them"
    if len(empty) < total:
        way_out += ", use open_image_folder(..., allow_empty=True) or --allow-empty"
    return (
        f"{title}: no image file in {len(empty):,} of {total:,} class folders: {named}. "
        f"{way_out}, or check the file extensions; known are {', '.join(IMAGE_EXTENSIONS)}."
    )


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
