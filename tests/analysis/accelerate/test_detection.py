"""CocoDetection with boxes that follow the image, in the form detectors take them."""

import json

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock.errors import TranslationError


@pytest.fixture(scope="module")
def coco(tv, folder, tmp_path_factory):
    """A CocoDetection maker over the generated images, up to three boxes each, some with none."""
    pytest.importorskip("pycocotools")
    from torchvision.datasets import CocoDetection, wrap_dataset_for_transforms_v2

    rng = np.random.default_rng(0)
    images, annotations = [], []
    for number, path in enumerate(sorted(folder.rglob("*.jpg"))):
        width, height = Image.open(path).size
        name = str(path.relative_to(folder))
        images.append({"id": 7 * number, "file_name": name, "width": width, "height": height})
        for _ in range(1 + number % 3):
            left, top = rng.uniform(0, width - 9), rng.uniform(0, height - 9)
            box = [left, top, rng.uniform(3, width - left), rng.uniform(3, height - top)]
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": 7 * number,
                    "category_id": int(rng.integers(1, 90)),
                    "bbox": [round(float(side), 2) for side in box],
                    "area": 1.0,
                    "iscrowd": 0,
                }
            )
    file = tmp_path_factory.mktemp("coco") / "instances.json"
    categories = [{"id": number, "name": str(number)} for number in range(1, 90)]
    file.write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": categories})
    )

    def make(transforms, *, wrapped=True, **options):
        dataset = CocoDetection(str(folder), str(file), transforms=transforms)
        dataset = wrap_dataset_for_transforms_v2(dataset) if wrapped else dataset
        together = {"collate_fn": lambda batch: tuple(zip(*batch)), "batch_size": 4}  # noqa: B905
        return tv.data.DataLoader(dataset, **{**together, **options})

    return make


def ends(tv):
    return [tv.v2.ToImage(), tv.v2.ToDtype(tv.torch.float32, scale=True)]


def test_the_same_images_and_boxes(tv, coco):
    v2 = tv.v2
    steps = [v2.RandomHorizontalFlip(1.0), v2.Resize(48), v2.CenterCrop((40, 33))]
    boxes = [v2.ClampBoundingBoxes(), v2.SanitizeBoundingBoxes(min_size=2)]
    theirs = coco(v2.Compose([*steps, *ends(tv), *boxes]))
    ours = penstock.accelerate(theirs)

    assert len(ours) == len(theirs) == 6
    for batch, expected in zip(ours, theirs, strict=True):
        assert isinstance(batch, tuple)
        for image, other in zip(batch[0], expected[0], strict=True):
            assert tv.torch.equal(image, other)
        for target, other in zip(batch[1], expected[1], strict=True):
            assert target.keys() == other.keys()
            assert target["image_id"] == other["image_id"]
            assert tv.torch.equal(target["labels"], other["labels"])
            assert target["boxes"].dtype == other["boxes"].dtype
            np.testing.assert_allclose(target["boxes"], other["boxes"], atol=1e-4)


def test_images_of_different_sizes(tv, coco):
    theirs = coco(tv.v2.Compose([tv.v2.RandomVerticalFlip(1.0), *ends(tv)]))
    for batch, expected in zip(penstock.accelerate(theirs), theirs, strict=True):
        for image, other in zip(batch[0], expected[0], strict=True):
            assert tv.torch.equal(image, other)


def test_the_transforms_of_ssd(tv, coco):
    v2 = tv.v2
    steps = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill=(123, 117, 104))]
    more = [v2.RandomIoUCrop(), v2.RandomHorizontalFlip(), v2.Resize((30, 30))]
    loader = penstock.accelerate(
        coco(v2.Compose([*steps, *more, *ends(tv), v2.SanitizeBoundingBoxes()]), shuffle=True)
    )
    seen = [target["image_id"] for _, targets in loader for target in targets]

    assert sorted(seen) == [7 * number for number in range(23)]
    assert not loader.translation.python_steps


def test_a_subset_keeps_its_boxes(tv, coco):
    whole = coco(tv.v2.Compose([*ends(tv)]))
    dataset = tv.data.Subset(whole.dataset, [5, 2])
    theirs = tv.data.DataLoader(dataset, batch_size=2, collate_fn=whole.collate_fn)
    ((_, targets),) = penstock.accelerate(theirs)

    assert [target["image_id"] for target in targets] == [35, 14]
    np.testing.assert_allclose(targets[0]["boxes"], dataset[0][1]["boxes"], atol=1e-4)


def test_what_is_refused(tv, coco):
    transforms = tv.v2.Compose(ends(tv))
    for loader, reason in (
        (coco(transforms, wrapped=False), "CocoDetection: its targets are not what detectors take"),
        (coco(transforms, collate_fn=None), "default_collate: images with boxes cannot be batched"),
        (coco(tv.v2.Compose([tv.v2.GaussianBlur(3), *ends(tv)])), "where boxes cannot follow"),
        (coco(tv.v2.Compose([tv.v2.Lambda(abs), *ends(tv)])), "where boxes cannot follow"),
    ):
        with pytest.raises(TranslationError, match=reason):
            penstock.accelerate(loader)


def test_voc(tv, folder):
    """Its boxes are whole numbers."""
    from torchvision.datasets import VOCDetection, wrap_dataset_for_transforms_v2

    dataset = VOCDetection.__new__(VOCDetection)
    dataset.transform = dataset.target_transform = dataset.transforms = None
    dataset.images = []
    loader = tv.data.DataLoader(wrap_dataset_for_transforms_v2(dataset))
    reasons = penstock.explain_translation(loader).reasons

    assert "torchvision keeps its boxes as whole numbers" in reasons[0]


def test_labels_zipped(tv, make_loader):
    """The same collate function over images and labels."""

    def zipped(batch):
        """Keep images apart."""
        return list(zip(*batch))  # noqa: B905  as users write it

    transform = tv.v1.Compose([tv.v1.Resize((9, 9)), tv.v1.ToTensor()])
    theirs = make_loader(transform=transform, collate_fn=zipped)
    for batch, expected in zip(penstock.accelerate(theirs), theirs, strict=True):
        assert isinstance(batch, list)
        assert batch[1] == expected[1]
        assert all(map(tv.torch.equal, batch[0], expected[0]))
