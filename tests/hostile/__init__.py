"""Data sets that somebody made to break their reader: all of them, by what happens to each."""

from hostile import annotations, archives, arrays, coco, folders, images, records, yolo
from hostile.cases import BOMBS, ODD, REFUSED

# Each of these modules lists its cases when it is imported.
MODULES = (folders, coco, yolo, annotations, archives, records, arrays, images)

__all__ = ["BOMBS", "MODULES", "ODD", "REFUSED"]
