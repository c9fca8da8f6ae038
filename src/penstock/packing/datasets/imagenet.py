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
from collections.abc import Callable, Iterator
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
        classes = tuple(sorted(set(synsets)))
        label_of = {synset: label for label, synset in enumerate(classes)}
        return _source(path, lambda synset, _: label_of[synset], classes, nested=True)
    return _validation(path)


IMAGENET = Layout(
    "imagenet",
    lambda path: next(filter(is_imagenet_tar, tars_at(path)), None),
    open_imagenet_tar,
    splits=False,
)


def _validation(path: str) -> LayoutSource:
    synset_of = _validation_synsets(path)
    if not synset_of:
        return _source(path, None, None)
    classes = tuple(sorted(set(synset_of)))
    label_of = {synset: label for label, synset in enumerate(classes)}

    def label(_: str, member: TarMember) -> int:
        match = VALIDATION_IMAGE.fullmatch(member.name)
        number = int(match.group(1)) if match else 0
        if not 1 <= number <= len(synset_of):
            raise SourceError(
                f"{member.where}: no line for it among the {len(synset_of):,} labels."
            )
        return label_of[synset_of[number - 1]]

    return _source(path, label, classes)


def _source(
    path: str,
    label: Callable[[str, TarMember], int] | None,
    classes: tuple[str, ...] | None,
    *,
    nested: bool = False,
) -> LayoutSource:
    """Return the images of an archive, or `nested` of the archives in it, one per synset."""
    findings = Findings()
    places = array("q")  # where the archive in the archive begins, and where the image in that
    for _, outer, member in _members(path, nested=nested):
        places.extend((outer, member.start))

    def stream(start: int) -> Iterator[PackItem]:
        if start >= len(places) // 2:
            return
        begin = places[2 * start : 2 * start + 2] if start else (0, 0)
        for synset, _, member in _members(path, *begin, findings=findings, nested=nested):
            name = f"{synset}/{member.name}" if nested else member.name
            values = {} if label is None else {"label": label(synset, member)}
            yield PackItem(name, member.read(), values)

    return LayoutSource(
        kind="imagenet",
        title=printable(path),
        columns=() if label is None else (LABEL,),
        read=lambda index: next(stream(index)),
        length=len(places) // 2,
        classes=classes,
        details=f"no labels, for lack of {VALIDATION_LABELS[0]} beside it" if label is None else "",
        findings=findings,
        files=(path,),
        stream=stream,
        sequential=why_sequential([path]),
    )


def _members(
    path: str, outer: int = 0, inner: int = 0, *, findings: Findings | None = None, nested: bool
) -> Iterator[tuple[str, int, TarMember]]:
    """Yield the synset, where its archive begins, and each image, from these two bytes on."""
    for archive in tar_members(path, findings, start=outer if nested else inner):
        if not nested:
            yield "", 0, archive
            continue
        match = SYNSET_TAR.fullmatch(archive.name)
        title = f"{path}, {archive.name}"
        for member in tar_members(title, findings, archive.open(), start=inner):
            yield match.group(1) if match else "", archive.start, member
        inner = 0


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
