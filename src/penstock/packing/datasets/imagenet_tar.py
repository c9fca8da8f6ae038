"""ImageNet's own archives: training images in a tar of tars, validation images in a flat tar.

The labels of the validation images are not in their archive. A text file beside it with a synset
a line, in the order of the images' numbers, brings them; without it the images have no label.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

from penstock.errors import SourceError
from penstock.packing.datasets.files import read_text
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.places import Places
from penstock.packing.datasets.tar_members import COMPRESSED, PAX, is_compressed, tar_members
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
    starts: list[int] = []
    synsets: list[str] = []
    sequential = COMPRESSED if is_compressed(path) else ""
    for member in tar_members(path):
        starts.append(member.start)
        match = SYNSET_TAR.fullmatch(member.name)
        synsets += [match.group(1)] if match else []
        if not member.can_be_reached:
            sequential = PAX
    if not starts or (synsets and len(synsets) != len(starts)):
        raise SourceError(
            f"{printable(path)}: {len(synsets):,} of {len(starts):,} files in it are tar archives. "
            "ImageNet's training archive has only those, its validation archive none."
        )
    if synsets:
        return _training(path, synsets, starts, sequential)
    return _validation(path, starts, sequential)


def _training(
    path: str, synset_of: list[str], outer_starts: list[int], sequential: str
) -> LayoutSource:
    """The images of synset i of `synset_of` are in the archive's i-th archive."""
    findings = Findings()
    synsets = tuple(sorted(set(synset_of)))
    label_of = {synset: label for label, synset in enumerate(synsets)}
    places = Places()
    for number, outer in enumerate(tar_members(path)):
        for member in tar_members(f"{path}, {outer.name}", None, outer.open()):
            places.add(number, member.start)

    def items(start: int) -> Iterator[PackItem]:
        runs = list(places.runs(start))
        if not runs:
            return
        # The first archive from the image on, the others whole.
        number, _, begin = runs[0]
        outers = tar_members(path, findings, start=0 if sequential else outer_starts[number])
        for outer in islice(outers, number if sequential else 0, None):
            synset = synset_of[number]
            title = f"{path}, {outer.name}"
            for member in tar_members(title, findings, outer.open(), begin):
                columns = {"label": label_of[synset]}
                yield PackItem(f"{synset}/{member.name}", member.read(), columns)
            number, begin = number + 1, 0

    return LayoutSource(
        kind="imagenet",
        title=printable(path),
        columns=(LABEL,),
        read=items,
        length=len(places),
        classes=synsets,
        findings=findings,
        files=(path,),
        sequential=sequential,
    )


def _validation(path: str, starts: list[int], sequential: str) -> LayoutSource:
    findings = Findings()
    synset_of = _validation_synsets(path)
    classes = tuple(sorted(set(synset_of))) if synset_of else None
    label_of = {synset: label for label, synset in enumerate(classes or ())}

    def items(start: int) -> Iterator[PackItem]:
        if start >= len(starts):
            return
        skips = bool(sequential) or not start
        members = tar_members(path, findings, start=0 if skips else starts[start])
        for member in islice(members, start if skips else 0, None):
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
        length=len(starts),
        classes=classes,
        details="" if classes else f"no labels, for lack of {VALIDATION_LABELS[0]} beside it",
        findings=findings,
        files=(path,),
        sequential=sequential,
    )


def _validation_synsets(path: str) -> list[str] | None:
    for name in VALIDATION_LABELS:
        beside = os.path.join(os.path.dirname(path), name)
        if os.path.exists(beside):
            return read_text(beside, "text_bytes").split()
    return None
