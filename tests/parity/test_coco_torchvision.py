"""What a packed COCO or VOC data set gives is what torchvision's wrapper gives.

Where the wrapper has only the number of an image without objects, the loader has no boxes and no
labels, which is what detection models take.
"""

import json
import re

import numpy as np
import pytest

import penstock
from penstock import Loader, pack
from penstock import transforms as T
from soak.data_sets import write_coco
from tests.translation.accelerate.detection_data import write_voc


@pytest.fixture
def coco(coco_folder):
    """A COCO file and the folder of its images."""
    return coco_folder / "instances.json", coco_folder / "images"


@pytest.fixture
def packed(coco, tmp_path):
    pack(coco[0], tmp_path / "coco.pen", progress=False)
    return tmp_path / "coco.pen"


def wrapped(torchvision, file, images, transforms=None, keys=None):
    from torchvision.datasets import CocoDetection, wrap_dataset_for_transforms_v2

    dataset = CocoDetection(images, file, transforms=transforms)
    return wrap_dataset_for_transforms_v2(dataset, target_keys=keys)


def by_image(loader):
    return {target["image_id"]: target for _, targets in loader for target in targets}


def test_every_target_is_the_wrappers(torchvision, coco, packed):
    import torch

    loader = Loader(packed, batch_size=5, shuffle=True, columns=["iscrowd"])
    ours = by_image(loader)
    theirs = wrapped(torchvision, *coco, keys=["image_id", "boxes", "labels", "iscrowd"])
    names = {each["id"]: each["name"] for each in json.loads(coco[0].read_text())["categories"]}

    assert len(ours) == len(theirs)
    boxes = crowds = empty = 0
    for position in range(len(theirs)):
        _, expected = theirs[position]
        target = ours[expected["image_id"]]
        assert target.keys() - {"masks"} == {"image_id", "boxes", "labels", "iscrowd"}
        if "boxes" not in expected:
            assert target["boxes"].shape == (0, 4)
            assert target["labels"].shape == target["iscrowd"].shape == (0,)
            empty += 1
            continue
        assert target["boxes"].dtype == torch.float32
        assert torch.equal(target["boxes"], torch.Tensor(expected["boxes"]).float())
        assert target["labels"].dtype == torch.int64
        assert torch.equal(target["labels"], expected["labels"])
        assert target["iscrowd"].tolist() == expected["iscrowd"]
        assert [loader.classes[n] for n in target["labels"]] == [
            names[n] for n in expected["labels"].tolist()
        ]
        boxes += len(target["boxes"])
        crowds += sum(expected["iscrowd"])
    assert boxes > 15
    assert crowds > 2
    assert empty > 1


def test_without_asking_the_keys_are_the_wrappers(torchvision, coco, packed):
    ours = by_image(Loader(packed, batch_size=4))
    _, expected = wrapped(torchvision, *coco)[1]

    assert ours[expected["image_id"]].keys() - {"masks"} == expected.keys()
    assert expected.keys() == {"image_id", "boxes", "labels"}


def test_padded_labels_are_the_same(packed):
    listed = by_image(Loader(packed, batch_size=5, output="numpy"))
    for _, padded in Loader(packed, batch_size=5, output="numpy", targets="padded"):
        for row, image_id in enumerate(padded["image_id"].tolist()):
            count = padded["counts"][row]
            np.testing.assert_array_equal(padded["labels"][row, :count], listed[image_id]["labels"])


def test_classes_counted_from_0(coco, packed):
    whole = json.loads(coco[0].read_text())
    ids = sorted(each["id"] for each in whole["categories"])
    with_background = Loader(packed, batch_size=5, output="numpy")
    without = Loader(packed, batch_size=5, output="numpy", background=False)

    assert len(without.classes) == len(ids)
    assert with_background.classes[0] == "__background__"
    assert len(with_background.classes) == ids[-1] + 1
    assert with_background.classes[2 if ids[1] == 3 else 12] == "N/A"
    ours, expected = by_image(without), by_image(with_background)
    for image_id, target in ours.items():
        assert [ids[n] for n in target["labels"]] == expected[image_id]["labels"].tolist()
        assert [without.classes[n] for n in target["labels"]] == [
            with_background.classes[n] for n in expected[image_id]["labels"]
        ]


def test_accelerate_gives_the_wrappers_targets(torchvision, coco):
    import torch
    from torch.utils.data import DataLoader
    from torchvision.transforms import v2

    transforms = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
    theirs = DataLoader(
        wrapped(torchvision, *coco, transforms),
        batch_size=4,
        collate_fn=lambda batch: tuple(zip(*batch)),  # noqa: B905
    )
    found = 0
    for (_, targets), (_, expected) in zip(penstock.accelerate(theirs), theirs, strict=True):
        for target, other in zip(targets, expected, strict=True):
            assert target.keys() == other.keys()
            assert target["image_id"] == other["image_id"]
            for key in target.keys() - {"image_id"}:
                assert torch.equal(target[key], torch.Tensor(other[key]).to(target[key].dtype))
                found += 1
    assert found > 10


def test_voc_has_the_wrappers_numbers(torchvision, folder, tmp_path):
    from torchvision.datasets import VOCDetection, wrap_dataset_for_transforms_v2
    from torchvision.tv_tensors._dataset_wrapper import VOC_DETECTION_CATEGORIES

    write_voc(folder, tmp_path)
    pack(tmp_path / "VOCdevkit" / "VOC2012", tmp_path / "voc.pen", split="train", progress=False)
    loader = Loader(tmp_path / "voc.pen", batch_size=1, output="numpy")
    theirs = wrap_dataset_for_transforms_v2(VOCDetection(tmp_path, image_set="train"))

    assert loader.classes == tuple(VOC_DETECTION_CATEGORIES)
    assert len(loader) == len(theirs) > 20
    for (_, (target,)), (_, expected) in zip(loader, theirs, strict=True):
        np.testing.assert_array_equal(target["boxes"], expected["boxes"])
        np.testing.assert_array_equal(target["labels"], expected["labels"])


def test_voc_with_classes_of_its_own(voc_folder, tmp_path):
    """Torchvision's wrapper stops at them; they count from 1 in the order of their names."""
    names = [
        name
        for path in (voc_folder / "Annotations").iterdir()
        for name in re.findall("<name>(.*)</name>", path.read_text())
    ]
    pack(voc_folder, tmp_path / "voc.pen", split="all", progress=False)
    loader = Loader(tmp_path / "voc.pen", batch_size=10, output="numpy")
    labels = np.concatenate([target["labels"] for _, each in loader for target in each])

    assert loader.classes == ("__background__", "Platelets", "RBC", "WBC")
    assert np.bincount(labels).tolist() == [names.count(name) for name in loader.classes]


STEPS = 3


def losses_of(batches):
    """Train a small ssdlite on some batches; return every loss of each step."""
    import torch
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large

    torch.manual_seed(5)
    model = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=91)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for images, targets in batches:
        step = model(images, targets)
        optimizer.zero_grad()
        sum(step.values()).backward()
        optimizer.step()
        losses.append({name: value.item() for name, value in step.items()})
    return losses


@pytest.mark.slow
def test_ssdlite_learns_the_same(torchvision, tmp_path):
    """Targets and losses of some steps, fed by torchvision and by the loader, to the bit."""
    import torch
    from torchvision.transforms import v2

    file = write_coco(tmp_path / "coco", seed=3, images=12)
    pack(file, tmp_path / "coco.pen", progress=False)
    steps = [v2.RandomHorizontalFlip(1.0), v2.Resize((80, 96)), v2.ToImage()]
    transforms = v2.Compose([*steps, v2.ToDtype(torch.float32, scale=True)])
    dataset = wrapped(torchvision, file, file.parent, transforms)
    with_objects = [n for n in range(len(dataset)) if "boxes" in dataset[n][1]][: 2 * STEPS]
    samples = [dataset[n] for n in with_objects]
    theirs = [tuple(zip(*samples[n : n + 2], strict=True)) for n in range(0, len(samples), 2)]
    theirs = [(list(images), list(targets)) for images, targets in theirs]

    transform = T.Compose(
        [T.RandomHorizontalFlip(1.0), T.Resize((80, 96)), T.ToDtype("float32", scale=True)]
    )
    loaded = [
        (image, target)
        for images, targets in Loader(tmp_path / "coco.pen", transform=transform, batch_size=2)
        for image, target in zip(images, targets, strict=True)
    ]
    known = {target["image_id"]: (image, target) for image, target in loaded}
    ours = [
        tuple(map(list, zip(*(known[other["image_id"]] for other in targets), strict=True)))
        for _, targets in theirs
    ]

    for (images, targets), (expected, expected_targets) in zip(ours, theirs, strict=True):
        for image, other in zip(images, expected, strict=True):
            assert torch.equal(image, other)
        for target, other in zip(targets, expected_targets, strict=True):
            assert torch.equal(target["boxes"], torch.Tensor(other["boxes"]))
            assert torch.equal(target["labels"], other["labels"])
    assert {int(n) for _, each in theirs for target in each for n in target["labels"]} > {1}
    losses = losses_of(ours)
    assert losses == losses_of(theirs)
    assert losses[0] != losses[-1]
