"""Other libraries' transforms given to a Loader: ours in their place, or a refusal by name."""

import re

import numpy as np
import pytest

import penstock
from penstock import transforms as T
from penstock.errors import TransformError, TranslationError
from penstock.translation.transforms.translate import translate_batch

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pytest.fixture(scope="module")
def tv(torchvision):
    from types import SimpleNamespace

    import torch
    from torchvision import transforms as v1
    from torchvision.transforms import v2

    return SimpleNamespace(torch=torch, v1=v1, v2=v2)


def mirror(image):
    return image.transpose(0)


def images_of(folder, transform, **options):
    loader = penstock.Loader(
        folder, transform=transform, **{"batch_size": 8, "threads": 2, "output": "numpy", **options}
    )
    return loader, np.concatenate([images for images, _ in loader])


# Nothing in them is drawn, so that both give the same.
WHOLE = {
    "older": lambda tv: tv.v1.Compose(
        [tv.v1.Resize(40), tv.v1.CenterCrop(32), tv.v1.ToTensor(), tv.v1.Normalize(MEAN, STD)]
    ),
    "newer": lambda tv: tv.v2.Compose(
        [
            tv.v2.Resize((40, 44)),
            tv.v2.RandomHorizontalFlip(1.0),
            tv.v2.ToImage(),
            tv.v2.CenterCrop(32),
            tv.v2.ToDtype(tv.torch.float32, scale=True),
            tv.v2.Normalize(MEAN, STD),
        ]
    ),
    "nested": lambda tv: tv.v1.Compose(
        [tv.v1.Compose([]), tv.v1.Compose([tv.v2.Resize((9, 8)), mirror]), tv.v1.PILToTensor()]
    ),
    "modules": lambda tv: tv.torch.nn.Sequential(
        tv.v2.Resize((9, 8)), tv.torch.nn.Identity(), tv.v2.RandomVerticalFlip(1.0), tv.v2.ToImage()
    ),
    "borders, newer": lambda tv: tv.v2.Compose(
        [tv.v2.Resize((20, 24)), tv.v2.RandomCrop((26, 28), (1, 2, 3, 4)), tv.v2.ToImage()]
    ),
    "borders, older": lambda tv: tv.v1.Compose(
        [tv.v1.Resize((20, 24)), tv.v1.RandomCrop((24, 26), (1, 2)), tv.v1.PILToTensor()]
    ),
    "functions": lambda tv: tv.v1.Compose(
        [tv.v1.Lambda(mirror), tv.v2.Lambda(mirror), mirror, tv.v1.Resize((9, 8)), tv.v1.ToTensor()]
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_pipeline_is_translated(folder, tv, name):
    transform = WHOLE[name](tv)
    loader, ours = images_of(folder, transform)

    assert loader.translation.lines
    assert not loader.translation.refusals
    for index, image in enumerate(ours):
        assert np.array_equal(image, np.asarray(transform(opened(folder, index)))), index


def opened(folder, index):
    from PIL import Image

    return Image.open(sorted(folder.glob("*/*.*"))[index]).convert("RGB")


@pytest.mark.parametrize("name", ["ImageClassification", "ObjectDetection", "SemanticSegmentation"])
def test_what_weights_bring_along(folder, tv, name):
    from torchvision.transforms import _presets

    given = {"ImageClassification": {"crop_size": 20}, "SemanticSegmentation": {"resize_size": 24}}
    transform = getattr(_presets, name)(**given.get(name, {}))
    files = sorted(map(str, folder.glob("*/*.*")))[:1]
    _, (ours,) = images_of(files, transform, labels=[0])

    assert np.array_equal(ours, np.asarray(transform(opened(folder, 0))))


def test_weights_as_they_are_given_out(folder, tv):
    from torchvision.models import ResNet50_Weights

    preset = ResNet50_Weights.DEFAULT.transforms()
    loader, _ = images_of(sorted(map(str, folder.glob("*/*.*")))[:1], preset, labels=[0])

    assert [line.ours for line in loader.translation.lines] == [
        "Resize, CenterCrop, ToTensor, Normalize"
    ]


@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_one_of_theirs_among_ours_draws_from_the_seed(folder, tv, generation):
    """It ran in Python and drew from a generator of torch's."""
    theirs = getattr(tv, generation).RandomResizedCrop(24)
    mixed = T.Compose([theirs, T.RandomHorizontalFlip(), T.Normalize(MEAN, STD)])
    ours = T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.Normalize(MEAN, STD)])
    loader, images = images_of(folder, mixed, seed=3)

    assert all(segment.python is None for segment in loader.plan.segments)
    assert np.array_equal(images, images_of(folder, ours, seed=3)[1])
    assert not np.array_equal(images, images_of(folder, mixed, seed=4)[1])
    assert "RandomResizedCrop(size=(24, 24)" in str(loader.translation)


def test_ours_alone_are_left_alone(folder):
    ours = T.Compose([T.CenterCrop(8), mirror])
    loader, _ = images_of(folder, ours)

    assert loader.translation.lines == ()
    assert str(loader.translation) == ""


REFUSED = {
    "computed on tensors": (
        lambda tv: tv.v2.Compose([tv.v2.ToImage(), tv.v2.RandomResizedCrop(8)]),
        "RandomResizedCrop.*: it meets a tensor here.* Put ToImage.. or PILToTensor.. after it",
    ),
    "ours after their tensor": (
        lambda tv: T.Compose([tv.v2.ToImage(), T.Resize(8)]),
        "Resize.*: it meets a uint8 tensor",
    ),
    "theirs after our tensor": (
        lambda tv: T.Compose([T.ToImage(), tv.v2.Resize(8)]),
        "Resize.*: it meets a tensor here",
    ),
    "a function after the tensor": (
        lambda tv: tv.v2.Compose([tv.v2.ToImage(), tv.v2.Lambda(mirror)]),
        "mirror: it meets a uint8 tensor",
    ),
    "not to the byte": (
        lambda tv: T.Compose([tv.v1.ElasticTransform(), T.CenterCrop(8)]),
        r"ElasticTransform.*: .* write penstock\.transforms\.ElasticTransform in its place",
    ),
    "none of ours": (
        lambda tv: T.Compose([tv.v1.FiveCrop(8)]),
        "FiveCrop.*: there is none of ours. As it is, torchvision's would run in Python",
    ),
    "a function of theirs": (
        lambda tv: T.Compose([tv.v2.functional.hflip]),
        "horizontal_flip: there is none of ours.* call it in a function of your own",
    ),
    "a step by hand": (
        lambda tv: T.PythonStep(tv.v1.FiveCrop(8)),
        "FiveCrop.*: there is none of ours",
    ),
    "a part of one": (
        lambda tv: T.Compose([tv.v2.RandomCrop(8).forward]),
        "Transform.forward: there is none of ours",
    ),
    "a module": (
        lambda tv: tv.torch.nn.Sequential(tv.torch.nn.Dropout()),
        "Dropout.*: there is no",
    ),
    "some types only": (
        lambda tv: tv.v2.Compose([tv.v2.Lambda(mirror, dict)]),
        "Lambda.*: .* in a function of your own",
    ),
    "one channel": (
        lambda tv: tv.v1.Compose([tv.v1.Grayscale(), tv.v1.ToTensor()]),
        "images end with one channel, and the loader's have three",
    ),
    "a type that Pillow images are not given": (
        lambda tv: tv.v2.Compose([tv.v2.CenterCrop(8), tv.v2.ToDtype(tv.torch.float32)]),
        "ToDtype.*: it meets a Pillow image, which torchvision leaves as it is, without float32",
    ),
    "batches": (
        lambda tv: tv.v2.Compose([tv.v2.MixUp(num_classes=3)]),
        "MixUp.*: it works on whole batches. Give it as Loader.batch_transform",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_by_name(folder, tv, name):
    make, message = REFUSED[name]
    with pytest.raises(TranslationError, match=message) as raised:
        penstock.Loader(folder, transform=make(tv))
    assert "strict" not in str(raised.value)
    assert len(raised.value.reasons) == 1


@pytest.mark.parametrize("compose", ["v1", "v2", "nn"])
def test_their_compositions_of_ours_and_of_functions(folder, tv, compose):
    """Nothing in them is a library's, but the composition would have been called in Python."""

    def brighten(image, rng):
        return image.point([min(level + int(rng.integers(9)), 255) for level in range(768)])

    steps = [T.CenterCrop(8), brighten]
    if compose == "v1":
        theirs = tv.v1.Compose([tv.v1.Compose([]), *steps])
    elif compose == "v2":
        theirs = tv.v1.Compose([tv.v2.Identity(), tv.v1.Compose(steps)])
    else:
        theirs = T.Compose([tv.torch.nn.Sequential(), *steps])
    loader, images = images_of(folder, theirs, seed=5)

    assert [segment.python.op.name for segment in loader.plan.segments[:-1]] == [
        brighten.__qualname__
    ]
    np.testing.assert_array_equal(images, images_of(folder, T.Compose(steps), seed=5)[1])


def test_an_empty_composition_of_theirs_changes_nothing(folder, tv):
    files = sorted(map(str, folder.glob("*/*.*")))[:1]
    loader, (image,) = images_of(files, tv.v1.Compose([]), labels=[0], layout="hwc")

    assert loader.plan.segments[0].python is None
    np.testing.assert_array_equal(image, np.asarray(opened(folder, 0)))


def test_all_reasons_are_given(folder, tv):
    transform = tv.v1.Compose([tv.v1.FiveCrop(8), tv.v1.GaussianBlur(3), tv.v1.TenCrop(8)])
    with pytest.raises(TranslationError) as raised:
        penstock.Loader(folder, transform=transform)
    assert [reason.split("(")[0] for reason in raised.value.reasons] == ["FiveCrop", "TenCrop"]


@pytest.mark.parametrize("container", [T.RandomApply, T.RandomChoice, T.RandomOrder])
def test_one_of_theirs_in_a_container_of_ours_is_refused_by_name(folder, tv, container):
    name = container.__name__
    message = f"{name}: RandomCrop is torchvision's. Write penstock.transforms.RandomCrop"
    with pytest.raises(TransformError, match=re.escape(message)):
        penstock.Loader(folder, transform=container([T.RandomVerticalFlip(), tv.v2.RandomCrop(8)]))


def test_their_containers_are_translated(folder, tv):
    v2 = tv.v2
    flips = [v2.RandomHorizontalFlip(1.0), v2.Identity()]
    transform = v2.Compose([v2.CenterCrop(16), v2.RandomApply(flips, p=1.0), v2.PILToTensor()])
    _, ours = images_of(folder, transform)

    assert np.array_equal(ours[0], np.asarray(transform(opened(folder, 0))))


def test_boxes_follow_what_is_translated(folder, tv):
    """Their box transforms are known to a Loader, whatever its data set holds."""
    files = sorted(map(str, folder.glob("*/*.*")))[:4]
    boxes = T.Targets(
        offsets=np.arange(5), boxes=np.tile(np.float32([[1, 2, 9, 8]]), (4, 1)), labels=np.ones(4)
    )
    v2 = tv.v2
    theirs = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.SanitizeBoundingBoxes(), v2.ToImage()])
    ours = T.Compose([T.RandomHorizontalFlip(1.0), T.SanitizeBoundingBoxes()])
    got = [
        target["boxes"]
        for transform in (theirs, ours)
        for _, targets in penstock.Loader(
            files, labels=[0] * 4, targets=boxes, transform=transform, output="numpy"
        )
        for target in targets
    ]

    np.testing.assert_array_equal(got[:4], got[4:])


def test_albumentations_is_translated(folder):
    """It is called with arrays, by `image=`, which a step in Python would not be."""
    A = pytest.importorskip("albumentations")  # noqa: N806  as its users call it
    steps = [A.CenterCrop(16, 16), A.HorizontalFlip(p=1.0), A.ToGray(p=1.0), A.Normalize()]
    transform = A.Compose([*steps, A.ToTensorV2()])
    loader, ours = images_of(folder, transform)

    (line,) = loader.translation.python_steps
    assert line.theirs.startswith("ToGray")
    for index, image in enumerate(ours):
        expected = transform(image=np.array(opened(folder, index)))["image"]
        assert np.array_equal(image, expected.numpy())


def test_albumentations_seed_is_the_loaders(folder):
    A = pytest.importorskip("albumentations")  # noqa: N806
    tied = A.Compose([A.HorizontalFlip(), A.VerticalFlip()], seed=5)
    with pytest.raises(TranslationError, match=r"Leave seed out, and give it .* to the Loader\.$"):
        penstock.Loader(folder, transform=tied)


def test_nothing_false_is_said_behind_a_step_that_is_not_known(folder, tv):
    """What kornia's or another's step makes of an image is not known, so nothing is said of it."""

    class ToFloat:
        def __call__(self, image):
            return image

    ToFloat.__module__ = "kornia.utils"
    transform = tv.v1.Compose([ToFloat(), tv.v1.Normalize(MEAN, STD)])
    with pytest.raises(TranslationError) as raised:
        penstock.Loader(folder, transform=transform)
    (reason,) = raised.value.reasons
    assert "kornia's would run in Python" in reason


def test_transforms_of_batches(folder, tv):
    """Torchvision's as `batch_transform`; the draws are the loader's, so ours give the same."""
    v2 = tv.v2
    theirs = v2.RandomChoice([v2.CutMix(num_classes=3), v2.MixUp(alpha=0.4, num_classes=3)], [1, 3])
    ours = T.RandomChoice([T.CutMix(num_classes=3), T.MixUp(alpha=0.4, num_classes=3)], [1, 3])
    end = T.Compose([T.CenterCrop(16), T.ToTensor()])
    common = {"transform": end, "batch_size": 4, "drop_last": True, "output": "numpy"}
    first = list(penstock.Loader(folder, batch_transform=theirs, **common))
    second = list(penstock.Loader(folder, batch_transform=ours, **common))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_timms_mixup():
    data = pytest.importorskip("timm.data", reason="timm is not installed: see requirements/")
    theirs = data.Mixup(0.3, 0.8, prob=0.7, switch_prob=0.4, mode="elem", num_classes=9)

    assert translate_batch(theirs) == T.MixUp.timm(
        0.3, 0.8, prob=0.7, switch_prob=0.4, mode="elem", num_classes=9
    )
    theirs.mixup_enabled = False
    with pytest.raises(TransformError, match="Mixup is switched off"):
        translate_batch(theirs)


def test_views_are_translated_one_by_one(folder, tv):
    theirs = [
        tv.v2.Compose([tv.v2.Resize((20, 20)), tv.v1.ToTensor(), tv.v2.Normalize(MEAN, STD)]),
        tv.v1.Compose([tv.v1.CenterCrop(16), tv.v1.ToTensor(), tv.v1.Normalize(MEAN, STD)]),
    ]
    loader = penstock.Loader(folder, transform=T.MultiView(theirs), batch_size=5, output="numpy")

    views, _ = next(iter(loader))

    for view, transform in zip(views, theirs, strict=True):
        _, images = images_of(folder, transform, batch_size=5)
        np.testing.assert_array_equal(view, images[:5])
    assert "Resize" in str(loader.translation)


def test_a_refused_view_is_named(folder, tv):
    views = T.MultiView([T.CenterCrop(8), tv.v2.FiveCrop(8)])

    with pytest.raises(TranslationError, match=r"view 2 of MultiView: .*FiveCrop"):
        penstock.Loader(folder, transform=views)
    with pytest.raises(TranslationError, match=r"RandomCrop: stands beside MultiView.*every view"):
        penstock.Loader(
            folder, transform=T.Compose([tv.v2.RandomCrop(9), T.MultiView([T.CenterCrop(8)])])
        )
