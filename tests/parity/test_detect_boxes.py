"""SSD's augmentations on photos with objects: boxes against maps worked out on their own."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import Loader, pack
from penstock import transforms as T
from penstock.data.packed import PackedSource
from penstock.data.targets import stored_targets
from penstock.geometry import Sizes
from penstock.packing.shards import open_packed
from penstock.planner.plan import as_written
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove, out_sizes
from penstock.transforms.targets import Targets


@pytest.fixture(scope="module", params=["coco", "voc"])
def packed(request, coco_folder, voc_folder, tmp_path_factory):
    given = coco_folder / "instances.json" if request.param == "coco" else voc_folder
    target = tmp_path_factory.mktemp("detect") / "detect.pen"
    pack(given, target, split=None if request.param == "coco" else "train", progress=False)
    return target


def scale(x, y):
    return np.diag([x, y, 1.0])


def shift(x, y):
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]])


def map_of(moves, row, size):
    """The 3x3 matrix from places in the original to places after the moves of one sample."""
    matrix = np.eye(3)
    sizes = Sizes(np.array([size[0]]), np.array([size[1]]))
    for move in moves:
        height, width = (int(side[0]) for side in (sizes.height, sizes.width))
        match move:
            case PadMove():
                step = shift(move.left[row], move.top[row])
                sizes = Sizes(
                    sizes.height + move.top[row] + move.bottom[row],
                    sizes.width + move.left[row] + move.right[row],
                )
            case CropMove():
                step = shift(-move.left[row], -move.top[row])
                sizes = Sizes(move.height[[row]], move.width[[row]])
            case ResizeMove():
                step = scale(move.width[row] / width, move.height[row] / height)
                sizes = Sizes(move.height[[row]], move.width[[row]])
            case FlipMove():
                x, y = move.horizontal[row], move.vertical[row]
                step = shift(width * x, height * y) @ scale(1 - 2.0 * x, 1 - 2.0 * y)
            case _:
                step = np.eye(3)
        matrix = step @ matrix
    return matrix, (int(sizes.height[0]), int(sizes.width[0]))


@pytest.mark.parametrize("size", [None, (300, 300)])
def test_ssd_boxes(packed, size):
    source = PackedSource(open_packed(packed))
    every = np.arange(len(source))
    known = stored_targets(source).of(every)
    numbers = np.arange(int(known.offsets[-1]))
    numbered = Targets(known.offsets, known.boxes, known.labels, extras={"number": numbers})
    transform = T.ssd(size=size)
    loader = Loader(packed, targets=numbered, transform=transform, batch_size=len(source), seed=9)
    ((images, targets),) = loader
    records = source.records(every)
    sizes = Sizes(records.heights.astype(np.int64), records.widths.astype(np.int64))
    moves, _ = as_written(transform).segments[0].sample_targets(9, 0, every, sizes, numbered)

    seen = 0
    for row, (image, target) in enumerate(zip(images, targets, strict=True)):
        matrix, after = map_of(moves, row, (sizes[row].height, sizes[row].width))
        assert tuple(image.shape[1:]) == after
        originals = known.boxes[target["number"].numpy()].reshape(-1, 2, 2)
        corners = originals @ matrix[:2, :2].T + matrix[:2, 2]
        low = np.clip(corners.min(axis=1), 0, after[::-1])
        high = np.clip(corners.max(axis=1), 0, after[::-1])
        expected = np.concatenate([low, high], axis=1)
        np.testing.assert_allclose(target["boxes"], expected, atol=1e-2)
        np.testing.assert_array_equal(target["labels"], known.labels[target["number"].numpy()])
        seen += len(expected)
    assert seen > len(numbers) / 4
    assert out_sizes(moves, sizes)[0].height == images[0].shape[1]
