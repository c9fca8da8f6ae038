"""Albumentations: what has no equivalent is refused, with the reason."""

import re
import threading

import numpy as np
import pytest

from penstock.errors import TranslationError
from penstock.translation.transforms.lines import How
from tests.translation.accelerate.reading import accelerate, explain_translation

cv2 = pytest.importorskip("cv2")
A = pytest.importorskip("albumentations")


def refused(loader, reason, **options):
    with pytest.raises(TranslationError) as raised:
        accelerate(loader, **options)
    assert len(raised.value.reasons) == 1, raised.value
    assert re.search(reason, raised.value.reasons[0]), raised.value


REFUSED = {
    r"^Mosaic.*: it needs mosaic_metadata beside the image": lambda: [A.Mosaic()],
    r"^MaskDropout.*: it needs mask beside": lambda: [A.MaskDropout(p=1)],
    r"^ReplayCompose: how it calls its transforms is not": lambda: [
        A.ReplayCompose([A.VerticalFlip()])
    ],
    r"^CubicSymmetry.*: it does not work on images": lambda: [A.CubicSymmetry()],
    r"^Normalize.*: with p=0.5 some images": lambda: [A.Normalize(p=0.5)],
    r"^Normalize.*: normalization='image' depends": lambda: [A.Normalize(normalization="image")],
    r"^Normalize.*: max_pixel_value is 1.0": lambda: [A.Normalize(max_pixel_value=1.0)],
    r"^Normalize.*: it meets a floating-point array, where": lambda: [A.ToFloat(), A.Normalize()],
    r"^Resize.*: it meets a floating-point array; the core": lambda: [
        A.Normalize(),
        A.Resize(8, 8),
    ],
    r"^FromFloat.*: it has no equivalent": lambda: [A.FromFloat()],
    r"^OneOf: it may leave Normalize out": lambda: [A.OneOf([A.Normalize(), A.NoOp()])],
    r"^ToFloat.*: its results are not to the last bit": lambda: [A.ToFloat(max_value=256)],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused(load_arrays, reason):
    refused(load_arrays(*REFUSED[reason]()), reason)


def test_compositions_that_do_more(load_arrays):
    def with_boxes(steps):
        return A.Compose(steps, bbox_params=A.BboxParams("coco", label_fields=[]))

    def with_targets(steps):
        return A.Compose(steps, additional_targets={"second": "image"})

    def at_times(steps):
        return A.Compose(steps, p=0.5)

    refused(
        load_arrays(A.NoOp(), compose=with_boxes), "Compose: it has bbox_params or keypoint_params"
    )
    refused(load_arrays(A.NoOp(), compose=with_targets), "Compose: it has additional_targets")
    refused(load_arrays(A.NoOp(), compose=at_times), "Compose: it may leave ToTensorV2 out")


def test_seeds_that_tie_transforms_together(load_arrays):
    """Within a seeded Compose all transforms draw the same numbers, so both flips or none."""

    def seeded(steps):
        return A.Compose(steps, seed=5)

    tied = A.Compose([A.HorizontalFlip(), A.VerticalFlip()], seed=5)
    corners = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert {int(tied(image=corners)["image"][0, 0, 0]) for _ in range(50)} == {0, 9}

    crop, flips = A.CenterCrop(8, 8), (A.HorizontalFlip(), A.VerticalFlip())
    refused(
        load_arrays(crop, *flips, compose=seeded), "Compose: seed=5 gives all of its transforms the"
    )
    accelerate(load_arrays(crop, flips[0], compose=seeded))
    chosen = A.OneOf([A.NoOp(p=1), A.VerticalFlip(p=1)], p=1)
    refused(load_arrays(crop, chosen, flips[0], compose=seeded), "Compose: seed=5 gives all of its")
    loader = accelerate(load_arrays(crop, *flips, compose=seeded), strict=False)
    assert any(
        line.how == How.NOT_NEEDED and "seed=5" in str(line) for line in loader.translation.lines
    )


def test_other_ways_to_call_it(load_arrays):
    """Each Dataset's refusal names the line, or the step."""
    for kind, reason in (
        (
            "WithMask",
            r"`return .*mask=image.*: Albumentations is given mask; known is image= alone",
        ),
        ("WithoutArray", r"^NoOp.*: it meets a Pillow image. Albumentations takes np.array"),
        ("Gray", r"^np\.array\(image\): it meets an image of one channel"),
        ("BlueFirst", r"^cv2\.imread\(path\): blue stays before red"),
    ):
        loader = load_arrays(A.NoOp(), kind=kind, end=False)
        assert re.search(reason, explain_translation(loader).reasons[0])


def test_arrays_side_by_side(load_arrays):
    def zipped(batch):
        """Keep images apart."""
        return tuple(zip(*batch))  # noqa: B905  as users write it

    steps = (A.CenterCrop(8, 8),)
    accelerate(load_arrays(*steps, collate_fn=zipped))
    refused(
        load_arrays(*steps, collate_fn=zipped, end=False), "images stay NumPy arrays, and ours are"
    )


def test_a_transform_that_cannot_be_copied(load_arrays):
    class Locked(A.ImageOnlyTransform):
        def __init__(self):
            super().__init__(p=1)
            self.lock = threading.Lock()

    refused(load_arrays(Locked()), "Locked.*: every thread needs a copy of it, and copying fails")


def test_other_versions(load_arrays, monkeypatch):
    monkeypatch.setattr(A, "__version__", "1.4.24")
    reasons = explain_translation(load_arrays(A.NoOp())).reasons
    assert "it comes from Albumentations 1.4.24; known is 2.0.8." in reasons[0]
