"""Small images of a packed file: many go through the core together, and come out the same."""

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import transforms as T
from penstock.loading.batch import PART_SIZE, part_size_for, parts_of

COUNT = 300  # more than a part of large images has, in one batch


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Noise in colour and in gray, of a few sizes."""
    folder, random = tmp_path_factory.mktemp("small"), np.random.default_rng(3)
    (folder / "only").mkdir()
    for number in range(COUNT):
        height, width = random.integers(28, 36, 2)
        shape = (height, width) if number % 5 == 0 else (height, width, 3)
        image = Image.fromarray(random.integers(0, 256, shape, dtype=np.uint8))
        image.save(folder / "only" / f"{number:04d}.png")
    return folder


@pytest.fixture(scope="module")
def packed(folder, tmp_path_factory):
    target = tmp_path_factory.mktemp("packed") / "small.pen"
    penstock.pack(folder, target)
    return target


PIPELINES = {
    "cifar": [T.Resize((32, 32)), T.RandomCrop(32, padding=4), T.RandomHorizontalFlip()],
    "colour": [T.RandomCrop(24, padding=9, fill=(200, 10, 30)), T.RandomVerticalFlip()],
    "mostly border": [T.RandomCrop(20, padding=30, fill=7), T.RandomHorizontalFlip()],
    "edge": [T.RandomCrop(30, padding=5, padding_mode="edge")],
    "reflect": [T.RandomCrop(30, padding=5, padding_mode="reflect")],
    "twice": [T.RandomCrop(26, padding=3), T.RandomCrop(26, padding=3, fill=255)],
    "resized": [T.Pad(3, fill=9), T.RandomResizedCrop(24)],
}


@pytest.mark.parametrize("steps", PIPELINES.values(), ids=PIPELINES)
@pytest.mark.parametrize("plan", [True, False])
def test_batches_are_those_of_the_files_in_small_parts(folder, packed, steps, plan):
    """Of files, a part has few; Pillow decodes them, and here makes the whole pipeline."""
    loader = {"transform": T.Compose([*steps, T.ToImage()]), "seed": 5, "output": "numpy"}
    one = penstock.Loader(packed, batch_size=COUNT, shuffle=True, threads=2, plan=plan, **loader)
    other = penstock.Loader(folder, batch_size=COUNT, shuffle=True, backend="pillow", **loader)

    for (images, labels), (expected, expected_labels) in zip(one, other, strict=True):
        np.testing.assert_array_equal(images, expected)
        np.testing.assert_array_equal(labels, expected_labels)


def test_parts_of_small_images_are_larger():
    assert part_size_for(110_000) == PART_SIZE
    assert part_size_for(3_200) > 4 * PART_SIZE
    assert part_size_for(0) == part_size_for(1) < 1_000
    assert parts_of(256, part_size_for(3_200)) == 1


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, 256])
def test_the_same_batches_with_any_number_of_threads(packed, threads, batch_size):
    """Small images share a task; none is done twice or left out."""
    transform = T.Compose(PIPELINES["cifar"])
    images = penstock.Loader(
        packed, batch_size=batch_size, transform=transform, seed=1, threads=threads, output="numpy"
    )
    alone = penstock.Loader(
        packed, batch_size=64, transform=transform, seed=1, threads=1, output="numpy"
    )

    np.testing.assert_array_equal(
        np.concatenate([batch for batch, _ in images]),
        np.concatenate([batch for batch, _ in alone]),
    )
