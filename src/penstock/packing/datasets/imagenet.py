"""ImageNet's own archives, and the lists of images that Caffe and others wrote for it.

Training images are in a tar of tars, one per class; validation images in a flat tar without labels.
A text file beside that with one synset per line, in the order of the images' numbers, brings them;
without it the images have no label.

In lists, `train.txt` has a path and a class number per line, `synsets.txt` the names of classes in
the order of their numbers.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import SourceError
from penstock.packing.datasets.files import (
    has_folder,
    is_image_name,
    names_in,
    only_file,
    read_lines,
    read_text,
    safe_name,
)
from penstock.packing.datasets.layout_source import Asked, Findings, Layout, LayoutSource
from penstock.packing.datasets.tar import TAR, TarMember, tar_members, tars_at, why_sequential
from penstock.packing.items import LABEL, PackItem
from penstock.printable import printable

SYNSET_TAR = re.compile(r"(?:.*/)?([^/]+)\.tar")
VALIDATION_IMAGE = re.compile(r"(?:.*/)?ILSVRC2012_val_0*(\d{1,9})\.JPEG", re.IGNORECASE)
VALIDATION_LABELS = (
    "imagenet_2012_validation_synset_labels.txt",
    "ILSVRC2012_validation_synset_labels.txt",
)
NAMES = "synsets.txt"


def is_imagenet_tar(path: str) -> bool:
    """Whether the first file in an archive is one of ImageNet's: an archive, or a known name."""
    for member in tar_members(path):
        name = os.path.basename(member.name)
        return name.endswith(".tar") or name.startswith("ILSVRC2012_val_")
    return False


def open_imagenet_tar(path: str, _: Asked) -> LayoutSource:
    """Open `ILSVRC2012_img_train.tar` or `ILSVRC2012_img_val.tar`; label i is the i-th synset."""
    path = only_file(path, TAR)
    names = [member.name for member in tar_members(path)]
    synsets = [match.group(1) for name in names if (match := SYNSET_TAR.fullmatch(name))]
    if not names or (synsets and len(synsets) != len(names)):
        raise SourceError(
            f"{printable(path)}: {len(synsets):,} of {len(names):,} files in it are tar archives. "
            "ImageNet's training archive has only those, its validation archive none."
        )
    if synsets:
        return _training(path, tuple(sorted(set(synsets))))
    return _validation(path)


IMAGENET = Layout(
    "imagenet",
    lambda path: next(filter(is_imagenet_tar, tars_at(path)), None),
    open_imagenet_tar,
    splits=False,
)


def _training(path: str, synsets: tuple[str, ...]) -> LayoutSource:
    findings = Findings()
    label_of = {synset: label for label, synset in enumerate(synsets)}

    def inside(outer: TarMember, start: int = 0) -> Iterator[TarMember]:
        title = f"{path}, {outer.name}"
        return tar_members(title, findings, outer.open(), start=start)

    def item(outer: TarMember, member: TarMember) -> PackItem:
        match = SYNSET_TAR.fullmatch(outer.name)
        synset = match.group(1) if match else ""
        return PackItem(f"{synset}/{member.name}", member.read(), {"label": label_of[synset]})

    def stream(start: int) -> Iterator[PackItem]:
        position = 0
        for outer in tar_members(path, findings):
            for member in inside(outer):
                if position >= start:
                    yield item(outer, member)
                position += 1

    places = array("q")  # where the inner archive of each image begins, and the image in that
    for outer in tar_members(path):
        for member in inside(outer):
            places.extend((outer.start, member.start))

    def read(index: int) -> PackItem:
        outers = tar_members(path, start=places[2 * index])  # open as long as it is here
        outer = next(outers)
        members = inside(outer, places[2 * index + 1])
        return item(outer, next(members))

    return LayoutSource(
        kind="imagenet",
        title=printable(path),
        columns=(LABEL,),
        read=read,
        length=len(places) // 2,
        classes=synsets,
        findings=findings,
        stream=stream,
        files=(path,),
        sequential=why_sequential([path]),
    )


def _validation(path: str) -> LayoutSource:
    findings = Findings()
    synset_of = _validation_synsets(path)
    classes = tuple(sorted(set(synset_of))) if synset_of else None
    label_of = {synset: label for label, synset in enumerate(classes or ())}

    def item(member: TarMember) -> PackItem:
        values = {}
        if synset_of is not None:
            match = VALIDATION_IMAGE.fullmatch(member.name)
            number = int(match.group(1)) if match else 0
            if not 1 <= number <= len(synset_of):
                raise SourceError(
                    f"{member.where}: no line for it among the {len(synset_of):,} labels."
                )
            values["label"] = label_of[synset_of[number - 1]]
        return PackItem(member.name, member.read(), values)

    def stream(start: int) -> Iterator[PackItem]:
        for position, member in enumerate(tar_members(path, findings)):
            if position >= start:
                yield item(member)

    places = array("q", (member.start for member in tar_members(path)))

    def read(index: int) -> PackItem:
        members = tar_members(path, start=places[index])  # open as long as it is here
        return item(next(members))

    return LayoutSource(
        kind="imagenet",
        title=printable(path),
        columns=(LABEL,) if classes else (),
        read=read,
        length=len(places),
        classes=classes,
        details="" if classes else f"no labels, for lack of {VALIDATION_LABELS[0]} beside it",
        findings=findings,
        stream=stream,
        files=(path,),
        sequential=why_sequential([path]),
    )


def _validation_synsets(path: str) -> list[str] | None:
    for name in VALIDATION_LABELS:
        beside = os.path.join(os.path.dirname(path), name)
        if os.path.exists(beside):
            return read_text(beside, "text_bytes").split()
    return None


def listed_splits(folder: str) -> list[str]:
    """Return the lists in a folder that has class names too."""
    names = names_in(folder)
    if NAMES not in names:
        return []
    return [name.removesuffix(".txt") for name in names if name.endswith(".txt") and name != NAMES]


def open_imagenet_txt(folder: str, asked: Asked) -> LayoutSource:
    """Open a folder with `synsets.txt`, lists of splits, and images in it or in `images`."""
    chosen = asked.choose_split(folder, listed_splits(folder))
    path = os.path.join(folder, f"{chosen}.txt")
    classes = tuple(line for _, line in read_lines(os.path.join(folder, NAMES)))
    entries = [_entry(line, len(classes), where) for where, line in read_lines(path)]
    if not entries:
        raise SourceError(f"{printable(path)}: no image is listed in it. Is this the right file?")
    root = os.path.join(folder, "images") if has_folder(folder, "images") else folder

    def read(index: int) -> PackItem:
        name, label = entries[index]
        return PackItem(name, Path(root, name), {"label": label})

    return LayoutSource(
        kind="imagenet_txt",
        title=f"{printable(folder)}, {chosen}",
        columns=(LABEL,),
        read=read,
        length=len(entries),
        classes=classes,
    )


IMAGENET_TXT = Layout(
    "imagenet_txt",
    lambda path: NAMES if os.path.isdir(path) and listed_splits(path) else None,
    open_imagenet_txt,
)


def _entry(line: str, classes: int, where: str) -> tuple[str, int]:
    name, _, label = line.rpartition(" ")
    is_number = re.fullmatch(r"[0-9]{1,18}", label)
    if not is_image_name(name) or not is_number or int(label) >= classes:
        raise SourceError(
            f"{where}: a file and a class below {classes:,} are needed, got {line[:60]!r}."
        )
    return safe_name(name.strip(), where), int(label)
