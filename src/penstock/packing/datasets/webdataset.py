"""WebDataset: tar archives in which the files of a sample share the name up to the first dot.

| member | becomes |
|---|---|
| .jpg .png .webp ... | the image |
| .cls | `label`: an integer, or the name of a class |
| .seg.png .seg_png .mask.png ... | `masks`: class numbers, if every sample has them |
| .json .txt and other text | a text column of that name |
| "label" in .json, without a .cls | `label`: the same, a number, or numbers of one length |
| anything else | a bytes column of that name |
"""

from __future__ import annotations

import math
import os
import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.annotations import image_size
from penstock.packing.datasets.files import check_limit, user_column_name
from penstock.packing.datasets.imagenet import is_imagenet_tar
from penstock.packing.datasets.json_stream import load_json, shown
from penstock.packing.datasets.layout_source import (
    ALL,
    Asked,
    Findings,
    LabelNames,
    Layout,
    LayoutSource,
)
from penstock.packing.datasets.segmentation import mask_column
from penstock.packing.datasets.tar import tar_members, tar_stem, tars_at, why_sequential
from penstock.packing.items import LABEL, MASKS, Column, PackItem
from penstock.printable import printable
from penstock.sources.image_folder import SPLIT_FOLDERS
from penstock.sources.scan import IMAGE_EXTENSIONS

Label = int | float | str | list[float]
LABEL_FIELD = "cls"
FOLDERS = (
    "set of archives has no labels (.cls) but folders, which are not taken for classes; "
    "unpack it to have them so"
)
TEXT_FIELDS = frozenset(["json", "txt", "text", "caption", "transcript", "url", "csv", "xml"])
_NUMBER = re.compile(r"([-_.]?\d+(-of-\d+)?)+$")
MASK_FIELDS = ("seg.png", "seg_png", "mask.png", "mask_png", "segmentation.png")
IMAGE_FIELDS = frozenset(extension[1:] for extension in IMAGE_EXTENSIONS) | {"gif", "pbm"}


@dataclass(slots=True)
class _Sample:
    key: str
    where: str
    start: int  # in its archive
    fields: dict[str, bytes | None] = field(default_factory=dict)  # None where not read


def open_webdataset(path: str, asked: Asked) -> LayoutSource:
    """Open one archive, or a folder of them in the order of their names.

    Where names tell training from test archives, the split chooses; "all" takes every one.
    """
    if asked.split is not None and os.path.isfile(path):
        raise SourceError(
            f"{printable(path)}: split={asked.split!r} (--split), but one archive has no splits. "
            "Leave it out."
        )
    shards = [path] if os.path.isfile(path) else _chosen_shards(path, asked)
    return open_tars(shards, printable(path))[0]


@dataclass(frozen=True, slots=True)
class TarFacts:
    """Which files the samples of some archives have."""

    shards: tuple[str, ...]
    ends: tuple[int, ...]  # the number of samples up to the end of each archive
    images: Mapping[str, int]  # in how many samples the image has this extension
    fields: Mapping[str, int]  # in how many samples there is another file with this extension
    columns: Mapping[str, Column]  # the columns that those files become, but for the label's

    def shard_of(self, index: int) -> str:
        """Return the archive that a sample is in."""
        return self.shards[bisect_right(self.ends, index)]


def open_tars(shards: Sequence[str], title: str) -> tuple[LayoutSource, TarFacts]:
    """Open archives, in this order; `title` is what errors call them."""
    shards = list(shards)
    survey, starts, ends = _Survey(), array("q"), []
    for shard in shards:
        # Labels are small and decide on the classes; the rest need not be read yet.
        for sample in _samples(shard, wanted=frozenset([LABEL_FIELD, "json"])):
            survey.add(sample)
            starts.append(sample.start)
        ends.append(len(starts))
    if not survey.count:
        raise SourceError(f"{title}: no sample in it.")
    survey.labels.finish()
    findings = Findings()
    columns = survey.columns()
    label = survey.label_column()
    labels = survey.labels if label == LABEL else None
    reader = _Reader(shards, starts, ends, columns, label, labels, findings)
    in_folders = label is None and len(survey.folders) > 1
    facts = TarFacts(tuple(shards), tuple(ends), survey.images, survey.fields, columns)
    layout = LayoutSource(
        kind="webdataset",
        title=title,
        columns=(*((label,) if label else ()), *columns.values()),
        read=lambda index: next(reader.stream(index)),
        length=survey.count,
        classes=labels.names if labels else None,
        details=f"{len(shards):,} shard{'' if len(shards) == 1 else 's'}",
        findings=findings,
        known=((FOLDERS, shards[0], int(in_folders)),),
        stream=reader.stream,
        files=tuple(shards),
        sequential=why_sequential(shards),
    )
    return layout, facts


WEBDATASET = Layout(
    "webdataset",
    lambda path: next((tar for tar in tars_at(path) if not is_imagenet_tar(tar)), None),
    open_webdataset,
)


def _chosen_shards(folder: str, asked: Asked) -> list[str]:
    shards = tars_at(folder)
    sets: dict[str, list[str]] = {}
    for shard in shards:
        sets.setdefault(_NUMBER.sub("", tar_stem(shard)), []).append(shard)
    is_one = len(sets) == 1 or (asked.split is None and not any(map(_names_a_split, sets)))
    return shards if is_one or asked.all_splits else sets[asked.choose_split(folder, [*sets, ALL])]


def _names_a_split(name: str) -> bool:
    return not SPLIT_FOLDERS.isdisjoint(re.split(r"[-_.]", name.lower()))


def _samples(
    shard: str,
    findings: Findings | None = None,
    wanted: frozenset[str] | None = None,
    start: int = 0,
) -> Iterator[_Sample]:
    """Group neighbours by key; read the fields `wanted`, or all.

    `start` is where the first of these samples begins in the archive.
    """
    current: _Sample | None = None
    held = 0
    for member in tar_members(shard, findings, start=start):
        folder, name = os.path.split(member.name)
        stem, _, extension = name.partition(".")
        if not stem or not extension:
            continue  # such as a README; the webdataset library leaves it out, too
        key, extension = f"{folder}/{stem}".lstrip("/"), extension.lower()
        if current is None or current.key != key:
            if current is not None:
                yield current
            current = _Sample(key, member.where, member.start)
            held = 0
        if extension in current.fields:
            raise SourceError(f"{member.where}: the sample {key!r} has two .{extension} files.")
        check_limit(
            "columns",
            len(current.fields) + 1,
            f"{member.where}: the sample {key!r} has too many files",
            counting=True,
        )
        read = wanted is None or extension in wanted
        held += member.size if read else 0
        check_limit(
            "record_bytes",
            held,
            f"{member.where}: the files of the sample {key!r} have {held:,} bytes up to here",
        )
        current.fields[extension] = member.read() if read else None
    if current is not None:
        yield current


def _image_field(sample: _Sample) -> str:
    fields = [name for name in sample.fields if name not in MASK_FIELDS]
    exact = [name for name in fields if name in IMAGE_FIELDS]
    found = exact or [n for n in fields if n.rpartition(".")[2] in IMAGE_FIELDS]
    if len(found) != 1:
        has = ", ".join("." + name for name in found) or "none"
        raise SourceError(f"{sample.where}: a sample needs one image; found {has}.")
    return found[0]


@dataclass(slots=True)
class _Survey:
    """Finds out, from one walk over the archives, which fields there are."""

    count: int = 0
    labelled: bool = False
    images: Counter[str] = field(default_factory=Counter)  # in how many samples each is the image
    fields: Counter[str] = field(default_factory=Counter)  # in how many samples each is
    folders: set[str] = field(default_factory=set)
    labels: LabelNames = field(default_factory=LabelNames)
    shapes: set[tuple[int, ...]] = field(default_factory=set)  # of labels that are numbers
    whole: bool = True  # whether those are all integers
    named: bool = False  # whether a label is the name of a class

    def add(self, sample: _Sample) -> None:
        image = _image_field(sample)
        self.folders.add(os.path.dirname(sample.key))
        self.images[image] += 1
        self.fields.update(name for name in sample.fields if name != image)
        check_limit(
            "columns",
            len(self.fields),
            f"{sample.where}: the samples up to here have {len(self.fields):,} kinds of files, "
            "each of which would be a column",
        )
        label = _label_of(sample)
        if self.count == 0:
            self.labelled = label is not None
        if (label is not None) != self.labelled:
            has, had = ("no label", "have one") if self.labelled else ("a label", "have none")
            raise SourceError(f"{sample.where}: {has}, though the samples before it {had}.")
        if label is not None:
            self._add_label(label)
        self.count += 1

    def _add_label(self, label: Label) -> None:
        if isinstance(label, str):
            self.named = True
            self.labels.add(label)
            return
        self.shapes.add(np.shape(label))
        self.whole = self.whole and np.asarray(label).dtype.kind == "i"
        if isinstance(label, int):
            self.labels.add(label)

    def label_column(self) -> Column | None:
        """Return the column of labels: classes, one number, or vectors of one length."""
        if not self.labelled:
            return None
        if self.named or (self.shapes == {()} and self.whole):
            return LABEL
        dtype = "int64" if self.whole else "float64"
        shapes = list(self.shapes)
        return Column(LABEL.name, "fixed", dtype, shapes[0]) if len(shapes) == 1 else None

    @property
    def mask_field(self) -> str | None:
        """The field that holds a mask for every image."""
        found = [name for name in MASK_FIELDS if self.fields[name] == self.count]
        return found[0] if len(found) == 1 else None

    def columns(self) -> dict[str, Column]:
        """Return the column of each field but the image and the label."""
        columns = {}
        for name in sorted(self.fields.keys() - {LABEL_FIELD}):
            if name == self.mask_field:
                columns[name] = MASKS
                continue
            is_text = name.rpartition(".")[2] in TEXT_FIELDS
            columns[name] = Column(user_column_name(name), "text" if is_text else "bytes")
        return columns


def _label_of(sample: _Sample) -> Label | None:
    given = sample.fields.get(LABEL_FIELD)
    if given is not None:
        return given.decode("utf-8", "replace").strip()
    given = sample.fields.get("json")
    if given is None:
        return None
    value = load_json(given, f"{sample.where}, its .json")
    label = value.get("label") if isinstance(value, dict) else None
    if label is None or isinstance(label, str) or _is_number(label):
        return label
    if isinstance(label, list) and label and all(map(_is_number, label)):
        return label
    raise SourceError(
        f"{sample.where}: the label in its .json is {shown(label)}. A number, a list of numbers "
        "or the name of a class is needed, or another key than 'label', which is kept as it is."
    )


def _is_number(value: Any) -> bool:
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return type(value) is float and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class _Reader:
    shards: list[str]
    starts: array[int]  # where each sample begins in its archive
    ends: list[int]  # the number of samples up to the end of each archive
    columns: dict[str, Column]
    label: Column | None
    labels: LabelNames | None  # of classes
    findings: Findings

    def stream(self, start: int) -> Iterator[PackItem]:
        for number in range(bisect_right(self.ends, start), len(self.shards)):
            first = self.ends[number - 1] if number else 0
            # From the beginning of an archive, what comes before its first sample is counted, too.
            place = self.starts[start] if start > first else 0
            for sample in _samples(self.shards[number], self.findings, start=place):
                yield self._item(sample, number)

    def _item(self, sample: _Sample, shard: int) -> PackItem:
        image = _image_field(sample)
        prefix = tar_stem(self.shards[shard]) + "/" if len(self.shards) > 1 else ""
        columns: dict[str, Any] = {}
        label = _label_of(sample) if self.label is not None else None
        if isinstance(label, (int, str)) and self.labels is not None:
            columns["label"] = self.labels.number(label, sample.where)
        elif label is not None:
            columns["label"] = np.array(label)
        for name, column in self.columns.items():
            value = sample.fields.get(name) or b""
            if column == MASKS:
                size = image_size(sample.fields[image] or b"", sample.where, self.findings)
                value = mask_column(value, size, f"{sample.where}, .{name}")
            is_text = column.kind == "text"
            columns[column.name] = value.decode("utf-8", "surrogateescape") if is_text else value
        return PackItem(f"{prefix}{sample.key}.{image}", sample.fields[image] or b"", columns)
