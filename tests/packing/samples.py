"""Small data sets to pack."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import PIL.Image

from penstock.packing.items import BOX_LABELS, BOXES, LABEL, MASKS, Column, PackItem


def image_file(seed, size=(12, 16), format="JPEG", mode="RGB", **options):
    """Return a generated image file."""
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), np.uint8)
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).convert(mode).save(file, format, **options)
    return file.getvalue()


@dataclass
class ListSource:
    """Items in a list, as a source."""

    listed: list[PackItem]
    columns: tuple[Column, ...] = ()
    classes: tuple[str, ...] | None = None
    box_classes: tuple[str, ...] | None = None
    knows_length: bool = True
    started: list[int] = field(default_factory=list)

    @property
    def length(self) -> int | None:
        return len(self.listed) if self.knows_length else None

    def items(self, start: int = 0) -> Iterator[PackItem]:
        self.started.append(start)
        return iter(self.listed[start:])

    def describe(self) -> str:
        return "a list"


def mixed_source(count=6):
    """Every storage, every kind of column."""
    columns = (LABEL, BOXES, BOX_LABELS, MASKS, Column("remark", "text"))
    items = []
    for number in range(count):
        kind, ending = (("JPEG", "jpg"), ("PNG", "png"), ("JPEG", "jpeg"))[number % 3]
        data = image_file(number, format=kind)
        values = {
            "label": number % 2,
            "boxes": np.arange(4 * (number % 3), dtype=np.float32).reshape(-1, 4),
            "box_labels": list(range(number % 3)),
            "masks": image_file(number, format="PNG", mode="L") if number % 2 else b"",
            "remark": "ä\udcff" * number,
        }
        items.append(PackItem(f"class{number % 2}/{number}.{ending}", data, values))
    return ListSource(items, columns, ("class0", "class1"), ("one", "two"))
