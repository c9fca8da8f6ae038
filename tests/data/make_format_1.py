"""Make format_1/old.pen: a packed file of version 1, with every storage and every kind of column.

Only a penstock that writes version 1 can make it (the last one is commit 7367b921), from its
checkout:

    .venv/bin/python tests/data/make_format_1.py
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import PIL.Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import penstock  # noqa: E402
from corpus.photos import photo  # noqa: E402
from penstock.geometry import Size  # noqa: E402
from penstock.packing.format import VERSION  # noqa: E402
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, MASKS, Column, PackItem  # noqa: E402
from penstock.packing.mask_runs import encode_runs  # noqa: E402

TARGET = HERE / "format_1" / "old.pen"
IMAGES = (  # name, mode, options
    ("plain.jpg", "RGB", {"quality": 80}),
    ("full_chroma.jpg", "RGB", {"quality": 80, "subsampling": 0}),
    ("gray.jpg", "L", {"quality": 80}),
    ("progressive.jpg", "RGB", {"quality": 80, "progressive": True}),
    ("kept.jpg", "CMYK", {"quality": 80}),
    ("noise.png", "RGB", {}),
    ("flat.png", "P", {}),
)


class Images:
    """The images above, as a source to pack."""

    columns = (LABEL, BOXES, BOX_LABELS, MASKS, Column("remark", "text"))
    classes = ("a", "b", "c")
    box_classes = ("one", "two")
    length = len(IMAGES)

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples."""
        for number, (name, mode, options) in enumerate(IMAGES[start:], start):
            height, width = 70 + 9 * number, 90 + 7 * number
            image = photo(500 + number, height, width)
            if name == "noise.png":  # so that compressing it does not pay
                noise = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
                image = PIL.Image.fromarray(noise)
            if name == "flat.png":
                image = PIL.Image.new("RGB", (width, height), (1, 2, 3))
            file = io.BytesIO()
            kind = "JPEG" if name.endswith("jpg") else "PNG"
            image.convert(mode).save(file, kind, **options)
            yield PackItem(f"{'abc'[number % 3]}/{name}", file.getvalue(), _values(number, image))

    def describe(self) -> str:
        """Return one line for people."""
        return "images of every storage"


def _values(number: int, image: PIL.Image.Image) -> dict[str, object]:
    objects = number % 3
    masks = [np.tri(image.height, image.width, k=k) > 0 for k in range(objects)]
    return {
        "label": number % 3,
        "boxes": np.arange(4 * objects, dtype=np.float32).reshape(-1, 4) * [1, 1, 3, 3],
        "box_labels": list(range(objects)),
        "masks": encode_runs(masks, objects, Size(image.height, image.width)),
        "remark": f"remark {number}",
    }


def main() -> None:
    """Write the file."""
    if VERSION != 1:
        sys.exit(f"this penstock writes version {VERSION}; see above.")
    TARGET.parent.mkdir(exist_ok=True)
    summary = penstock.pack(Images(), TARGET, progress=False)
    sys.stdout.write("\n".join([*summary.lines(), ""]))


if __name__ == "__main__":
    main()
