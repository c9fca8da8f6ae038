"""Batches of targets for tests: ordinary and odd objects in images of several sizes."""

import numpy as np

from penstock.geometry import Sizes
from penstock.transforms.targets import Targets, read_targets

SIZES = [(240, 320), (1, 1), (77, 40), (333, 500), (1, 60), (100, 100)]
COUNTS = [6, 2, 0, 11, 3, 1]


def sizes_of(*sizes) -> Sizes:
    return Sizes(*np.array(sizes, dtype=np.int64).reshape(-1, 2).T)


def make_targets(sizes: Sizes, counts=None, *, format="XYXY", seed=0, outside=True) -> Targets:
    """Random objects; the first of a sample has no area, the second reaches outside."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 8, len(sizes)) if counts is None else np.array(counts)
    owners = np.repeat(np.arange(len(sizes)), counts)
    sides = np.stack([sizes.width, sizes.height], axis=1)[owners].astype(np.float64)
    ends = rng.random((2, len(owners), 2)) * sides
    boxes = np.concatenate([ends.min(axis=0), ends.max(axis=0)], axis=1)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    nth = np.arange(len(owners)) - offsets[owners]
    boxes[nth == 0, 2:] = boxes[nth == 0, :2]
    if outside:
        boxes[nth == 1] += np.tile(sides, 2)[nth == 1] * 0.6
        boxes[nth == 2] -= np.tile(sides, 2)[nth == 2] * 1.5
    boxes = boxes.astype(np.float32)
    points = rng.random((len(owners), 3, 2)) * sides[:, None]
    seen = rng.integers(0, 3, (len(owners), 3, 1))
    return read_targets(
        offsets,
        boxes=from_corners_plainly(boxes, format),
        format=format,
        labels=rng.integers(1, 91, len(owners)),
        keypoints=np.concatenate([points, seen], axis=2).astype(np.float32),
        extras={"number": np.arange(len(owners))},
    )


def from_corners_plainly(boxes, format):
    """Corners in another format, one box at a time."""
    written = []
    for left, top, right, bottom in boxes.tolist():
        width, height = right - left, bottom - top
        written.append(
            {
                "XYXY": (left, top, right, bottom),
                "XYWH": (left, top, width, height),
                "CXCYWH": (left + width / 2, top + height / 2, width, height),
            }[format]
        )
    return np.array(written).reshape(-1, 4)
