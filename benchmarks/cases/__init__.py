"""The questions that a benchmark answers, one per file: each makes a Case of image files."""

from __future__ import annotations

from benchmarks.cases import (
    classify_224,
    coco_boxes,
    large_photos,
    packing,
    randaugment,
    tiny_32,
)
from benchmarks.cases.kind import CaseKind

KINDS = (
    classify_224.KIND,
    classify_224.UINT8_KIND,
    classify_224.VALIDATE_KIND,
    classify_224.COLD_KIND,
    large_photos.KIND,
    randaugment.KIND,
    tiny_32.KIND,
    coco_boxes.KIND,
    coco_boxes.PLAIN_KIND,
    packing.KIND,
)
CASES: dict[str, CaseKind] = {kind.name: kind for kind in KINDS}
