"""The files of COCO: which json to read, where in it each annotation lies, where the images are.

Some 40 bytes per annotation stay in memory; the rest is read from the file when its image comes.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Ints
from penstock.packing.datasets.files import MappedInput, names_in, safe_name
from penstock.packing.datasets.json_stream import JsonStream, element
from penstock.packing.datasets.layout_source import Asked
from penstock.printable import printable

LARGEST_CLASS_ID = 100_000
# Of several files about the same images, the one to read: with boxes and masks before the rest.
TASKS = ("instances", "person_keypoints", "panoptic", "stuff", "captions", "labels", "image_info")


@dataclass(frozen=True, slots=True, eq=False)
class CocoIndex:
    """One COCO file: its categories, and where its images and annotations are."""

    title: str
    data: bytes | MappedInput
    categories: list[dict[str, Any]]
    image_ids: Ints  # in the file's order
    image_spans: Ints  # (images, 2): first byte and end
    annotation_images: Ints  # the image of each annotation, ascending
    annotation_spans: Ints  # in that order
    fields: frozenset[str]  # the keys annotations have
    keypoints: int | None  # points per annotation, if any has some
    label_of: dict[int, int]  # category id to label

    def image(self, position: int) -> dict[str, Any]:
        """Return one image's entry."""
        return self._object(self.image_spans[position])

    def annotations(self, image_id: int) -> list[dict[str, Any]]:
        """Return an image's annotations, in the file's order."""
        first, end = np.searchsorted(self.annotation_images, [image_id, image_id + 1])
        return [self._object(span) for span in self.annotation_spans[first:end]]

    @property
    def names(self) -> tuple[str, ...]:
        """The categories' names; label i is the i-th."""
        return tuple(category["name"] for category in self.categories)

    @property
    def class_ids(self) -> tuple[int, ...]:
        """The numbers that detection models get: the categories' ids, moved up to begin with 1.

        Where ids are too large to count classes up to them, the categories are counted instead.
        """
        ids = tuple(self.label_of)
        first = min(ids, default=1)
        if max(ids, default=1) - first > LARGEST_CLASS_ID:
            return tuple(range(1, len(ids) + 1))
        return tuple(number + max(0, 1 - first) for number in ids)

    def label(self, entry: dict[str, Any], where: str) -> int:
        """Return the label of an annotation: its category's place in the order of ids."""
        category = entry.get("category_id")
        label = self.label_of.get(category) if type(category) is int else None
        if label is None:
            raise SourceError(f"{where}: category {category!r} is not among the file's categories.")
        return label

    def _object(self, span: Ints) -> dict[str, Any]:
        found: dict[str, Any] = element(self.data, int(span[0]), int(span[1]), self.title)
        return found


def read_coco_index(path: str) -> CocoIndex:
    """Walk a COCO file once."""
    title = printable(path)
    stream = JsonStream(MappedInput(path), title)
    categories: list[dict[str, Any]] = []
    images, annotations = _Entries(title, "id", "image"), _Entries(title, "image_id", "annotation")
    seen = set()
    if stream.peek() != b"{":
        raise SourceError(f"{title}: not a COCO file; it must be a JSON object with images.")
    for key in stream.members():
        seen.add(key)
        if key == "images":
            images.collect(stream)
        elif key == "annotations":
            annotations.collect(stream)
        else:
            stream.value()
            if key == "categories":
                start, end = stream.value_span
                categories = _categories(element(stream.data, start, end, title), title)
    if "images" not in seen:
        raise SourceError(f"{title}: not a COCO file; it has no images but {sorted(seen)}.")
    image_ids = np.array(images.ids, np.int64)
    _refuse_twice(image_ids, title)
    owners = np.array(annotations.ids, np.int64)
    order = np.argsort(owners, kind="stable")
    return CocoIndex(
        title=title,
        data=stream.data,
        categories=categories,
        image_ids=image_ids,
        image_spans=np.array(images.spans, np.int64).reshape(-1, 2),
        annotation_images=owners[order],
        annotation_spans=np.array(annotations.spans, np.int64).reshape(-1, 2)[order],
        fields=frozenset(annotations.fields),
        keypoints=annotations.keypoints,
        label_of={category["id"]: label for label, category in enumerate(categories)},
    )


class _Entries:
    """Collects where the entries of one array lie and which image they are about."""

    def __init__(self, title: str, id_key: str, noun: str) -> None:
        self.title, self.id_key, self.noun = title, id_key, noun
        self.ids = array("q")
        self.spans = array("q")
        self.fields: set[str] = set()
        self.keypoints: int | None = None

    def collect(self, stream: JsonStream) -> None:
        for number, (start, end, entry) in enumerate(stream.elements()):
            where = f"{self.title}, {self.noun} {number:,} (byte {start:,})"
            if not isinstance(entry, dict):
                raise SourceError(f"{where}: a JSON object is needed, got {str(entry)[:40]!r}.")
            identity = entry.get(self.id_key)
            if type(identity) is not int or not -(2**63) <= identity < 2**63 - 1:
                raise SourceError(
                    f"{where}: {self.id_key!r} must be an integer, got {str(identity)[:40]!r}."
                )
            self.ids.append(identity)
            self.spans.extend((start, end))
            self.fields.update(key for key, value in entry.items() if value not in ([], None))
            self._note_keypoints(entry, where)

    def _note_keypoints(self, entry: dict[str, Any], where: str) -> None:
        points = entry.get("keypoints")
        if not points:
            return
        if not isinstance(points, list) or len(points) % 3:
            raise SourceError(f"{where}: keypoints must be a list of x, y, visibility, ...")
        if self.keypoints is None:
            self.keypoints = len(points) // 3
        if len(points) != 3 * self.keypoints:
            raise SourceError(
                f"{where}: {len(points) // 3} keypoints, but {self.keypoints} in those before. "
                "Objects with different keypoints need a file each."
            )


def _categories(given: Any, title: str) -> list[dict[str, Any]]:
    if not isinstance(given, list):
        raise SourceError(f"{title}: categories must be a list.")
    known: dict[int, dict[str, Any]] = {}
    for number, category in enumerate(given):
        identity = category.get("id") if isinstance(category, dict) else None
        if (
            type(identity) is not int
            or not -(2**63) <= identity < 2**63
            or not isinstance(category.get("name"), str)
        ):
            raise SourceError(f"{title}, category {number}: it needs an integer id and a name.")
        if identity in known:
            raise SourceError(f"{title}, category {number}: the id {identity} is there twice.")
        known[identity] = category
    return [known[identity] for identity in sorted(known)]


def _refuse_twice(image_ids: Ints, title: str) -> None:
    ordered = np.sort(image_ids)
    twice = ordered[1:][np.diff(ordered) == 0]
    if len(twice):
        raise SourceError(f"{title}: the image id {twice[0]} is there twice. Ids must differ.")


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


def choose_coco_file(folder: str, asked: Asked) -> str:
    """Return the json file of the split asked for."""
    files = coco_files(folder)
    if not files:
        raise SourceError(f"{printable(folder)}: no COCO file in it. Give the json file itself.")
    return files[asked.choose_split(folder, sorted(files))]


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
