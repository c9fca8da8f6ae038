"""WebDataset: tar archives in which the files of a sample share the name up to the first dot.

| member | becomes |
|---|---|
| .jpg .png .webp ... | the image |
| .cls | `label`: an integer, or the name of a class |
| .seg.png .seg_png .mask.png ... | `masks`: class numbers, if every sample has them |
| .json .txt and other text | a text column of that name; a "label" in json, if there is no .cls |
| anything else | a bytes column of that name |
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import SourceError
from penstock.packing.datasets.files import names_in
from penstock.packing.datasets.images import image_size
from penstock.packing.datasets.labels import LabelNames
from penstock.packing.datasets.layout_source import Findings, LayoutSource
from penstock.packing.datasets.names import user_column_name
from penstock.packing.datasets.segmentation import mask_column
from penstock.packing.datasets.tar_members import is_tar_name, tar_members, tar_stem
from penstock.packing.items import LABEL, MASKS, Column, PackItem
from penstock.sources.file_source import printable
from penstock.sources.scan import IMAGE_EXTENSIONS

LABEL_FIELD = "cls"
TEXT_FIELDS = frozenset(["json", "txt", "text", "caption", "transcript", "url", "csv", "xml"])
MASK_FIELDS = ("seg.png", "seg_png", "mask.png", "mask_png", "segmentation.png")
IMAGE_FIELDS = frozenset(extension[1:] for extension in IMAGE_EXTENSIONS) | {"gif", "pbm"}


@dataclass(slots=True)
class _Sample:
    key: str
    where: str
    fields: dict[str, bytes | None] = field(default_factory=dict)  # None where not read


def open_webdataset(path: str) -> LayoutSource:
    """Open one archive, or a folder of them in the order of their names."""
    shards = [path] if os.path.isfile(path) else shards_in(path)
    survey = _Survey()
    for shard in shards:
        # Labels are small and decide on the classes; the rest need not be read yet.
        for sample in _samples(shard, wanted=frozenset([LABEL_FIELD, "json"])):
            survey.add(sample)
    if not survey.count:
        raise SourceError(f"{printable(path)}: no sample in it.")
    survey.labels.finish()
    findings = Findings()
    columns = survey.columns()
    labels = survey.labels if survey.labelled else None
    return LayoutSource(
        kind="webdataset",
        title=printable(path),
        columns=(*((LABEL,) if labels else ()), *columns.values()),
        read=_Reader(shards, columns, labels, findings).items,
        length=survey.count,
        classes=labels.names if labels else None,
        details=f"{len(shards):,} shard{'' if len(shards) == 1 else 's'}",
        findings=findings,
    )


def shards_in(folder: str) -> list[str]:
    """Return the archives in a folder."""
    return [os.path.join(folder, name) for name in names_in(folder) if is_tar_name(name)]


def _samples(
    shard: str,
    findings: Findings | None = None,
    wanted: frozenset[str] | None = None,
    skip: int = 0,
) -> Iterator[_Sample]:
    """Group neighbours by key; read the fields `wanted`, or all, except of the first `skip`."""
    current: _Sample | None = None
    count = 0
    for member in tar_members(shard, findings):
        folder, name = os.path.split(member.name)
        stem, _, extension = name.partition(".")
        if not stem or not extension:
            continue  # such as a README; webdataset leaves it out, too
        key, extension = f"{folder}/{stem}".lstrip("/"), extension.lower()
        if current is None or current.key != key:
            if current is not None:
                yield current
            current = _Sample(key, member.where)
            count += 1
        if extension in current.fields:
            raise SourceError(f"{member.where}: the sample {key!r} has two .{extension} files.")
        read = count > skip and (wanted is None or extension in wanted)
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
    fields: Counter[str] = field(default_factory=Counter)  # in how many samples each is
    labels: LabelNames = field(default_factory=LabelNames)

    def add(self, sample: _Sample) -> None:
        image = _image_field(sample)
        self.fields.update(name for name in sample.fields if name != image)
        label = _label_of(sample)
        if self.count == 0:
            self.labelled = label is not None
        if (label is not None) != self.labelled:
            has, had = ("no label", "have one") if self.labelled else ("a label", "have none")
            raise SourceError(f"{sample.where}: {has}, though the samples before it {had}.")
        if label is not None:
            self.labels.add(label)
        self.count += 1

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


def _label_of(sample: _Sample) -> int | str | None:
    given = sample.fields.get(LABEL_FIELD)
    if given is not None:
        return given.decode("utf-8", "replace").strip()
    given = sample.fields.get("json")
    if given is None:
        return None
    try:
        value = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{sample.where}: its .json is not valid JSON ({error}).") from error
    label = value.get("label") if isinstance(value, dict) else None
    return label if isinstance(label, (int, str)) and not isinstance(label, bool) else None


@dataclass(frozen=True, slots=True)
class _Reader:
    shards: list[str]
    columns: dict[str, Column]
    labels: LabelNames | None
    findings: Findings

    def items(self, start: int) -> Iterator[PackItem]:
        position = 0  # of the next sample in the whole data set
        for shard in self.shards:
            prefix = tar_stem(shard) + "/" if len(self.shards) > 1 else ""
            for sample in _samples(shard, self.findings, skip=start - position):
                if position >= start:
                    yield self._item(sample, prefix)
                position += 1

    def _item(self, sample: _Sample, prefix: str) -> PackItem:
        image = _image_field(sample)
        columns: dict[str, Any] = {}
        label = _label_of(sample) if self.labels is not None else None
        if self.labels is not None and label is not None:
            columns["label"] = self.labels.number(label, sample.where)
        for name, column in self.columns.items():
            value = sample.fields.get(name) or b""
            if column == MASKS:
                size = image_size(sample.fields[image] or b"", sample.where, self.findings)
                value = mask_column(value, size, f"{sample.where}, .{name}")
            is_text = column.kind == "text"
            columns[column.name] = value.decode("utf-8", "surrogateescape") if is_text else value
        return PackItem(f"{prefix}{sample.key}.{image}", sample.fields[image] or b"", columns)
