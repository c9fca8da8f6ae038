"""Packed files of every kind, from which mutants are made."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import PIL.Image

from penstock import pack
from penstock.geometry import Size
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, MASKS, Column, PackItem
from penstock.packing.mask_runs import encode_runs

OLD = Path(__file__).parents[1] / "tests" / "data" / "format_1" / "old.pen"


class _Listed:
    """Items in a list, as a source to pack."""

    def __init__(
        self, columns: tuple[Column, ...], items: list[PackItem], **tables: object
    ) -> None:
        self.columns = columns
        self._items = items
        self.length = len(items)
        self.classes = tables.get("classes")
        self.box_classes = tables.get("box_classes")

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples."""
        return iter(self._items[start:])

    def describe(self) -> str:
        """Return one line for people."""
        return "seed"


_DEFLATED = 2  # even and not tiny, so that it is stored as a zlib stream
_IMAGES = (
    ("jpg", "RGB", {"quality": 90}),
    ("jpg", "L", {}),
    ("png", "RGB", {}),
    ("jpg", "RGB", {"progressive": True, "subsampling": 1}),
    ("jpg", "CMYK", {}),
    ("png", "P", {}),
)


def _image(rng: np.random.Generator, number: int, height: int, width: int) -> tuple[str, bytes]:
    suffix, mode, options = _IMAGES[number % len(_IMAGES)]
    pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    if number == _DEFLATED:
        pixels[:] = 7
    file = io.BytesIO()
    kind = "JPEG" if suffix == "jpg" else "PNG"
    PIL.Image.fromarray(pixels).convert(mode).save(file, kind, **options)
    return f"{number}.{suffix}", file.getvalue()


def _png(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    PIL.Image.fromarray(values).save(file, "PNG")
    return file.getvalue()


def _values(rng: np.random.Generator, number: int, height: int, width: int) -> dict[str, object]:
    objects = number % 4
    corners = np.sort(rng.random((objects, 2, 2)), axis=1).reshape(-1, 4)
    masks = [rng.random((height, width)) > 0.6 for _ in range(objects)]
    return {
        "label": number % 3,
        "boxes": (corners * [width, height, width, height]).astype(np.float32),
        "box_labels": rng.integers(0, 2, objects),
        "keypoints": rng.random((objects, 2, 3)).astype(np.float32) * 9,
        "masks": encode_runs(masks, objects, Size(height, width)),
        "image_id": number * 10,
        "area": rng.random(objects),
        "remark": f"r{number}",
        "blob": bytes(rng.bytes(number)),
        "vector": rng.random(3).astype(np.float16),
    }


def seed_files(folder: Path) -> list[bytes]:
    """Pack a few tiny images of every storage, with every kind of column that loaders know.

    The last file is one of version 1.
    """
    rng = np.random.default_rng(0)
    keypoints = Column("keypoints", "ragged", "float32", (2, 3))
    image_id, area = Column("image_id", "fixed", "int64"), Column("area", "ragged", "float64")
    remark, blob = Column("remark", "text"), Column("blob", "bytes")
    vector = Column("vector", "fixed", "float16", (3,))
    sets = {
        "labels": ((LABEL, remark, blob, vector), {"classes": ("a", "b", "c")}),
        "objects": ((BOXES, BOX_LABELS, MASKS, image_id, area), {"box_classes": ("x", "y")}),
        "points": ((keypoints, MASKS, LABEL, area), {}),
        "old masks": ((BOXES, MASKS), {}),
        "segments": ((MASKS, remark), {"classes": ("a", "b")}),
        "plain": ((), {}),
    }
    files = []
    for name, (columns, tables) in sets.items():
        items = []
        for number in range(6):
            height, width = (75, 80) if number == _DEFLATED else (9 + 5 * number, 24 + number)
            values = _values(rng, number, height, width)
            if name == "segments":
                values["masks"] = _png(rng.integers(0, 2, (height, width), dtype=np.uint8))
            if name == "old masks":
                rows = height * len(values["boxes"])
                stack = rng.integers(0, 2, (rows, width), dtype=np.uint8)
                values["masks"] = _png(stack) if rows else b""
            wanted = {column.name: values[column.name] for column in columns}
            items.append(PackItem(*_image(rng, number, height, width), wanted))
        target = folder / f"{name}.pen"
        pack(_Listed(columns, items, **tables), target, progress=False)
        files.append(target.read_bytes())
    return [*files, OLD.read_bytes()]
