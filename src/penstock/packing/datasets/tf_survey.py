"""What a set of tf.train.Examples holds, found by looking at every record but no image."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow
from penstock.packing.datasets.labels import LabelNames
from penstock.packing.datasets.names import user_column_name
from penstock.packing.datasets.tf_example import (
    BYTES_LIST,
    FLOAT_LIST,
    INT64_LIST,
    NO_FEATURE,
    Example,
)
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, Column

IMAGE = "image/encoded"
NAMES = ("image/filename", "image/source_id")
LABEL_NUMBER, LABEL_TEXT = "image/class/label", "image/class/text"
BOX = tuple(f"image/object/bbox/{side}" for side in ("xmin", "ymin", "xmax", "ymax"))
BOX_LABEL, BOX_TEXT = "image/object/class/label", "image/object/class/text"
# What the image itself says, or what is read into columns of its own.
KNOWN = frozenset(
    [IMAGE, *NAMES, LABEL_NUMBER, LABEL_TEXT, *BOX, BOX_LABEL, BOX_TEXT]
    + [f"image/{fact}" for fact in ("height", "width", "channels", "format", "colorspace")]
    + ["image/key/sha256"]
)
LARGEST_NAMED_LABEL = 100_000
DTYPE_OF = {FLOAT_LIST: "float32", INT64_LIST: "int64"}


@dataclass(slots=True)
class Survey:
    """Counts, features and class names of all records."""

    count: int = 0
    boxes: int = 0
    labelled: bool = False
    detection: bool = False
    labels: LabelNames = field(default_factory=LabelNames)  # for labels that are only text
    names: dict[int, str] = field(default_factory=dict)  # of labels, where records give both
    box_names: dict[int, str] = field(default_factory=dict)
    box_numbers: tuple[int, int] | None = None  # smallest and largest label of a box
    _extras: dict[str, int] = field(default_factory=dict)  # other features, and their kind

    def add(self, example: Example, where: str) -> None:
        """Take one record into account."""
        if self.count == 0 and IMAGE not in example:
            raise SourceError(
                f"{where}: no feature {IMAGE}, but {', '.join(sorted(example)[:20])}. "
                "Only encoded images in that feature are read."
            )
        labelled = LABEL_NUMBER in example or LABEL_TEXT in example
        if self.count and labelled != self.labelled:
            raise SourceError(f"{where}: some records have a label and some have none.")
        self.labelled = labelled
        self.count += 1
        self.boxes += len(example.get(BOX[0], NO_FEATURE).floats)
        self.detection = self.detection or any(side in example for side in BOX)
        numbers = _pair_names(self.names, example, LABEL_NUMBER, LABEL_TEXT, where)
        if labelled and not numbers:
            for text in example[LABEL_TEXT].blobs if LABEL_TEXT in example else ():
                self.labels.add(str(text, "utf-8", "replace"))
        found = _pair_names(self.box_names, example, BOX_LABEL, BOX_TEXT, where)
        if len(found):
            found = [*found, *(self.box_numbers or ())]
            self.box_numbers = min(found), max(found)
        if beyond("columns", len(self._extras) + len(example)):
            count = len(self._extras) + len(example)
            raise SourceError(f"{where}: too many features. {how_to_allow('columns', count)}.")
        for name, feature in example.items():
            if name not in KNOWN and feature.kind:
                kind = self._extras.setdefault(name, feature.kind)
                if kind != feature.kind:
                    raise SourceError(f"{where}: {name} is of another kind than before.")

    def columns(self) -> tuple[Column, ...]:
        """Return the columns that these records fill."""
        label = (LABEL,) if self.labelled else ()
        boxes = (BOXES, BOX_LABELS) if self.detection else ()
        return (*label, *boxes, *self.extra_columns().values())

    def extra_columns(self) -> dict[str, Column]:
        """Return the column of each feature that has no meaning to us."""
        columns = {}
        for name, kind in sorted(self._extras.items()):
            title = user_column_name(name.removeprefix("image/"))
            is_bytes = kind == BYTES_LIST
            columns[name] = (
                Column(title, "bytes") if is_bytes else Column(title, "ragged", DTYPE_OF[kind])
            )
        return columns

    def classes(self, listed: dict[int, str]) -> tuple[str, ...] | None:
        """Return the names of labels, given those a file beside the records lists."""
        if not self.labelled:
            return None
        return self.labels.names or _by_number(listed or self.names)

    def box_classes(self, listed: dict[int, str]) -> tuple[str, ...] | None:
        """Return the names of boxes' labels, which `first_box_number` begins."""
        names = dict(listed or self.box_names)
        if not self.detection or not names:
            return None
        if self.box_numbers is not None:
            names.setdefault(self.box_numbers[1], f"class {self.box_numbers[1]}")
        every = _by_number(names)
        return None if every is None else every[self.first_box_number(listed) :]

    def first_box_number(self, listed: dict[int, str]) -> int:
        """Return what boxes' labels count from: 1, as in the Detection API, unless 0 is a class.

        A list of classes beside the records decides, or else the records.
        """
        numbers = listed or (*(self.box_numbers or ()), *self.box_names)
        return min(1, *numbers) if numbers else 1


def _pair_names(
    names: dict[int, str], example: Example, number: str, text: str, where: str
) -> list[int]:
    """Learn from records that give number and name of a class; return the numbers."""
    numbers = example.get(number, NO_FEATURE).integers
    texts = example.get(text, NO_FEATURE).blobs
    if len(texts) == len(numbers):
        for label, blob in zip(numbers, texts, strict=True):
            name = str(blob, "utf-8", "replace")
            known = names.setdefault(label, name) if name else name
            if known != name:
                raise SourceError(f"{where}: label {label} is {name!r} here, but {known!r} before.")
    return numbers


def _by_number(names: dict[int, str]) -> tuple[str, ...] | None:
    """Return names so that the i-th is that of label i; numbers without a name get one."""
    if not names or min(names) < 0 or max(names) > LARGEST_NAMED_LABEL:
        return None
    return tuple(names.get(label, f"class {label}") for label in range(max(names) + 1))
