"""Where the images of a COCO file are, and which of a folder's COCO files to read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import SourceError
from penstock.packing.datasets.coco_index import CocoIndex
from penstock.packing.datasets.files import names_in
from penstock.packing.datasets.names import safe_name
from penstock.packing.datasets.splits import choose_split
from penstock.printable import printable

# Of several files about the same images, the one to read: with boxes and masks before the rest.
TASKS = ("instances", "person_keypoints", "panoptic", "stuff", "captions", "labels", "image_info")


@dataclass(frozen=True, slots=True)
class CocoImages:
    """The folder that the file names of a COCO file start from."""

    title: str
    root: str

    @classmethod
    def beside(cls, path: str, index: CocoIndex, images: str | None) -> CocoImages:
        """Look for the first image in the places where COCO's images are kept."""
        name = safe_name(_file_name(index.image(0), index.title), index.title)
        folder = os.path.dirname(os.path.abspath(path))
        split = task_and_split(os.path.basename(path))[1]
        roots = [images] if images is not None else _likely_roots(folder, split)
        for root in roots:
            if os.path.exists(os.path.join(root, name)):
                return cls(index.title, root)
        looked = ", ".join(printable(root) for root in roots)
        raise SourceError(
            f"{index.title}: no image {name} in {looked}. "
            "Name the folder of the images (images= or --images)."
        )

    def find(self, image: dict[str, Any]) -> tuple[str, Path]:
        """Return an image's name and file."""
        name = safe_name(_file_name(image, self.title), f"{self.title}, image {image.get('id')}")
        return name, Path(self.root, name)


def coco_files(folder: str) -> dict[str, str]:
    """Return the json file to read for each split in a COCO folder, or nothing."""
    places = [folder, os.path.join(folder, "annotations")]
    files: dict[str, tuple[int, str]] = {}
    for place in filter(os.path.isdir, places):
        for name in names_in(place):
            task, split = task_and_split(name)
            if task is not None and split is not None:
                found = (TASKS.index(task), os.path.join(place, name))
                files[split] = min(found, files.get(split, found))
    for name in names_in(folder):
        exported = os.path.join(folder, name, "_annotations.coco.json")
        if os.path.exists(exported):
            files[name] = (0, exported)
    own = [
        name for name in ("instances.json", "_annotations.coco.json") if name in names_in(folder)
    ]
    if own and not files:
        return {"": os.path.join(folder, own[0])}
    return {split: path for split, (_, path) in files.items()}


def choose_coco_file(folder: str, split: str | None) -> str:
    """Return the json file of the split asked for."""
    files = coco_files(folder)
    if not files:
        raise SourceError(f"{printable(folder)}: no COCO file in it. Give the json file itself.")
    return files[choose_split(folder, sorted(files), split)]


def task_and_split(name: str) -> tuple[str | None, str | None]:
    """Split `instances_train2017.json` into its two halves."""
    stem, extension = os.path.splitext(name)
    for task in TASKS:
        if extension == ".json" and stem.startswith(task + "_"):
            return task, stem[len(task) + 1 :]
    return None, None


def _likely_roots(folder: str, split: str | None) -> list[str]:
    below = ["", "images"]
    if split:
        below += [split, os.path.join("images", split)]
    bases = (folder, os.path.dirname(folder))
    return [os.path.normpath(os.path.join(base, place)) for base in bases for place in below]


def _file_name(image: dict[str, Any], title: str) -> str:
    name = image.get("file_name")
    if not isinstance(name, str):
        raise SourceError(f"{title}, image {image.get('id')}: it has no file_name.")
    return name
