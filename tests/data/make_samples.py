"""Make samples/: the six photos of corpus/samples.py, with their classes and boxes.

Run once, before make_layouts.py, from the checkout:

    .venv/bin/python tests/data/make_samples.py
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from corpus.photos import photo  # noqa: E402
from corpus.samples import BOX_CLASSES, CLASSES, FOLDER  # noqa: E402


def main() -> None:
    """Write the photos and samples.json."""
    FOLDER.mkdir(exist_ok=True)
    draws = random.Random(9)
    rows = []
    for number in range(6):
        height, width = draws.choice([(48, 64), (64, 48), (56, 56)])
        name = f"photo_{number}.jpg"
        photo(400 + number, height, width).save(FOLDER / name, quality=90)
        boxes = []
        for _ in range((2, 1, 3, 0, 1, 2)[number]):
            left, top = draws.randint(1, width // 2), draws.randint(1, height // 2)
            boxes.append(
                [left, top, draws.randint(left + 4, width), draws.randint(top + 4, height)]
            )
        rows.append(
            {
                "name": name,
                "label": CLASSES[(2, 0, 1, 1, 0, 2)[number]],
                "height": height,
                "width": width,
                "boxes": boxes,
                "box_labels": [draws.choice(BOX_CLASSES) for _ in boxes],
            }
        )
    (FOLDER / "samples.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
