"""ImageNet's own archives: training images in a tar of tars, validation images in a flat tar.

The labels of the validation images are not in their archive. A text file beside it with a synset
a line, in the order of the images' numbers, brings them; without it the images have no label.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from penstock.errors import SourceError
from penstock.packing.datasets.files import read_text
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.tar_members import tar_members
from penstock.packing.items import LABEL, PackItem
from penstock.printable import printable

SYNSET_TAR = re.compile(r"(?:.*/)?([^/]+)\.tar")
VALIDATION_IMAGE = re.compile(r"(?:.*/)?ILSVRC2012_val_0*(\d{1,9})\.JPEG", re.IGNORECASE)
VALIDATION_LABELS = (
    "imagenet_2012_validation_synset_labels.txt",
    "ILSVRC2012_validation_synset_labels.txt",
)


def open_imagenet_tar(path: str) -> LayoutSource:
    """Open `ILSVRC2012_img_train.tar` or `ILSVRC2012_img_val.tar`; label i is the i-th synset."""
    names = [member.name for member in tar_members(path)]
    synsets = [match.group(1) for name in names if (match := SYNSET_TAR.fullmatch(name))]
    if not names or (synsets and len(synsets) != len(names)):
        raise SourceError(
            f"{printable(path)}: {len(synsets):,} of {len(names):,} files in it are tar archives. "
            "ImageNet's training archive has only those, its validation archive none."
        )
    if synsets:
        return _training(path, tuple(sorted(set(synsets))))
    return _validation(path, names)


def _training(path: str, synsets: tuple[str, ...]) -> LayoutSource:
    findings = Findings()
    label_of = {synset: label for label, synset in enumerate(synsets)}

    def items(start: int) -> Iterator[PackItem]:
        position = 0
        for outer in tar_members(path, findings):
            match = SYNSET_TAR.fullmatch(outer.name)
            synset = match.group(1) if match else ""
            for member in tar_members(f"{path}, {outer.name}", findings, outer.open()):
                if position >= start:
                    name = f"{synset}/{member.name}"
                    yield PackItem(name, member.read(), {"label": label_of[synset]})
                position += 1

    length = sum(
        1
        for outer in tar_members(path)
        for _ in tar_members(f"{path}, {outer.name}", None, outer.open())
    )
    return LayoutSource(
        "imagenet", printable(path), (LABEL,), items, length, classes=synsets, findings=findings
    )


def _validation(path: str, names: list[str]) -> LayoutSource:
    findings = Findings()
    synset_of = _validation_synsets(path)
    classes = tuple(sorted(set(synset_of))) if synset_of else None
    label_of = {synset: label for label, synset in enumerate(classes or ())}

    def items(start: int) -> Iterator[PackItem]:
        for position, member in enumerate(tar_members(path, findings)):
            if position < start:
                continue
            columns = {}
            if synset_of is not None:
                match = VALIDATION_IMAGE.fullmatch(member.name)
                number = int(match.group(1)) if match else 0
                if not 1 <= number <= len(synset_of):
                    raise SourceError(
                        f"{member.where}: no line for it among the {len(synset_of):,} labels."
                    )
                columns["label"] = label_of[synset_of[number - 1]]
            yield PackItem(member.name, member.read(), columns)

    return LayoutSource(
        kind="imagenet",
        title=printable(path),
        columns=(LABEL,) if classes else (),
        read=items,
        length=len(names),
        classes=classes,
        details="" if classes else f"no labels, for lack of {VALIDATION_LABELS[0]} beside it",
        findings=findings,
    )


def _validation_synsets(path: str) -> list[str] | None:
    for name in VALIDATION_LABELS:
        beside = os.path.join(os.path.dirname(path), name)
        if os.path.exists(beside):
            return read_text(beside, "text_bytes").split()
    return None
