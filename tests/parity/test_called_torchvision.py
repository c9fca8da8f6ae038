"""Called, our transforms give torchvision v2's results from the same seed, to the bit.

Every draw takes the same numbers from torch's generator, so its state is compared as well.
"""

import warnings

import numpy as np
import pytest

from called_samples import CASES, SEEDS, both, check, name_of, sample_with_targets, tensor_of
from penstock import transforms as T
from strategies import make_image

torch = pytest.importorskip("torch")
v2 = pytest.importorskip("torchvision.transforms.v2")
torchvision = pytest.importorskip("torchvision")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")

SIZES = [(20, 20), (33, 50), (64, 17)]

ON_TENSORS_ONLY = [
    ("GaussianNoise", {}),
    ("GaussianNoise", {"mean": 0.1, "sigma": 0.3, "clip": False}),
    ("ToDtype", {"dtype": torch.float32, "scale": True}),
    ("ToDtype", {"dtype": torch.uint8, "scale": True}),
    ("ToDtype", {"dtype": torch.float64}),
    ("ConvertImageDtype", {"dtype": torch.float32}),
    ("ToPILImage", {}),
]

HAS_JPEG = torchvision.io.image._has_image_ops()

THRESHOLDS = {torch.uint8: 100, torch.float32: 0.4}


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_on_pillow_images(case):
    ours, theirs = both(*case)
    for size in SIZES:
        image = make_image(size)
        for seed in SEEDS:
            check(ours, theirs, seed, image)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32], ids=str)
@pytest.mark.parametrize("case", [*CASES, *ON_TENSORS_ONLY], ids=name_of)
def test_on_tensors(case, dtype):
    name, arguments = case
    if name == "JPEG" and (dtype != torch.uint8 or not HAS_JPEG):
        pytest.skip("this torchvision writes no JPEGs of such tensors")
    ours, theirs = both(name, arguments)
    for size in SIZES[1:3]:
        tensor = tensor_of(make_image(size), dtype)
        for seed in SEEDS[:6]:
            check(ours, theirs, seed, tensor.clone())
            check(ours, theirs, seed, tv_tensors.Image(tensor))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32], ids=str)
def test_solarize_by_the_range_of_its_type(dtype):
    ours, theirs = both("RandomSolarize", {"threshold": THRESHOLDS[dtype]})
    for seed in SEEDS:
        check(ours, theirs, seed, tensor_of(make_image((20, 30)), dtype))
        if dtype == torch.uint8:
            check(ours, theirs, seed, make_image((20, 30)))


def test_normalize():
    ours, theirs = both("Normalize", {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.3, 0.1)})
    tensor = tensor_of(make_image((9, 8)), torch.float32)

    check(ours, theirs, 0, tensor)
    check(ours, theirs, 0, torch.stack([tensor] * 3))


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "I", "F", "RGBA"])
def test_to_tensor(mode):
    image = make_image((9, 8)).convert(mode)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = v2.ToTensor()

    check(T.ToTensor(), theirs, 0, image)
    check(T.ToTensor(), theirs, 0, np.asarray(image))


@pytest.mark.parametrize("mode", ["L", "RGBA"])
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case[0] in ("Resize", "RandomCrop", "RandomHorizontalFlip", "RGB")],
    ids=name_of,
)
def test_on_other_modes_of_pillow(case, mode):
    ours, theirs = both(*case)
    for seed in SEEDS[:4]:
        check(ours, theirs, seed, make_image((33, 50)).convert(mode))


@pytest.mark.parametrize("kind", ["CutMix", "MixUp"])
def test_mixing_of_batches(kind):
    images = torch.rand(6, 3, 17, 23, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 3, 2, 1, 4, 4])
    for alpha in (0.2, 1.0, 3.0):
        ours, theirs = both(kind, {"alpha": alpha, "num_classes": 5})
        for seed in SEEDS:
            check(ours, theirs, seed, images, labels)
            check(ours, theirs, seed, {"images": tv_tensors.Image(images), "labels": labels})
            soft = torch.nn.functional.one_hot(labels, 5).float()
            check(ours, theirs, seed, images, soft)
    choice = T.RandomChoice([T.CutMix(num_classes=5), T.MixUp(num_classes=5)], [0.3, 0.7])
    same = v2.RandomChoice([v2.CutMix(num_classes=5), v2.MixUp(num_classes=5)], [0.3, 0.7])
    for seed in SEEDS:
        check(choice, same, seed, images, labels)


def test_a_linear_transformation():
    matrix = torch.rand(60, 60, generator=torch.Generator().manual_seed(0))
    mean = torch.rand(60, generator=torch.Generator().manual_seed(1))
    tensor = torch.rand(2, 3, 4, 5)

    check(T.LinearTransformation(matrix, mean), v2.LinearTransformation(matrix, mean), 0, tensor)


def test_frames_of_a_video():
    video = tv_tensors.Video(torch.arange(9 * 3 * 4 * 4, dtype=torch.uint8).reshape(9, 3, 4, 4))

    check(T.UniformTemporalSubsample(4), v2.UniformTemporalSubsample(4), 0, video)


def test_a_lambda_with_types():
    def darker(value):
        return value // 2

    sample = {"image": tensor_of(make_image((4, 4)), torch.uint8), "number": 7, "name": "x"}
    check(T.Lambda(darker, torch.Tensor, int), v2.Lambda(darker, torch.Tensor, int), 0, sample)
    check(T.Lambda(darker), v2.Lambda(darker), 0, sample["image"])


@pytest.mark.parametrize(
    ("name", "arguments", "inputs", "error"),
    [
        ("RandomCrop", {"size": 60}, "image", ValueError),
        ("RandomCrop", {"size": 6}, "text", TypeError),
        ("RandomResizedCrop", {"size": 6}, "two sizes", ValueError),
        ("RandomIoUCrop", {}, "image", TypeError),
        ("SanitizeBoundingBoxes", {}, "image", ValueError),
        ("SanitizeBoundingBoxes", {}, "labels", ValueError),
        ("SanitizeKeyPoints", {}, "image", ValueError),
        ("Normalize", {"mean": [0.5], "std": [0.5]}, "image", TypeError),
        ("GaussianNoise", {}, "image", ValueError),
        ("AutoAugment", {}, "sample", TypeError),
        ("RandAugment", {}, "text", TypeError),
        ("AugMix", {}, "two images", TypeError),
        ("FiveCrop", {"size": 3}, "sample", TypeError),
        ("RandomErasing", {"p": 1.0, "value": [1.0, 2.0, 3.0]}, "gray", ValueError),
        ("CutMix", {"num_classes": 3}, "image", ValueError),
        ("MixUp", {}, "batch", ValueError),
        ("ToDtype", {"dtype": {tv_tensors.Mask: torch.int64}}, "tensor", ValueError),
    ],
)
def test_errors_are_of_the_same_kind(name, arguments, inputs, error):
    image = make_image((20, 30))
    given = {
        "image": image,
        "text": "no image",
        "two sizes": (image, make_image((30, 20))),
        "two images": (image, image),
        "sample": sample_with_targets(image),
        "labels": {**sample_with_targets(image), "labels": torch.arange(2)},
        "gray": image.convert("L"),
        "batch": (torch.rand(2, 3, 4, 4), torch.tensor([0, 1])),
        "tensor": tensor_of(image, torch.uint8),
    }[inputs]
    for transform in both(name, arguments):
        with pytest.raises(error):
            transform(given)


def test_dtypes_of_which_one_has_no_effect_are_warned_of():
    for library in (T, v2):
        with pytest.warns(UserWarning, match="Got `dtype` values for `torch.Tensor` and either"):
            library.ToDtype({torch.Tensor: torch.float32, tv_tensors.Image: torch.float32})
