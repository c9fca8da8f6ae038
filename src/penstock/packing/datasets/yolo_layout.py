"""The forms a YOLO folder takes: where its images, label files and class names are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.errors import SourceError
from penstock.packing.datasets.files import images_below, names_in, read_text
from penstock.packing.datasets.optional import require
from penstock.sources.file_source import printable

LARGEST_TEXT_BYTES = 1 << 26
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
            lines = read_text(path, LARGEST_TEXT_BYTES).splitlines()
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
        lines = [line.strip() for line in read_text(path, LARGEST_TEXT_BYTES).splitlines()]
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
    try:
        config = yaml.safe_load(read_text(path, LARGEST_TEXT_BYTES))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SourceError(f"{where}: not valid yaml ({error}).") from error
    return config if isinstance(config, dict) else {}


def _names(given: Any, where: str) -> tuple[str, ...]:
    if isinstance(given, list):
        given = dict(enumerate(given))
    if (
        not isinstance(given, dict)
        or not all(type(key) is int and 0 <= key < LARGEST_NUMBER_OF_CLASSES for key in given)
        or not given
    ):
        raise SourceError(f"{where}: names must be a list, or numbers with names.")
    return tuple(str(given.get(label, f"class {label}")) for label in range(max(given) + 1))


def _keypoints(config: dict[str, Any], where: str) -> tuple[int, int] | None:
    shape = config.get("kpt_shape")
    if shape is None:
        return None
    if not re.fullmatch(r"\[\d{1,4}, [23]\]", str(shape)):
        raise SourceError(f"{where}: kpt_shape must be [points, 2 or 3], got {shape}.")
    return int(shape[0]), int(shape[1])
