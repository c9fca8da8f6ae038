"""A call with a key gives what the loader gives for that seed, epoch and sample."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from penstock import Loader, TransformError, read_targets
from penstock import transforms as T
from strategies import make_image

NORMALIZE = [T.ToDtype("float32", scale=True), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)]

PIPELINES = {
    "crop": T.RandomResizedCrop(24),
    "flips": T.Compose([T.CenterCrop(30), T.RandomHorizontalFlip(), T.RandomVerticalFlip()]),
    "borders": T.Compose(
        [T.Pad((1, 2, 3, 4), (9, 8, 7)), T.RandomCrop(32, 3, pad_if_needed=True, fill=5)]
    ),
    "sizes": T.Compose([T.RandomResize(20, 60), T.RandomShortestSize([20, 30]), T.CenterCrop(25)]),
    "colours": T.Compose(
        [
            T.CenterCrop(32),
            T.ColorJitter(0.4, 0.4, 0.4, 0.2),
            T.RandomPhotometricDistort(),
            T.RandomChannelPermutation(),
            T.RandomEqualize(),
            T.RandomSolarize(100),
            T.RandomPosterize(3),
            T.RandomAdjustSharpness(2.0),
        ]
    ),
    "warps": T.Compose(
        [
            T.RandomAffine(20, (0.1, 0.2), (0.7, 1.3), 10, interpolation="bilinear", fill=30),
            T.RandomPerspective(p=0.7),
            T.RandomRotation(40, expand=True),
            T.Resize((40, 40)),
            T.ElasticTransform(sigma=2.0),
        ]
    ),
    "filters": T.Compose(
        [
            T.CenterCrop(33),
            T.GaussianBlur(5),
            T.GaussianNoise(),
            T.RandomErasing(0.8, value="random"),
        ]
    ),
    "policies": T.Compose(
        [
            T.CenterCrop(32),
            T.RandAugment(),
            T.AutoAugment(),
            T.TrivialAugmentWide(),
            T.AugMix(),
            T.RandAugment.from_timm("rand-m9-mstd0.5-inc1"),
            T.RandAugment(flavor="tpu"),
            T.PopulationBasedAugment(),
        ]
    ),
    "nested": T.Compose(
        [
            T.CenterCrop(30),
            T.RandomApply([T.ColorJitter(0.5), T.Compose([T.RandomInvert(), T.Grayscale(3)])], 0.6),
            T.RandomChoice([T.GaussianBlur(3), T.RandomRotation(20), T.Identity()], [1, 2, 1]),
            T.Compose([T.RandomOrder([T.RandomEqualize(), T.RandomAutocontrast()]), T.RGB()]),
        ]
    ),
    "training": T.Compose(
        [T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToImage(), *NORMALIZE]
    ),
    "erased at the end": T.Compose(
        [T.CenterCrop(24), *NORMALIZE, T.RandomErasing(0.9, value="random"), T.RandomErasing(0.9)]
    ),
    "half": T.Compose([T.RandomResizedCrop(20), T.ToDtype("float16", scale=True)]),
    "brain": T.Compose([T.RandomResizedCrop(20), T.ToDtype("bfloat16", scale=True)]),
    "old": T.Compose([T.RandomResizedCrop(20), T.ToTensor()]),
    "levels": T.Compose([T.CenterCrop(20), T.Normalize((0.5,), (0.2,), flavor="albumentations")]),
}


def files_of(folder):
    return sorted(folder.glob("*/*.jpg"))


def as_chw(result):
    """What a call gave, as the loader lays it out."""
    if isinstance(result, Image.Image):
        return np.asarray(result).transpose(2, 0, 1)
    if isinstance(result, np.ndarray):
        return result.transpose(2, 0, 1)
    return result


@pytest.mark.parametrize("name", PIPELINES)
def test_keyed_calls_give_the_loaders_images(folder, name):
    torch = pytest.importorskip("torch")
    transform = PIPELINES[name]
    loader = Loader(folder, transform=transform, seed=7, threads=1, output="torch")
    loader.set_epoch(3)
    loaded = [images[0] for images, _ in loader]
    for number, path in enumerate(files_of(folder)):
        image = Image.open(path).convert("RGB")
        called = transform(image, key=(7, 3, number))
        expected = loaded[number]

        if not isinstance(called, torch.Tensor):
            called = torch.from_numpy(as_chw(called).copy())
        assert torch.equal(called.as_subclass(torch.Tensor), expected)


@pytest.mark.parametrize("form", ["array", "tensor", "gray"])
def test_other_forms_of_an_image_give_the_same_pixels(form):
    torch = pytest.importorskip("torch")
    transform = T.Compose([T.RandomResizedCrop(12), T.RandAugment()])
    image = make_image((30, 40))
    if form == "gray":
        image = image.convert("L")
    expected = np.asarray(transform(image.convert("RGB"), key=(1, 2, 3)))
    if form == "gray":
        result = np.asarray(transform(image, key=(1, 2, 3)))
    elif form == "array":
        result = transform(np.asarray(image), key=(1, 2, 3))
    else:
        tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1)
        result = transform(tensor, key=(1, 2, 3)).permute(1, 2, 0).numpy()

    np.testing.assert_array_equal(result, expected)


def test_views_are_counted_as_the_loader_counts_them(folder):
    view = T.Compose([T.RandomResizedCrop(20), T.RandomHorizontalFlip()])
    transform = T.Compose(
        [T.RandomVerticalFlip(), T.MultiView([view, view, T.Resize((9, 9))]), T.RandomInvert()]
    )
    loader = Loader(folder, transform=transform, seed=5, threads=1, output="numpy")
    loaded = [[view[0] for view in views] for views, _ in loader]
    for number, path in enumerate(files_of(folder)):
        called = transform(Image.open(path).convert("RGB"), key=(5, 0, number))

        assert isinstance(called, list)
        for one, other in zip(called, loaded[number], strict=True):
            np.testing.assert_array_equal(as_chw(one), other)


def noisy(image, rng):
    pixels = np.asarray(image).astype(np.int64) + rng.integers(
        -20, 20, (image.height, image.width, 3)
    )
    return pixels.clip(0, 255).astype(np.uint8)


def test_functions_get_the_loaders_generator(folder):
    transform = T.Compose([T.RandomResizedCrop(16), noisy, T.RandomHorizontalFlip()])
    loader = Loader(folder, transform=transform, seed=5, threads=1, output="numpy")
    loaded = [images[0] for images, _ in loader]
    for number, path in enumerate(files_of(folder)):
        called = transform(Image.open(path).convert("RGB"), key=(5, 0, number))

        np.testing.assert_array_equal(as_chw(called), loaded[number])


def test_targets_follow_as_in_the_loader(folder):
    """Boxes, keypoints and labels of objects that are left, with whatever drops some of them."""
    torch = pytest.importorskip("torch")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    paths = files_of(folder)
    sizes = [Image.open(path).size for path in paths]
    rng = np.random.default_rng(0)
    boxes, keypoints = [], []
    for width, height in sizes:
        corners = np.sort(rng.uniform(0, 1, (4, 2, 2)), axis=1) * (width, height)
        boxes.append(corners.reshape(4, 4).astype(np.float32))
        keypoints.append((rng.uniform(0, 1, (4, 3, 2)) * (width, height)).astype(np.float32))
    labels = np.arange(4 * len(paths))
    targets = read_targets(
        np.arange(len(paths) + 1) * 4,
        boxes=np.concatenate(boxes),
        labels=labels,
        keypoints=np.concatenate(keypoints),
    )
    transform = T.Compose(
        [
            T.RandomZoomOut(),
            T.RandomIoUCrop(),
            T.RandomHorizontalFlip(),
            T.RandomAffine(10),
            T.Resize((30, 40)),
            T.SanitizeBoundingBoxes(),
            T.ConvertBoundingBoxFormat("XYWH"),
        ]
    )
    loader = Loader(folder, transform=transform, targets=targets, seed=2, threads=1, output="torch")
    loaded = [(images[0], found[0]) for images, found in loader]
    dropped = 0
    for number, path in enumerate(paths):
        width, height = sizes[number]
        sample = {
            "image": Image.open(path).convert("RGB"),
            "boxes": tv_tensors.BoundingBoxes(
                torch.from_numpy(boxes[number]), format="XYXY", canvas_size=(height, width)
            ),
            "labels": torch.from_numpy(labels[4 * number : 4 * number + 4]),
            "keypoints": tv_tensors.KeyPoints(
                torch.from_numpy(keypoints[number]), canvas_size=(height, width)
            ),
        }
        called = transform(sample, key=(2, 0, number))
        image, expected = loaded[number]

        np.testing.assert_array_equal(as_chw(called["image"]), image.numpy())
        assert called["boxes"].format.name == "XYWH"
        assert called["boxes"].canvas_size == (30, 40)
        assert torch.equal(called["boxes"].as_subclass(torch.Tensor), expected["boxes"])
        assert torch.equal(called["labels"], expected["labels"])
        assert torch.equal(
            called["keypoints"].as_subclass(torch.Tensor), expected["keypoints"][..., :2]
        )
        dropped += 4 - len(called["labels"])
    assert dropped


def test_masks_follow_the_nearest_pixels():
    """A mask that is the image's own red channel stays it, where pixels are only moved."""
    torch = pytest.importorskip("torch")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    image = make_image((40, 50))
    mask = tv_tensors.Mask(torch.from_numpy(np.array(image)).permute(2, 0, 1)[:2])
    transform = T.Compose(
        [
            T.RandomCrop(45, pad_if_needed=True),
            T.RandomHorizontalFlip(),
            T.RandomAffine(30, scale=(0.5, 1.5)),
            T.Resize((31, 23), "nearest"),
        ]
    )
    for number in range(10):
        moved, moved_mask = transform(image, mask, key=(0, 0, number))

        assert isinstance(moved_mask, tv_tensors.Mask)
        np.testing.assert_array_equal(as_chw(moved)[:2], moved_mask.numpy())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda image: T.Resize(9)(image, key=5), "key must be three whole numbers"),
        (lambda image: T.Resize(9)(image, key=(1, 2)), "key must be three whole numbers"),
        (lambda image: T.Resize(9)(image, key=(1, 2, -3)), "key must be three whole numbers"),
        (lambda image: T.Resize(9)(image, image, key=(1, 2, 3)), "needs one image in the sample"),
        (lambda _: T.Resize(9)("text", key=(1, 2, 3)), "needs one image in the sample, got 0"),
        (lambda _: T.Resize(9)(np.zeros((4, 4)), key=(1, 2, 3)), "to RGB images of 8 bits"),
        (lambda image: T.FiveCrop(9)(image, key=(1, 2, 3)), "can be called, but not loaded"),
        (
            lambda image: T.Compose([T.ToImage(), T.Resize(9)])(image, key=(1, 2, 3)),
            "comes after ToImage",
        ),
        (
            lambda image: T.Compose([T.ToTensor(), T.Resize(9)])(image, key=(1, 2, 3)),
            "which ends the work on pixels",
        ),
        (
            lambda image: T.Compose([T.ToTensor(), T.RandomErasing(), T.Normalize([0.5], [1])])(
                image, key=(1, 2, 3)
            ),
            "comes after RandomErasing",
        ),
        (lambda image: T.RandomIoUCrop()(image, key=(1, 2, 3)), "needs boxes"),
        (lambda image: T.RandomCrop(99)(image, key=(1, 2, 3)), "sample 3 is 20x30 here"),
        (lambda image: T.MixUp(num_classes=3)(image, key=(1, 2, 3)), "mixes a batch"),
        (lambda _: T.Resize(9)(), "called without an input"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(TransformError, match=message):
        make(make_image((20, 30)))


@pytest.mark.parametrize(
    "transform",
    [
        T.FixedSizeCrop(20),
        T.PopulationBasedAugment(),
        T.RandAugment.from_timm("rand-m9-mstd0.5-inc1"),
        T.RandAugment(flavor="tpu"),
        T.AutoAugment(flavor="torchvision_v1"),
        T.TrivialAugmentWide(flavor="torchvision_v1"),
    ],
    ids=repr,
)
def test_what_torchvision_has_not_draws_a_key(transform):
    torch = pytest.importorskip("torch")
    image = make_image((24, 30))
    torch.manual_seed(4)
    called = transform(image)
    after = torch.get_rng_state()
    torch.manual_seed(4)
    key = int(torch.randint(0, 2**63 - 1, ()))

    assert called == transform(image, key=(key, 0, 0))
    assert torch.equal(torch.get_rng_state(), after)


WITHOUT_TORCH = """
import random, sys
sys.modules["torch"] = None
sys.modules["torchvision"] = None
import numpy as np
from PIL import Image
from penstock import transforms as T

pixels = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
image = Image.fromarray(pixels)
transform = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip(), T.ColorJitter(0.4)])
random.seed(5)
drawn = transform(image)
random.seed(5)
key = random.getrandbits(63)
assert drawn == transform(image, key=(key, 0, 0))
random.seed(5)
assert np.array_equal(transform(pixels), np.asarray(drawn))
state = random.getstate()
assert T.Resize((8, 9))(image).size == (9, 8)
assert T.Resize((8, 9))({"a": [image, 3]})["a"][0].size == (9, 8)
assert T.Pad(2)((image, "label"))[0].size == (44, 34)
assert random.getstate() == state, "nothing was drawn"
values = T.Compose([T.CenterCrop(8), T.ToDtype("float32", scale=True)])(image, key=(1, 2, 3))
assert isinstance(values, np.ndarray) and values.shape == (3, 8, 8) and values.max() <= 1
views = T.MultiView([T.RandomHorizontalFlip()] * 2)(image)
assert len(views) == 2
assert "torch" not in {name for name, module in sys.modules.items() if module is not None}
print("good")
"""


def test_without_torch():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=False
    )

    assert done.stdout == "good\n", done.stderr
