"""The questions that can be asked, one a file: each makes a Case of a list of image files."""

from __future__ import annotations

from benchmarks.cases import classify_224, large_photos, randaugment
from benchmarks.cases.kind import CaseKind

CASES: dict[str, CaseKind] = {
    kind.name: kind for kind in (classify_224.KIND, large_photos.KIND, randaugment.KIND)
}
