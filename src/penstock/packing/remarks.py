"""What a pack tells of its source beside figures: what is odd, and guesses that may be wrong."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from penstock.packing.datasets.layout_source import Findings
from penstock.packing.items import Column, PackItem, PackSource

OUTSIDE = "labels are not the number of a class"
_LABEL_WORDS = re.compile(r"label|class|categor|target|score|caption|text", re.IGNORECASE)
_INTEGER = re.compile(r"[0-9]+")
_FEW_SAMPLES = 20


class Remarks:
    """Collects them while samples go by."""

    def __init__(self, source: PackSource) -> None:
        self._source = source
        self._classes = None if source.classes is None else len(source.classes)
        self._counted = Findings()
        self._samples = 0

    def note(self, item: PackItem, told: str) -> None:
        """Take one packed sample into account, and what Pillow said about its file."""
        self._samples += 1
        if told:
            self._counted.add(f"warned of by Pillow: {told}", item.name)
        label: Any = item.columns.get("label")
        is_class = self._classes is not None and label is not None and np.ndim(label) == 0
        if is_class and not 0 <= label < self._classes:
            self._counted.add(OUTSIDE, item.name)

    def sentences(self) -> tuple[str, ...]:
        """Return one sentence for each kind."""
        source = self._source
        own: Findings | None = getattr(source, "findings", None)
        return (
            *about_labels(source.columns),
            *about_classes(source.classes or (), self._samples),
            *([] if own is None else own.sentences()),
            *self._counted.sentences(),
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
