"""The forms a YOLO folder takes: where its images, label files and class names are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow
from penstock.packing.datasets.files import images_below, names_in, read_text
from penstock.packing.datasets.optional import require
from penstock.printable import printable

LABEL_FOLDERS = ("labels", "labels_yolo", "Annotations", "annotations")
IMAGE_FOLDERS = ("images", "Images")
NAME_FILES = (
    "classes.txt",
    "obj.names",
    "names.txt",
    "labels/classes.txt",
    "predefined_classes.txt",
)
SPLITS = ("train", "val", "valid", "validation", "test")
LARGEST_NUMBER_OF_CLASSES = 100_000


@dataclass(frozen=True, slots=True)
class YoloPart:
    """One split: images below one folder, label files with the same names below another."""

    images: str
    labels: str
    listed: tuple[str, ...] | None = None  # paths below `images`; None takes all that are there

    def image_names(self) -> list[str]:
        """Return the images' paths below `images`."""
        return images_below(self.images) if self.listed is None else list(self.listed)


@dataclass(frozen=True, slots=True)
class YoloConfig:
    """What `data.yaml` and the like say."""

    names: tuple[str, ...] | None
    keypoints: tuple[int, int] | None = None  # points an object, and numbers a point: 2 or 3


def find_parts(folder: str) -> dict[str, YoloPart]:
    """Return the splits of a YOLO folder; "" is the split of a folder without splits."""
    parts = dict(_split_folders(folder)) or dict(_darknet_lists(folder))
    if not parts:
        pair = _pair(folder, folder, "")
        if pair is not None:
            parts = {"": pair}
    return parts


def read_config(folder: str, given: str | None = None) -> YoloConfig:
    """Return class names and keypoints, from a yaml file, the one above, or a list of names.

    Of several yaml files in a folder, the user must give one if their names differ.
    """
    if given is not None and given.endswith((".yaml", ".yml")):
        return _read_yaml(given) or YoloConfig(None)
    found = {
        name: config
        for name in names_in(folder)
        if name.endswith((".yaml", ".yml"))
        and (config := _read_yaml(os.path.join(folder, name))) is not None
    }
    if len(set(found.values())) > 1:
        raise SourceError(
            f"{printable(folder)}: {', '.join(found)} give different names of classes. "
            "Give one of these files instead of the folder."
        )
    for config in found.values():
        return config
    # Above a folder of one split may be anything; data.yaml is YOLO's.
    above = os.path.join(os.path.dirname(os.path.abspath(folder)), "data.yaml")
    config = _read_yaml(above) if os.path.exists(above) else None
    if config is not None:
        return config
    for name in NAME_FILES:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            lines = read_text(path, "text_bytes").splitlines()
            return YoloConfig(tuple(line.strip() for line in lines if line.strip()))
    return YoloConfig(None)


def count_label_files(folder: str) -> int:
    """Return how many label files there are below a folder; lists of classes do not count."""
    names = (name for _, _, found in os.walk(folder) for name in found)
    return sum(name.endswith(".txt") and name not in NAME_FILES for name in names)


def _split_folders(folder: str) -> Iterator[tuple[str, YoloPart]]:
    for split in SPLITS:
        inside = _pair(os.path.join(folder, split), os.path.join(folder, split), "")
        found = inside or _pair(folder, folder, split)
        if found is not None:
            yield split, found


def _pair(image_base: str, label_base: str, below: str) -> YoloPart | None:
    for images in IMAGE_FOLDERS:
        for labels in LABEL_FOLDERS:
            image_folder = os.path.join(image_base, images, below)
            label_folder = os.path.join(label_base, labels, below)
            if os.path.isdir(image_folder) and os.path.isdir(label_folder):
                return YoloPart(image_folder, label_folder)
    return None


def _darknet_lists(folder: str) -> Iterator[tuple[str, YoloPart]]:
    """Find `train.txt` and the like: lists of images with the label files beside them."""
    for split in SPLITS:
        path = os.path.join(folder, split + ".txt")
        if not os.path.exists(path) or "obj.data" not in names_in(folder):
            continue
        lines = [line.strip() for line in read_text(path, "text_bytes").splitlines()]
        listed = tuple(_below(folder, line, printable(path)) for line in lines if line)
        yield split, YoloPart(folder, folder, listed)


def _below(folder: str, line: str, where: str) -> str:
    """Return a listed path as one below the folder, whichever folder the list was written for."""
    parts = [part for part in line.replace("\\", "/").split("/") if part not in {"", ".", ".."}]
    for first in range(len(parts)):
        if os.path.exists(os.path.join(folder, *parts[first:])):
            return "/".join(parts[first:])
    raise SourceError(f"{where}: {line!r} is not below {printable(folder)}. Correct the list.")


def _read_yaml(path: str) -> YoloConfig | None:
    """Return what a yaml file says of classes; None if that is nothing."""
    config, where = _load_yaml(path), printable(path)
    if "names" not in config:
        return None
    return YoloConfig(_names(config["names"], where), _keypoints(config, where))


def _load_yaml(path: str) -> dict[str, Any]:
    where = printable(path)
    yaml = require("yaml", "PyYAML", where)
    text = read_text(path, "document_bytes")
    try:
        _check_yaml(yaml.parse(text), yaml, where)
        config = yaml.safe_load(text)
    except SourceError:
        raise
    # Its constructors raise nearly anything on odd tags: KeyError, AttributeError, IndexError ...
    except Exception as error:
        raise SourceError(f"{where}: not valid yaml ({error}).") from error
    return config if isinstance(config, dict) else {}


def _check_yaml(events: Iterator[Any], yaml: Any, where: str) -> None:
    """Raise for what would take endless memory or time: depth, number of values, merged copies."""
    nodes = depth = 0
    for event in events:
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        for name, count in (("nodes", nodes), ("depth", depth)):
            if beyond(name, count):
                raise SourceError(f"{where}: too many values, or nested. {how_to_allow(name)}.")
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<":
            raise SourceError(f"{where}: it merges keys (<<), which is not read. Write them out.")


def _names(given: Any, where: str) -> tuple[str, ...]:
    if isinstance(given, list):
        given = dict(enumerate(given))
    if (
        not isinstance(given, dict)
        or not all(type(key) is int and 0 <= key < LARGEST_NUMBER_OF_CLASSES for key in given)
        or not given
        # A list may hold itself, or a copy of a copy of a copy ...
        or not all(isinstance(name, (str, int, float)) or name is None for name in given.values())
    ):
        raise SourceError(f"{where}: names must be a list, or numbers with names.")
    try:
        return tuple(str(given.get(label, f"class {label}")) for label in range(max(given) + 1))
    except ValueError as error:  # an integer of more digits than Python writes
        raise SourceError(f"{where}: names of classes must be text ({error}).") from error


def _keypoints(config: dict[str, Any], where: str) -> tuple[int, int] | None:
    shape = config.get("kpt_shape")
    if shape is None:
        return None
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or not all(type(number) is int for number in shape)
        or not (0 <= shape[0] < 10_000 and shape[1] in {2, 3})
    ):
        raise SourceError(f"{where}: kpt_shape must be [points, 2 or 3]. Correct it.")
    return shape[0], shape[1]
