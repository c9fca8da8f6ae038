"""VOCDetection in torchvision's wrapper: boxes are whole numbers, cut off after every step."""

import pytest

from penstock.errors import TranslationError
from tests.translation.accelerate.reading import accelerate
from tests.translation.accelerate.same_targets import assert_same_batches


def ends(tv):
    return [tv.v2.ToImage(), tv.v2.ToDtype(tv.torch.float32, scale=True)]


def test_the_same_images_and_boxes(tv, voc):
    """Cut off again and again, which is not the same as once at the end."""
    v2 = tv.v2
    steps = [v2.Resize(51), v2.RandomHorizontalFlip(1.0), v2.Resize((37, 44)), v2.Pad(2)]
    more = [v2.CenterCrop((30, 33)), v2.Resize((64, 96)), v2.RandomVerticalFlip(1.0)]
    theirs = voc(v2.Compose([*steps, *more, *ends(tv), v2.SanitizeBoundingBoxes()]))
    ours = accelerate(theirs)

    assert assert_same_batches(ours, theirs) > 20
    assert {target["boxes"].dtype for _, batch in ours for target in batch} == {tv.torch.int64}


@pytest.mark.parametrize("size", [*range(11, 60, 7), (97, 61), (224, 224)])
def test_resized_boxes(tv, voc, size):
    theirs = voc(tv.v2.Compose([tv.v2.Resize(size), *ends(tv)]))

    assert assert_same_batches(accelerate(theirs), theirs) > 20


@pytest.mark.parametrize("keys", ["all", ("labels",), ("boxes", "annotation")])
def test_other_keys(tv, voc, keys):
    theirs = voc(tv.v2.Compose([tv.v2.Resize(20), *ends(tv)]), keys=keys)
    ours = accelerate(theirs)
    assert_same_batches(ours, theirs)

    assert bool(ours.translation.python_steps) == ("annotation" in keys or keys == "all")


def test_the_transforms_of_ssd(tv, voc):
    v2 = tv.v2
    steps = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(), v2.RandomIoUCrop()]
    more = [v2.RandomHorizontalFlip(), v2.Resize((30, 30)), *ends(tv), v2.SanitizeBoundingBoxes()]
    loader = accelerate(voc(v2.Compose([*steps, *more]), shuffle=True))
    for _, targets in loader:
        for target in targets:
            assert target["boxes"].dtype == tv.torch.int64
            assert len(target["boxes"]) == len(target["labels"])
            assert target["boxes"].numel() == 0 or target["boxes"].min() >= 0
            assert target["boxes"].numel() == 0 or target["boxes"].max() <= 30


def test_what_is_refused(tv, voc):
    v2 = tv.v2
    for steps, reason in (
        ([v2.RandomAffine(10)], "RandomAffine.*boxes are whole numbers here"),
        ([v2.RandomApply([v2.RandomRotation(5)])], "boxes are whole numbers here"),
        ([v2.ConvertBoundingBoxFormat("CXCYWH")], "boxes are whole numbers here"),
        ([v2.SanitizeBoundingBoxes(labels_getter=None)], "leaves labels without a box"),
    ):
        with pytest.raises(TranslationError, match=reason):
            accelerate(voc(v2.Compose([*steps, *ends(tv)])))


def test_annotations_that_the_wrapper_stops_at(tv, voc):
    for broken, reason in (
        ("<annotation><filename>1</filename></annotation>", "has no objects"),
        ("<annotation><object><name>yeti</name></object></annotation>", "KeyError: 'bndbox'"),
    ):
        loader = voc(tv.v2.Compose(ends(tv)))
        path = loader.dataset.annotations[3]
        with open(path, encoding="utf-8") as file:
            kept = file.read()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(broken)
            with pytest.raises(TranslationError, match=reason):
                accelerate(loader)
            with pytest.raises(KeyError):
                loader.dataset[3]
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(kept)
