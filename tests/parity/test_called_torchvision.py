"""Called, our transforms give torchvision v2's results from the same seed, to the bit.

Every draw takes the same numbers from torch's generator, so its state is compared as well.
"""

import math
import re
import warnings

import numpy as np
import pytest
from PIL import Image

from penstock import transforms as T
from strategies import make_image

torch = pytest.importorskip("torch")
v2 = pytest.importorskip("torchvision.transforms.v2")
torchvision = pytest.importorskip("torchvision")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")

SIZES = [(20, 20), (33, 50), (64, 17)]
SEEDS = range(8)

# A transform's name, and arguments that both libraries take.
CASES = [
    ("RandomHorizontalFlip", {}),
    ("RandomHorizontalFlip", {"p": 0.7}),
    ("RandomVerticalFlip", {"p": 0.3}),
    ("Resize", {"size": 13}),
    ("Resize", {"size": [9, 31], "interpolation": "bicubic"}),
    ("Resize", {"size": None, "max_size": 40}),
    ("Resize", {"size": 12, "max_size": 15, "antialias": False}),
    ("CenterCrop", {"size": 15}),
    ("CenterCrop", {"size": (60, 10)}),
    ("RandomResizedCrop", {"size": 16}),
    ("RandomResizedCrop", {"size": (8, 21), "scale": (0.5, 3.0), "ratio": (0.2, 5.0)}),
    ("RandomResizedCrop", {"size": 10, "scale": (2.0, 4.0), "interpolation": "nearest"}),
    ("Pad", {"padding": 3}),
    ("Pad", {"padding": (1, 2, 3, 4), "fill": (10, 200, 30)}),
    ("Pad", {"padding": (5, 2), "padding_mode": "reflect"}),
    ("Pad", {"padding": [2], "padding_mode": "symmetric"}),
    ("RandomCrop", {"size": 16}),
    ("RandomCrop", {"size": (17, 20), "padding": 4, "fill": 77}),
    ("RandomCrop", {"size": 60, "pad_if_needed": True, "padding_mode": "edge"}),
    ("RandomZoomOut", {"p": 0.8, "fill": (1, 2, 3)}),
    ("RandomZoomOut", {"side_range": (1.5, 2.5)}),
    ("RandomRotation", {"degrees": 30}),
    ("RandomRotation", {"degrees": (10, 80), "expand": True, "interpolation": "bilinear"}),
    ("RandomRotation", {"degrees": 15, "center": (3, 4), "fill": 120}),
    ("RandomAffine", {"degrees": 10}),
    ("RandomAffine", {"degrees": (-5, 40), "translate": (0.2, 0.3), "scale": (0.5, 1.5)}),
    ("RandomAffine", {"degrees": 0, "shear": 20, "interpolation": "bilinear", "fill": 9}),
    ("RandomAffine", {"degrees": 3, "shear": (-5, 5, -9, 9), "center": (2, 8)}),
    ("RandomPerspective", {"p": 0.9}),
    ("RandomPerspective", {"distortion_scale": 0.9, "p": 1.0, "interpolation": "nearest"}),
    ("ElasticTransform", {"sigma": 2.0}),
    ("ElasticTransform", {"alpha": (20.0, 90.0), "sigma": (1.0, 1.5), "fill": 60}),
    ("ScaleJitter", {"target_size": (30, 41)}),
    ("RandomShortestSize", {"min_size": [9, 14, 22], "max_size": 40}),
    ("RandomShortestSize", {"min_size": 12}),
    ("RandomResize", {"min_size": 8, "max_size": 30}),
    ("Grayscale", {}),
    ("Grayscale", {"num_output_channels": 3}),
    ("RandomGrayscale", {"p": 0.5}),
    ("ColorJitter", {"brightness": 0.4, "contrast": 0.3, "saturation": (0.2, 2.0), "hue": 0.2}),
    ("ColorJitter", {"hue": (-0.5, 0.5)}),
    ("ColorJitter", {}),
    ("RandomPhotometricDistort", {}),
    ("RandomPhotometricDistort", {"p": 1.0}),
    ("RandomChannelPermutation", {}),
    ("RandomInvert", {}),
    ("RandomEqualize", {}),
    ("RandomAutocontrast", {}),
    ("RandomPosterize", {"bits": 3}),
    ("RandomAdjustSharpness", {"sharpness_factor": 2.5}),
    ("GaussianBlur", {"kernel_size": 3}),
    ("GaussianBlur", {"kernel_size": (5, 7), "sigma": (0.5, 3.0)}),
    ("RandomErasing", {"p": 0.9}),
    ("RandomErasing", {"p": 1.0, "value": "random"}),
    ("RandomErasing", {"p": 1.0, "value": (5.0, 6.0, 7.0), "scale": (0.3, 1.0)}),
    ("AutoAugment", {}),
    ("AutoAugment", {"policy": T.AutoAugmentPolicy.CIFAR10, "fill": 100}),
    ("AutoAugment", {"policy": T.AutoAugmentPolicy.SVHN, "interpolation": "bilinear"}),
    ("RandAugment", {"num_ops": 3}),
    ("RandAugment", {"magnitude": 4, "num_magnitude_bins": 11, "fill": (1, 2, 3)}),
    ("TrivialAugmentWide", {}),
    ("TrivialAugmentWide", {"num_magnitude_bins": 7, "interpolation": "bilinear"}),
    ("AugMix", {}),
    ("AugMix", {"severity": 7, "mixture_width": 2, "chain_depth": 2, "all_ops": False}),
    ("Identity", {}),
    ("RGB", {}),
    ("ToImage", {}),
    ("PILToTensor", {}),
    ("ToPureTensor", {}),
    ("FiveCrop", {"size": 12}),
    ("TenCrop", {"size": (9, 11), "vertical_flip": True}),
    ("JPEG", {"quality": (20, 90)}),
    ("JPEG", {"quality": 50}),
]
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


def both(name, arguments):
    """Ours and torchvision's."""
    theirs = dict(arguments)
    if "policy" in theirs:
        theirs["policy"] = v2.AutoAugmentPolicy(theirs["policy"].value)
    return getattr(T, name)(**arguments), getattr(v2, name)(**theirs)


def called(transform, seed, *inputs):
    """What it gives from a seed, and the state of the generator afterwards."""
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transform(*inputs), torch.get_rng_state()


def assert_same(ours, theirs):
    """Equal in type and in every bit, whatever they are made of."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key in ours:
            assert_same(ours[key], theirs[key])
    elif isinstance(ours, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    elif isinstance(ours, torch.Tensor):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if ours.dtype.is_floating_point:
            assert torch.equal(ours.isnan(), theirs.isnan())
        assert torch.equal(
            torch.nan_to_num(ours.as_subclass(torch.Tensor)),
            torch.nan_to_num(theirs.as_subclass(torch.Tensor)),
        )
        for name in ("format", "canvas_size", "clamping_mode"):
            assert getattr(ours, name, None) == getattr(theirs, name, None)
    elif isinstance(ours, Image.Image):
        assert (ours.mode, ours.size) == (theirs.mode, theirs.size)
        assert ours.tobytes() == theirs.tobytes()
    else:
        assert ours == theirs


def check(ours, theirs, seed, *inputs):
    """Equal results and states; where torchvision refuses an input, so do we."""
    try:
        theirs_out, theirs_state = called(theirs, seed, *inputs)
    except (TypeError, ValueError, NotImplementedError) as error:
        with pytest.raises(type(error)):
            called(ours, seed, *inputs)
        return
    ours_out, ours_state = called(ours, seed, *inputs)
    assert_same(ours_out, theirs_out)
    assert torch.equal(ours_state, theirs_state)


def tensor_of(image, dtype):
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()
    return pixels if dtype == torch.uint8 else pixels.to(dtype) / 255


def name_of(case):
    """Without addresses of functions, which differ from process to process."""
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", str(case))


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


def sample_with_targets(image, box_format="XYXY", boxes=5, seed=0):
    """An image with boxes, masks, keypoints and things that are none of those."""
    rng = np.random.default_rng(seed)
    height, width = (
        (image.height, image.width) if isinstance(image, Image.Image) else image.shape[-2:]
    )
    places = np.sort(rng.uniform(0, 1, (boxes, 2, 2)), axis=1) * (width, height)
    corners = torch.tensor(places.reshape(boxes, 4), dtype=torch.float32)
    made = tv_tensors.BoundingBoxes(corners, format="XYXY", canvas_size=(height, width))
    points = torch.tensor(rng.uniform(0, 1, (boxes, 3, 2)) * (width, height), dtype=torch.float32)
    return {
        "image": image,
        "boxes": v2.functional.convert_bounding_box_format(made, new_format=box_format),
        "labels": torch.arange(boxes),
        "masks": tv_tensors.Mask(
            torch.from_numpy(rng.integers(0, 5, (boxes, height, width), dtype=np.uint8))
        ),
        "keypoints": tv_tensors.KeyPoints(points, canvas_size=(height, width)),
        "name": "a sample",
        "more": [1.5, torch.ones(3), (None, np.zeros(2).sum())],
    }


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


# Pipelines by chance: each entry makes ours and torchvision's alike.


def random_pipeline(rng, depth=0):
    """A pair of equal transforms: a single one, or several that are composed."""
    kinds = ["single"] * 4 + (
        ["Compose", "RandomApply", "RandomChoice", "RandomOrder"] if depth < 3 else []
    )
    kind = str(rng.choice(kinds)) if depth else "Compose"
    if kind == "single":
        inside = [case for case in CASES if case[0] not in ONLY_AT_THE_END]
        return both(*inside[rng.integers(len(inside))])
    parts = [random_pipeline(rng, depth + 1) for _ in range(rng.integers(1, 5))]
    arguments = {}
    if kind == "RandomApply":
        arguments["p"] = float(rng.uniform(0.2, 1))
    if kind == "RandomChoice" and rng.integers(2):
        arguments["p"] = rng.uniform(0.1, 1, len(parts)).tolist()
    ours, theirs = zip(*parts, strict=True)
    return getattr(T, kind)(list(ours), **arguments), getattr(v2, kind)(list(theirs), **arguments)


ONLY_AT_THE_END = (
    # what changes the type, the channels or the number of images; and what needs room
    *("ToImage", "PILToTensor", "ToPureTensor", "FiveCrop", "TenCrop", "Grayscale"),
    *("ElasticTransform", "GaussianBlur", "RandomCrop", "Pad", "JPEG"),
)


@pytest.mark.parametrize("number", range(30))
def test_random_pipelines(number):
    rng = np.random.default_rng(number)
    ours, theirs = random_pipeline(rng)
    image = make_image((36, 45), seed=number)
    for seed in range(4):
        check(ours, theirs, seed, image)
        check(ours, theirs, seed, tensor_of(image, torch.uint8))
        check(ours, theirs, seed, tensor_of(image, torch.float32))
        check(ours, theirs, seed, (image, 5))


def test_a_training_pipeline():
    def steps(library):
        return [
            library.RandomResizedCrop(24),
            library.RandomHorizontalFlip(),
            library.TrivialAugmentWide(),
            library.ToImage(),
            library.ToDtype(torch.float32, scale=True),
            library.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            library.RandomErasing(0.5),
        ]

    for seed in range(40):
        check(T.Compose(steps(T)), v2.Compose(steps(v2)), seed, make_image((40, 50)))
        check(T.Compose(steps(T)), v2.Compose(steps(v2)), seed, make_image((40, 50)), 3)


def test_a_detection_pipeline():
    def steps(library):
        return [
            library.RandomPhotometricDistort(),
            library.RandomZoomOut(fill={tv_tensors.Image: (123, 117, 104), "others": 0}),
            library.RandomIoUCrop(),
            library.RandomHorizontalFlip(),
            library.Resize((30, 30)),
            library.SanitizeBoundingBoxes(),
        ]

    for seed in range(20):
        image = tv_tensors.Image(tensor_of(make_image((40, 50)), torch.uint8))
        sample = sample_with_targets(image, seed=seed)
        target = {key: sample[key] for key in ("boxes", "labels", "masks")}
        check(T.Compose(steps(T)), v2.Compose(steps(v2)), seed, image, target)


def test_chances_are_compared_in_single_precision():
    """Where a drawn number equals p in float32, a comparison of doubles could differ."""
    from penstock.transforms.torch_draws import chance

    state = torch.get_rng_state()
    for seed in range(50):
        torch.manual_seed(seed)
        drawn = torch.rand(1)
        for p in (drawn.item(), math.nextafter(drawn.item(), 1), math.nextafter(drawn.item(), 0)):
            torch.manual_seed(seed)
            assert chance(p) == bool(drawn < p)
    torch.set_rng_state(state)


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


def test_erasing_warns_of_targets_that_stay():
    with pytest.warns(UserWarning, match="passing through inputs of type"):
        T.RandomErasing(1.0)(sample_with_targets(make_image((20, 30))))
