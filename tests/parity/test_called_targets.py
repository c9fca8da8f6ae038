"""Called with a nesting of values, ours change those that torchvision changes, to the bit."""

import pytest

from called_samples import CASES, SEEDS, both, check, name_of, sample_with_targets, tensor_of
from penstock import transforms as T
from strategies import make_image

torch = pytest.importorskip("torch")
v2 = pytest.importorskip("torchvision.transforms.v2")
torchvision = pytest.importorskip("torchvision")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")

NOT_WITH_TARGETS = (
    "JPEG",
    "AutoAugment",
    "RandAugment",
    "TrivialAugmentWide",
    "AugMix",
    "FiveCrop",
    "TenCrop",
)


@pytest.mark.parametrize("box_format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case[0] not in NOT_WITH_TARGETS]
    + [
        ("RandomIoUCrop", {}),
        ("RandomIoUCrop", {"min_scale": 0.1, "trials": 3, "sampler_options": [0.1, 0.2, 1.0]}),
        ("SanitizeBoundingBoxes", {"min_size": 5.0}),
        (
            "SanitizeBoundingBoxes",
            {"min_area": 60.0, "labels_getter": lambda sample: sample["labels"]},
        ),
        ("SanitizeBoundingBoxes", {"labels_getter": None}),
        ("ClampBoundingBoxes", {}),
        ("ClampKeyPoints", {}),
        ("SanitizeKeyPoints", {}),
        ("SetClampingMode", {"clamping_mode": "hard"}),
        ("ConvertBoundingBoxFormat", {"format": "CXCYWH"}),
        ("ToDtype", {"dtype": {tv_tensors.Mask: torch.int64, "others": None}}),
    ],
    ids=name_of,
)
def test_targets_follow(case, box_format):
    ours, theirs = both(*case)
    image = make_image((33, 50))
    for seed in SEEDS[:4]:
        check(ours, theirs, seed, sample_with_targets(image, box_format, seed=seed))
        tensor = tv_tensors.Image(tensor_of(image, torch.uint8))
        check(ours, theirs, seed, sample_with_targets(tensor, box_format, seed=seed))


def test_boxes_without_objects_follow():
    for name in ("RandomHorizontalFlip", "RandomZoomOut", "RandomPhotometricDistort"):
        ours, theirs = both(name, {"p": 1.0})
        check(ours, theirs, 3, sample_with_targets(make_image((20, 30)), boxes=0))


@pytest.mark.parametrize(
    "inputs",
    [
        lambda image, _: (image, 3),
        lambda image, tensor: (image, tensor, tensor),
        lambda _, tensor: (tensor, tensor),
        lambda _, tensor: [{"a": tensor}, (tensor, 4)],
        lambda image, _: (image, image),
        lambda _, tensor: {"x": tv_tensors.Image(tensor), "y": tensor},
        lambda _, tensor: tv_tensors.Video(torch.stack([tensor, tensor])),
        lambda _, tensor: torch.stack([tensor, tensor]),
    ],
)
@pytest.mark.parametrize(
    "case",
    [
        ("RandomCrop", {"size": 10}),
        ("RandomHorizontalFlip", {}),
        ("ColorJitter", {"brightness": 0.5, "hue": 0.1}),
        ("RandomGrayscale", {"p": 0.6}),
        ("RandomErasing", {"p": 1.0}),
        ("ToImage", {}),
        ("ToDtype", {"dtype": torch.float32, "scale": True}),
    ],
    ids=name_of,
)
def test_which_values_of_a_sample_are_transformed(case, inputs):
    ours, theirs = both(*case)
    image = make_image((20, 30))
    for seed in SEEDS[:4]:
        given = inputs(image, tensor_of(image, torch.uint8))
        if isinstance(given, tuple):
            check(ours, theirs, seed, *given)
        check(ours, theirs, seed, given)


def test_fill_by_type():
    for name, more in [
        ("Pad", {"padding": 4}),
        ("RandomRotation", {"degrees": 40}),
        ("RandomAffine", {"degrees": 40}),
        ("RandomPerspective", {"p": 1.0}),
        ("RandomCrop", {"size": 40, "pad_if_needed": True}),
        ("RandomZoomOut", {"p": 1.0}),
    ]:
        fill = {tv_tensors.Image: 127, tv_tensors.Mask: 3, "others": 0}
        ours, theirs = both(name, {**more, "fill": dict(fill)})
        tensor = tv_tensors.Image(tensor_of(make_image((20, 30)), torch.uint8))
        check(ours, theirs, 1, sample_with_targets(tensor))


def test_erasing_warns_of_targets_that_stay():
    with pytest.warns(UserWarning, match="passing through inputs of type"):
        T.RandomErasing(1.0)(sample_with_targets(make_image((20, 30))))
