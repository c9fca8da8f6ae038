"""Images and masks in two folders, matched by their names: `images/a/1.jpg`, `masks/a/1.png`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penstock.errors import SourceError
from penstock.printable import printable
from penstock.sources.file_list import open_file_list
from penstock.sources.file_source import FileSource
from penstock.sources.image_folder import existing_folder
from penstock.sources.path_table import PathTable
from penstock.sources.scan import IMAGE_EXTENSIONS

MASK_EXTENSIONS = (*IMAGE_EXTENSIONS, ".gif")
_MOST_NAMED = 20

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, eq=False)
class MaskPairs(FileSource):
    """Image files, each with a mask file."""

    mask_root: str
    masks: PathTable  # relative to `mask_root`, or absolute

    def mask_path(self, index: int) -> str:
        """Return the absolute path of a sample's mask."""
        return os.path.join(self.mask_root, self.masks[index])

    def describe(self) -> str:
        """Return one line: what, and how many images."""
        count = len(self)
        return f"{self.title}: {count:,} image{'' if count == 1 else 's'} with masks"


def open_mask_pairs(
    images: PathLike | Iterable[PathLike],
    masks: PathLike | Iterable[PathLike],
    *,
    below: str = "",
) -> MaskPairs:
    """Open two folders, or two lists of files in the same order.

    Files in folders belong together if their paths below the folders agree but for the extension.

    Args:
        images: The folder of the images, or a list of files.
        masks: The folder of the masks, or a list of as many files.
        below: Only what lies below a folder of this name in both.

    Raises SourceError that names every file without a partner.
    """
    given_folder, mask_folder = (isinstance(each, (str, os.PathLike)) for each in (images, masks))
    if given_folder != mask_folder:
        raise SourceError(
            "masks: one of images and masks is a folder, the other a list of files. Give two "
            "folders, or two lists in the same order."
        )
    if not given_folder:
        return _from_lists(images, masks)  # type: ignore[arg-type]
    image_root = os.path.join(existing_folder(images), below)  # type: ignore[arg-type]
    mask_root = os.path.join(existing_folder(masks), below)  # type: ignore[arg-type]
    title = printable(os.path.join(os.fspath(images), below))  # type: ignore[arg-type]
    found_images = _files_below(image_root, IMAGE_EXTENSIONS)
    found_masks = _files_below(mask_root, MASK_EXTENSIONS)
    image_of, mask_of = _by_stem(found_images, image_root), _by_stem(found_masks, mask_root)
    alone = [image_of[stem] for stem in image_of if stem not in mask_of]
    unused = [mask_of[stem] for stem in mask_of if stem not in image_of]
    if alone or unused or not image_of:
        raise SourceError(_unmatched(title, printable(mask_root), alone, unused, len(image_of)))
    files = list(image_of.values())
    return MaskPairs(
        title=title,
        root=image_root,
        files=PathTable.from_paths(os.fsencode(file) for file in files),
        labels=np.zeros(len(files), np.int64),
        classes=None,
        mask_root=mask_root,
        masks=PathTable.from_paths(os.fsencode(mask_of[stem]) for stem in image_of),
    )


def _from_lists(images: Iterable[PathLike], masks: Iterable[PathLike]) -> MaskPairs:
    opened, paths = open_file_list(images), open_file_list(masks)
    if len(opened) != len(paths):
        raise SourceError(
            f"masks: {len(paths):,} files for {len(opened):,} images. Give one for each image, in "
            "the same order."
        )
    return MaskPairs(
        title=opened.title,
        root=opened.root,
        files=opened.files,
        labels=opened.labels,
        classes=None,
        mask_root=paths.root,
        masks=paths.files,
    )


def _files_below(folder: str, extensions: tuple[str, ...]) -> list[str]:
    found: list[str] = []

    def refuse(error: OSError) -> None:
        raise SourceError(
            f"{printable(error.filename)}: this folder cannot be read ({error.strerror})."
        ) from error

    for directory, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        prefix = os.path.relpath(directory, folder)
        found += [
            name if prefix == "." else os.path.join(prefix, name)
            for name in names
            if name.lower().endswith(extensions) and not name.startswith(".")
        ]
    return sorted(found)


def _by_stem(files: list[str], root: str) -> dict[str, str]:
    by_stem: dict[str, str] = {}
    for file in files:
        stem = os.path.splitext(file)[0]
        if stem in by_stem:
            raise SourceError(
                f"{printable(root)}: {printable(by_stem[stem])} and {printable(file)} differ in "
                "their extensions only, so it is not clear which one is meant. Remove one."
            )
        by_stem[stem] = file
    return by_stem


def _unmatched(title: str, masks: str, alone: list[str], unused: list[str], images: int) -> str:
    if not images:
        return f"{title}: no image file in it. Give the folder of the images."
    parts = [
        f"{len(files):,} {what}: {_listed(files)}"
        for files, what in ((alone, "images have no mask"), (unused, "masks have no image"))
        if files
    ]
    return (
        f"{title} and {masks}: {'; '.join(parts)}. Names must agree but for the extension "
        "(a/1.jpg, a/1.png); rename or remove these files, or give two lists of files."
    )


def _listed(files: list[str]) -> str:
    named = ", ".join(printable(Path(file).as_posix()) for file in files[:_MOST_NAMED])
    more = len(files) - _MOST_NAMED
    return named + (f" and {more:,} more" if more > 0 else "")
