"""Boxes lie around the pixels they lay around: seen in images, not computed."""

import numpy as np
import pytest
from PIL import Image

from penstock import transforms as T
from penstock._core import Effect
from penstock.geometry import Size
from penstock.planner.plan import as_written
from penstock.reference.filters import elastic_displacements
from penstock.reference.pipeline import run_moves
from penstock.rng import Draws
from penstock.transforms.effects import same_effect
from penstock.transforms.move_targets import elastic_field, move_targets
from penstock.transforms.targets import read_targets
from target_samples import sizes_of

SIZE = (120, 160)


def painted(box):
    """A black image with one white rectangle."""
    left, top, right, bottom = box
    pixels = np.zeros((*SIZE, 3), dtype=np.uint8)
    pixels[top:bottom, left:right] = 255
    return Image.fromarray(pixels)


def seen(image):
    """The box around what is white."""
    rows, columns = np.nonzero(np.asarray(image)[..., 0] > 127)
    if not len(rows):
        return None
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def random_box(seed):
    rng = np.random.default_rng(seed)
    left, top = rng.integers(0, 100), rng.integers(0, 70)
    return [left, top, left + rng.integers(10, 60), top + rng.integers(10, 50)]


PIPELINES = [
    T.RandomZoomOut(p=1),
    T.RandomIoUCrop(),
    T.RandomCrop((60, 80)),
    T.Compose([T.RandomHorizontalFlip(), T.RandomVerticalFlip()]),
    T.RandomRotation(10),
    T.RandomResizedCrop((90, 70), interpolation="nearest"),
    T.RandomPerspective(p=1, interpolation="nearest"),
    T.Compose([T.ScaleJitter((100, 100), (0.3, 2.0), "nearest"), T.FixedSizeCrop((100, 100))]),
    T.Compose(
        [
            T.RandomZoomOut(),
            T.RandomIoUCrop(),
            T.RandomHorizontalFlip(),
            T.Resize((150, 150), "nearest"),
            T.Pad((3, 1, 0, 5)),
        ]
    ),
]


@pytest.mark.parametrize("number", range(len(PIPELINES)))
def test_pipelines(number):
    seen_count = 0
    for sample in range(40):
        box = random_box(sample)
        targets = read_targets([0, 1], boxes=[box])
        moves, moved = (
            as_written(PIPELINES[number])
            .segments[0]
            .sample_targets(0, 0, np.array([sample]), sizes_of(SIZE), targets)
        )
        found = seen(run_moves(painted(box), moves, row=0))
        if found is not None and len(moved.boxes) and moved.boxes.any():
            seen_count += 1
            np.testing.assert_allclose(moved.boxes[0], found, atol=1.01)
    assert seen_count > 20


def test_elastic_points_know_the_displacements_of_pixels():
    (move,) = T.ElasticTransform(30, (1, 2)).sample(
        Draws(0, 0, np.arange(2), 0), sizes_of(SIZE, SIZE)
    )
    for row in range(2):
        parameters = move.parameters(row)
        found = elastic_field(Size(*SIZE), **parameters)
        expected = elastic_displacements(SIZE, (30, 30), (1, 2), tuple(parameters["key"]))
        np.testing.assert_allclose(found, expected, atol=1e-5)  # the core has float32


@pytest.mark.parametrize(
    ("effect", "matrix"),
    [
        (Effect.AFFINE, (1, 0, -13, 0, 1, 7)),
        (Effect.AFFINE, (0.5, 0, 20, 0, 0.8, 5)),
        (Effect.AFFINE, (1, 0.3, -12, 0, 1, 0)),
        (Effect.AFFINE, (0.866, -0.5, 40, 0.5, 0.866, -32)),
        (Effect.PERSPECTIVE, (1.1, 0.1, -8, 0.05, 1.2, -9, 0.001, 0.0015)),
    ],
)
def test_warps(effect, matrix):
    method = Image.Transform[effect.name]
    for seed in range(20):
        box = random_box(seed)
        move = same_effect(effect, sizes_of(SIZE), matrix=matrix, filter=0, fill=0)
        moved = move_targets((move,), read_targets([0, 1], boxes=[box]), sizes_of(SIZE))
        found = seen(painted(box).transform(SIZE[::-1], method, matrix))
        left, top, right, bottom = moved.boxes[0]
        if found is None:
            assert min(right - left, bottom - top) < 1.5
        else:
            np.testing.assert_allclose(moved.boxes[0], found, atol=2.01)
