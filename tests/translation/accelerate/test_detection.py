"""CocoDetection with boxes that follow the image, in the form detectors take them."""

import numpy as np
import pytest

from penstock.errors import TranslationError
from tests.translation.accelerate.reading import accelerate
from tests.translation.accelerate.same_targets import assert_same_batches

WITH_OBJECTS = [number for number in range(23) if number % 4]


def ends(tv):
    return [tv.v2.ToImage(), tv.v2.ToDtype(tv.torch.float32, scale=True)]


def test_the_same_images_and_boxes(tv, coco):
    """Every third image has boxes of whole numbers, which torchvision keeps as int64."""
    v2 = tv.v2
    steps = [v2.RandomHorizontalFlip(1.0), v2.Resize(48), v2.CenterCrop((40, 33)), v2.Pad((3, 1))]
    boxes = [v2.ClampBoundingBoxes(), v2.SanitizeBoundingBoxes(min_size=2)]
    theirs = coco(v2.Compose([*steps, *ends(tv), *boxes]), only=WITH_OBJECTS)
    ours = accelerate(theirs)

    assert assert_same_batches(ours, theirs) > 15
    types = {target["boxes"].dtype for _, targets in ours for target in targets}
    assert types == {tv.torch.float32, tv.torch.int64}


@pytest.mark.parametrize("size", [17, (60, 31), (200, 133)])
def test_resized_boxes_are_the_same_to_the_bit(tv, coco, size):
    theirs = coco(tv.v2.Compose([tv.v2.Resize(size), *ends(tv)]))

    assert assert_same_batches(accelerate(theirs), theirs) > 15


def test_images_without_objects(tv, coco):
    """The wrapper gives them nothing but their number."""
    theirs = coco(tv.v2.Compose(ends(tv)), only=[0, 4, 8])
    ours = accelerate(theirs)
    assert_same_batches(ours, theirs)
    ((_, targets),) = ours

    assert targets == ({"image_id": 0}, {"image_id": 28}, {"image_id": 56})


def test_all_objects_sanitized_away(tv, coco):
    """Then the type of the empty boxes is still that of the image."""
    sanitize = tv.v2.SanitizeBoundingBoxes(min_size=1000)
    theirs = coco(tv.v2.Compose([*ends(tv), sanitize]), only=WITH_OBJECTS)

    assert assert_same_batches(accelerate(theirs), theirs) == 0


def test_other_keys(tv, coco):
    """What the annotations have, crowds among it, is passed on as it is."""
    keys = ("boxes", "labels", "area", "iscrowd", "bbox")
    theirs = coco(tv.v2.Compose([tv.v2.Resize(20), *ends(tv)]), keys=keys)

    assert_same_batches(accelerate(theirs), theirs)


def test_the_transforms_of_ssd(tv, coco):
    v2 = tv.v2
    steps = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill=(123, 117, 104))]
    more = [v2.RandomIoUCrop(), v2.RandomHorizontalFlip(), v2.Resize((30, 30))]
    transforms = v2.Compose([*steps, *more, *ends(tv), v2.SanitizeBoundingBoxes()])
    loader = accelerate(coco(transforms, shuffle=True))
    seen = [target["image_id"] for _, targets in loader for target in targets]

    assert sorted(seen) == [7 * number for number in range(23)]
    assert not loader.translation.python_steps


def test_a_subset_keeps_its_boxes(tv, coco):
    theirs = coco(tv.v2.Compose(ends(tv)), only=[5, 2])
    ((_, targets),) = accelerate(theirs)

    assert [target["image_id"] for target in targets] == [35, 14]
    assert_same_batches(accelerate(theirs), theirs)


def test_turned_boxes(tv, coco):
    """Not to the bit: torchvision turns corners in float32. Whole numbers are refused."""
    fractional = [number for number in WITH_OBJECTS if number % 3]
    theirs = coco(tv.v2.Compose([tv.v2.RandomRotation((30, 30)), *ends(tv)]), only=fractional)
    for batch, expected in zip(accelerate(theirs), theirs, strict=True):
        for target, other in zip(batch[1], expected[1], strict=True):
            np.testing.assert_allclose(target["boxes"], other["boxes"], atol=1e-3)


def test_what_is_refused(tv, coco):
    v2 = tv.v2
    for loader, reason in (
        (coco(v2.Compose(ends(tv)), wrapped=False), "what transforms= makes of an annotation"),
        (coco(v2.Compose(ends(tv)), collate_fn=None), "images with boxes cannot be batched"),
        (coco(v2.Compose([v2.GaussianBlur(57), *ends(tv)])), "where boxes cannot follow"),
        (coco(v2.Compose([v2.Lambda(abs), *ends(tv)])), "where boxes cannot follow"),
        (coco(v2.Compose([v2.RandomRotation(9), *ends(tv)])), "boxes are whole numbers here"),
        (coco(given={"transform": v2.ToImage()}), "transform= leaves boxes where they were"),
        (coco(v2.Compose([v2.Resize(9)])), "which here have no boxes beside them"),
        (coco(v2.Compose(ends(tv)), keys="all"), "masks are not followed here"),
        (coco(v2.Compose(ends(tv)), keys=["segmentation"]), "has no 'segmentation'"),
        (coco(v2.Compose(ends(tv)), only=[2, -1]), "sample -1 is asked for; they count from 0"),
    ):
        with pytest.raises(TranslationError, match=reason):
            accelerate(loader)


def test_types_of_boxes_stay(tv, coco):
    """A type for images is one; a type for boxes too is refused."""
    from torchvision import tv_tensors

    images_only = {tv_tensors.Image: tv.torch.float32, "others": None}
    images = tv.v2.ToDtype(images_only, scale=True)
    theirs = coco(tv.v2.Compose([tv.v2.ToImage(), images]))
    assert_same_batches(accelerate(theirs), theirs)
    both = tv.v2.ToDtype({**images_only, tv_tensors.BoundingBoxes: tv.torch.float32})
    with pytest.raises(TranslationError, match="it gives boxes another type too"):
        accelerate(coco(tv.v2.Compose([tv.v2.ToImage(), both])))


def test_labels_zipped(tv, make_loader):
    """The same collate function over images and labels; images may differ in size."""

    def zipped(batch):
        """Keep images apart."""
        return list(zip(*batch))  # noqa: B905  as users write it

    for steps in ([tv.v1.Resize((9, 9))], []):
        transform = tv.v1.Compose([*steps, tv.v1.ToTensor()])
        theirs = make_loader(transform=transform, collate_fn=zipped)
        for batch, expected in zip(accelerate(theirs), theirs, strict=True):
            assert isinstance(batch, list)
            assert batch[1] == expected[1]
            assert all(map(tv.torch.equal, batch[0], expected[0]))


def test_photos(tv, coco_folder):
    pytest.importorskip("pycocotools")
    from torchvision.datasets import CocoDetection, wrap_dataset_for_transforms_v2

    steps = [tv.v2.RandomHorizontalFlip(1.0), tv.v2.Resize(160), *ends(tv)]
    files = str(coco_folder / "images"), str(coco_folder / "instances.json")
    dataset = CocoDetection(*files, transforms=tv.v2.Compose(steps))
    theirs = tv.data.DataLoader(
        wrap_dataset_for_transforms_v2(dataset),
        batch_size=16,
        collate_fn=lambda batch: tuple(zip(*batch)),  # noqa: B905
    )

    assert assert_same_batches(accelerate(theirs), theirs) > 100
