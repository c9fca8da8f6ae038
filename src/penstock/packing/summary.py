"""What a packed data set holds in figures, and what `pack` remarks about its source.

Remarks are about what is odd, and about guesses that may be wrong.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from penstock.packing.datasets.layout_source import Finding, Findings
from penstock.packing.disk import human_bytes
from penstock.packing.format import RESTORES, STORAGES
from penstock.packing.index import KEEP_JPEG, change_images
from penstock.packing.items import Column, PackItem, PackSource
from penstock.packing.shards import PackSet

ENTRIES_SHOWN = 10
OUTSIDE = "labels are not the number of a class"
_LABEL_WORDS = re.compile(r"label|class|categor|target|score|caption|text", re.IGNORECASE)
_INTEGER = re.compile(r"[0-9]+")
_FEW_SAMPLES = 20
_DIED = "{:,} times a worker died; others went on with its shard, from where it stopped."


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts and sizes; `skipped` lists the files left out, each with the reason.

    Only `pack` knows `source`, what was packed, `remarks`, sentences about what is odd in it, and
    `waits_for`: after one part of a pack, the shards that other parts have yet to write.
    """

    samples: int
    files: int
    bytes: int
    original_bytes: int
    storages: dict[str, int]
    restores: dict[str, int]
    settings: tuple[str, ...]
    columns: tuple[str, ...]  # beside the images
    skipped: tuple[str, ...]
    source: str = ""
    remarks: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()

    @property
    def lossy(self) -> bool:
        """Whether images were re-encoded on request."""
        return change_images(self.settings)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        ratio = self.bytes / self.original_bytes if self.original_bytes else None
        return asdict(self) | {"lossy": self.lossy, "bytes_per_original_byte": ratio}

    def lines(self) -> list[str]:
        """Return the figures for people."""
        restores = self.restores
        before = human_bytes(self.original_bytes)
        ratio = f"{self.bytes / self.original_bytes:.3f} x " if self.original_bytes else ""
        size = f"{human_bytes(self.bytes)}, {ratio}the {before} of the originals"
        back = f"{restores['bytes']:,} files byte for byte, {restores['pixels']:,} with identical"
        kept = "; JPEGs are kept as they are, as asked for" if KEEP_JPEG in self.settings else ""
        lines = [
            f"{self.samples:,} samples in {size}",
            f"stored as: {_counts(self.storages)}{kept}",
            f"beside the images: {', '.join(self.columns) or 'nothing, so no labels'}",
            f"unpack gives back: {back} pixels, {restores['lossy']:,} changed",
        ]
        if self.lossy:
            lines.append(
                f"LOSSY: packed with {', '.join(self.settings)}; {restores['lossy']:,} images "
                "are not the originals and cannot be restored from this file"
            )
        if self.skipped:
            lines += [f"left out: {len(self.skipped):,} files", *_some(self.skipped)]
        if self.waits_for:
            waits = f"{len(self.waits_for):,} shards of other parts; the last part to end completes"
            lines += [f"not complete: waits for {waits} the data set", *_some(self.waits_for)]
        if self.remarks:
            lines += ["to know:", *_some(self.remarks)]
        return [f"packed from {self.source}", *lines] if self.source else lines


def summarise(packed: PackSet) -> Summary:
    """Return the figures of an open data set."""
    return Summary(
        samples=len(packed),
        files=len(packed.files),
        bytes=packed.file_bytes,
        original_bytes=sum(
            int(np.sum(file.facts("original_size"), dtype=np.uint64)) for file in packed.files
        ),
        storages=_tally(packed, "storage", STORAGES),
        restores=_tally(packed, "restores", RESTORES),
        settings=packed.table("settings") or (),
        columns=tuple(column.name for column in packed.schema),
        skipped=tuple(line for file in packed.files for line in file.table("skipped") or ()),
    )


def _some(entries: tuple[str, ...]) -> list[str]:
    lines = [f"  {entry}" for entry in entries[:ENTRIES_SHOWN]]
    if len(entries) > ENTRIES_SHOWN:
        lines.append(f"  ... and {len(entries) - ENTRIES_SHOWN:,} more (see --json)")
    return lines


def _tally(packed: PackSet, column: str, names: tuple[str, ...]) -> dict[str, int]:
    counts = np.zeros(256, np.int64)
    for file in packed.files:
        counts += np.bincount(file.facts(column), minlength=256)
    return {name: int(count) for name, count in zip(names, counts, strict=False)}


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing"


@dataclass(frozen=True, slots=True)
class Noted:
    """What is to be remarked of some samples, to be sent to another process."""

    samples: int
    counted: tuple[Finding, ...]
    of_source: tuple[Finding, ...]  # that the source has met


class Remarks:
    """Collects remarks, sample by sample."""

    def __init__(self, source: PackSource) -> None:
        self._source = source
        self._classes = None if source.classes is None else len(source.classes)
        self._counted = Findings()
        self._elsewhere: Findings | None = None  # that sources in other processes have met
        self._samples = 0
        self._died = 0

    def note(self, item: PackItem, warning: str) -> None:
        """Take one packed sample into account, and what Pillow said of its file."""
        self._samples += 1
        if warning:
            self._counted.add(f"warned of by Pillow: {warning}", item.name)
        label: Any = item.columns.get("label")
        is_class = self._classes is not None and label is not None and np.ndim(label) == 0
        if is_class and not 0 <= label < self._classes:
            self._counted.add(OUTSIDE, item.name)

    def take(self) -> Noted:
        """Return what was noted, and begin anew."""
        own: Findings | None = getattr(self._source, "findings", None)
        known: tuple[Finding, ...] = getattr(self._source, "known", ())
        found = () if own is None else own.without(known)
        noted = Noted(self._samples, self._counted.without(()), found)
        self._counted, self._samples = Findings(), 0
        return noted

    def add(self, noted: Noted) -> None:
        """Take into account what was noted in another process; shards in their order."""
        if self._elsewhere is None:
            self._elsewhere = Findings()
            self._elsewhere.extend(getattr(self._source, "known", ()))
        self._samples += noted.samples
        self._counted.extend(noted.counted)
        self._elsewhere.extend(noted.of_source)

    def add_deaths(self, workers: int) -> None:
        """Count workers that died, and whose shards others have finished."""
        self._died += workers

    def sentences(self) -> tuple[str, ...]:
        """Return one sentence for each kind."""
        source = self._source
        own: Findings | None = self._elsewhere or getattr(source, "findings", None)
        return (
            *about_labels(source.columns),
            *about_classes(source.classes or (), source.length or self._samples),
            *([] if own is None else own.sentences()),
            *self._counted.sentences(),
            *([_DIED.format(self._died)] if self._died else []),
        )


def about_labels(columns: tuple[Column, ...]) -> list[str]:
    """What to know if there are none."""
    names = [column.name for column in columns]
    if {"label", "boxes", "masks"}.intersection(names):
        return []
    likely = [name for name in names if _LABEL_WORDS.search(name)]
    kept = f"; {', '.join(likely)} {'is' if len(likely) == 1 else 'are'} kept as they are"
    return [f"No labels were recognised{kept if likely else ''}."]


def about_classes(classes: tuple[str, ...], samples: int) -> list[str]:
    """What to know if the classes' names, or their number, do not look like classes."""
    sentences = []
    if classes and all(_INTEGER.fullmatch(name) for name in classes):
        moved = [label for label, name in enumerate(classes) if int(name) != label]
        if moved:
            sentences.append(
                f"Classes are named by numbers that are not their labels: class "
                f"{classes[moved[0]]!r} has label {moved[0]}, since names are sorted as text."
            )
    if samples >= _FEW_SAMPLES and len(classes) > samples / 2:
        sentences.append(
            f"{samples:,} samples have {len(classes):,} classes. Are their labels names of classes?"
        )
    return sentences
