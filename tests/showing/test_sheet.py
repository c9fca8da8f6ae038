"""What is shown is what a loader delivers."""

from __future__ import annotations

import numpy as np
import PIL.Image
import pytest

from folders import make_image
from packing.samples import ListSource
from penstock import Loader
from penstock import transforms as T
from penstock.data.open_data import open_data
from penstock.errors import DecodeError, TransformError
from penstock.packing.items import BOX_LABELS, BOXES, PackItem
from penstock.packing.pack import pack
from penstock.planner.plan import as_written
from penstock.showing.sheet import Examples, make_sheet

SEED = 11


@pytest.fixture
def boxed(tmp_path):
    """A packed data set with two boxes an image."""
    rng = np.random.default_rng(3)
    items = []
    for number in range(3):
        path = tmp_path / f"{number}.png"
        make_image(rng, 60, 80).save(path)
        values = {"boxes": [[10, 5, 50, 45], [0, 0, 80, 60]], "box_labels": [1, number]}
        items.append(PackItem(path.name, path, values))
    pack(ListSource(items, (BOXES, BOX_LABELS)), tmp_path / "a.pen")
    return tmp_path / "a.pen"


def examples(data, transform, seed=SEED):
    return Examples(open_data(data), as_written(transform), seed)


def test_pixels_are_the_loaders(folder) -> None:
    pipeline = [T.RandomResizedCrop(40), T.RandAugment(), lambda image: image.rotate(90)]
    transform = T.Compose([*pipeline, T.RandomHorizontalFlip()])
    shown = examples(folder, transform)
    loader = Loader(
        folder, transform=transform, batch_size=4, seed=SEED, layout="hwc", output="numpy"
    )
    for epoch in range(2):
        images, _ = next(iter(loader))
        for sample, image in enumerate(images):
            np.testing.assert_array_equal(shown.result(sample, epoch).image, image)


def test_normalize_is_left_out(folder) -> None:
    crop = T.RandomResizedCrop(40)
    whole = T.Compose([crop, T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)])
    shown, expected = (examples(folder, t).result(5, 0).image for t in (whole, crop))
    np.testing.assert_array_equal(shown, expected)


MEAN, STD = (0.6, 0.2, 0.0), (0.2, 0.2, 0.2)


@pytest.mark.parametrize(
    "end",
    [
        T.Normalize(MEAN, STD),
        T.Compose([T.ToTensor(), T.Normalize(MEAN, STD)]),
        T.Normalize(MEAN, STD, flavor="albumentations"),
    ],
)
def test_erasing_behind_normalize_is_seen(folder, end) -> None:
    erasing = T.RandomErasing(1.0, value=0)
    crop = T.CenterCrop(32)
    shown = np.asarray(examples(folder, T.Compose([crop, end, erasing])).result(0, 0).image)
    before = np.asarray(examples(folder, crop).result(0, 0).image)
    erased = (shown != before).any(axis=2)
    assert erased.any()
    assert not erased.all()
    assert {tuple(pixel) for pixel in shown[erased].tolist()} == {(153, 51, 0)}


def test_boxes_are_the_loaders(boxed) -> None:
    transform = T.ssd(size=(48, 48))
    shown = examples(boxed, transform)
    loader = Loader(boxed, transform=transform, batch_size=3, seed=SEED, background=False)
    _, targets = next(iter(loader))
    for sample, target in enumerate(targets):
        boxes = shown.result(sample, 0).boxes
        np.testing.assert_array_equal(boxes.corners, target["boxes"])
        assert list(boxes.labels) == target["labels"].tolist()


def test_originals_have_their_own_boxes(boxed) -> None:
    original = examples(boxed, None).original(2)
    assert original.image.size == (80, 60)
    assert original.boxes.corners.tolist() == [[10, 5, 50, 45], [0, 0, 80, 60]]
    assert list(original.boxes.labels) == [1, 2]


def test_bad_files_are_named(broken_folder) -> None:
    source = open_data(broken_folder)
    bad = next(n for n in range(len(source)) if "empty.jpg" in source.name(n))
    with pytest.raises(DecodeError, match=r"empty\.jpg: Pillow cannot decode it"):
        Examples(source, as_written(None), 0).original(bad)


def test_functions_that_fail_are_named(folder) -> None:
    def fail(image: PIL.Image.Image) -> None:
        raise RuntimeError("no")

    with pytest.raises(TransformError, match=r"fail \(step 1\): failed on .* RuntimeError: no"):
        examples(folder, fail).result(0, 0)


def test_all_views_are_shown(folder, tmp_path) -> None:
    transform = T.MultiView([T.RandomResizedCrop(40), T.RandomCrop(20)])
    shown = examples(folder, transform)
    loader = Loader(
        folder, transform=transform, batch_size=4, seed=SEED, layout="hwc", output="numpy"
    )

    views, _ = next(iter(loader))
    sheet = make_sheet(
        open_data(folder), transform, tmp_path / "a.png", images=2, repeats=3, seed=SEED
    )

    for view, images in enumerate(views):
        np.testing.assert_array_equal(shown.result(2, 0, view).image, images[2])
    assert [cell.height for cell in sheet.rows[0].cells[1:]] == [40, 20] * 3
