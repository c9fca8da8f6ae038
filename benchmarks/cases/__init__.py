"""The questions that a benchmark answers, one per file: each makes a Case of image files."""

from __future__ import annotations

from benchmarks.cases import classify_224, coco_boxes, large_photos, randaugment
from benchmarks.cases.kind import CaseKind

KINDS = (
    classify_224.KIND,
    large_photos.KIND,
    randaugment.KIND,
    coco_boxes.KIND,
    coco_boxes.PLAIN_KIND,
)
CASES: dict[str, CaseKind] = {kind.name: kind for kind in KINDS}
