"""Lists of images and class numbers, as Caffe and others wrote them for ImageNet.

`train.txt` has a path and a number a line; `synsets.txt` the names, in the order of numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import SourceError
from penstock.packing.datasets.files import is_image_name, names_in, read_text
from penstock.packing.datasets.layout_source import LayoutSource
from penstock.packing.datasets.names import safe_name
from penstock.packing.datasets.splits import choose_split
from penstock.packing.items import LABEL, PackItem
from penstock.printable import printable

NAMES = "synsets.txt"


def listed_splits(folder: str) -> list[str]:
    """Return the lists in a folder that has class names too."""
    names = names_in(folder)
    if NAMES not in names:
        return []
    return [name.removesuffix(".txt") for name in names if name.endswith(".txt") and name != NAMES]


def open_imagenet_txt(folder: str, split: str | None = None) -> LayoutSource:
    """Open a folder with `synsets.txt`, lists of splits, and images in it or in `images`."""
    chosen = choose_split(folder, listed_splits(folder), split)
    path = os.path.join(folder, f"{chosen}.txt")
    classes = tuple(read_text(os.path.join(folder, NAMES), "text_bytes").split("\n"))
    classes = tuple(name.strip() for name in classes if name.strip())
    lines = read_text(path, "text_bytes").splitlines()
    entries = [
        _entry(line, len(classes), f"{printable(path)}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not entries:
        raise SourceError(f"{printable(path)}: no image is listed in it. Is this the right file?")
    images = os.path.join(folder, "images")
    root = images if os.path.isdir(images) else folder

    def items(start: int) -> Iterator[PackItem]:
        for position in range(start, len(entries)):
            name, label = entries[position]
            yield PackItem(name, Path(root, name), {"label": label})

    return LayoutSource(
        kind="imagenet_txt",
        title=f"{printable(folder)}, {chosen}",
        columns=(LABEL,),
        read=items,
        length=len(entries),
        classes=classes,
    )


def _entry(line: str, classes: int, where: str) -> tuple[str, int]:
    name, _, label = line.strip().rpartition(" ")
    is_number = re.fullmatch(r"[0-9]{1,18}", label)
    if not is_image_name(name) or not is_number or int(label) >= classes:
        raise SourceError(
            f"{where}: a file and a class below {classes:,} are needed, got {line[:60]!r}."
        )
    return safe_name(name.strip(), where), int(label)
