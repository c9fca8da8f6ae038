"""Lists written for torchvision, with `v2.` replaced: the same results, or a refusal."""

import re

import numpy as np
import pytest

import penstock
from penstock import transforms as T
from penstock.errors import TransformError
from penstock.planner.plan import Plan, Segment, as_written
from penstock.reference.pipeline import run_reference
from penstock.transforms.values import FinalSpec
from strategies import make_image

IMAGE = make_image((21, 30))
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def brighten(image):
    return image.point(lambda level: min(level + 30, 255))


# Nothing in them is drawn, so that both give the same.
LISTS = {
    "bytes": lambda t, _: [t.Resize((9, 12)), t.ToImage(), t.ToPureTensor()],
    "older bytes": lambda t, _: [t.CenterCrop(15), t.PILToTensor()],
    "newer numbers": lambda t, torch: [
        t.RGB(),
        t.Resize((9, 12)),
        t.ToImage(),
        t.ToDtype(torch.uint8, scale=True),
        t.ToDtype(torch.float32, scale=True),
        t.Normalize(MEAN, STD),
        t.ToPureTensor(),
    ],
    "older numbers": lambda t, _: [t.Identity(), t.Resize((9, 12)), t.ToTensor(), t.ToImage()],
    "converted": lambda t, torch: [t.PILToTensor(), t.ConvertImageDtype(torch.float32)],
    "converted by default": lambda t, _: [t.ToImage(), t.ConvertImageDtype()],
    "half": lambda t, torch: [t.ToImage(), t.ConvertImageDtype(torch.float16)],
    "a function": lambda t, _: [t.Lambda(brighten), t.RandomHorizontalFlip(1.0), t.PILToTensor()],
    "there and back": lambda t, _: [t.ToImage(), t.ToPILImage(), t.Resize((9, 12)), t.ToImage()],
    "moves behind the tensor": lambda t, _: [
        t.ToImage(),
        t.RandomHorizontalFlip(1.0),
        t.Pad(2, fill=7),
        t.CenterCrop((11, 40)),
    ],
    "one of one": lambda t, _: [
        t.RandomChoice([t.Identity()]),
        t.RandomApply([t.RandomVerticalFlip(1.0), t.Identity()], p=1.0),
        t.PILToTensor(),
    ],
}


@pytest.mark.filterwarnings("ignore:The transform `ToTensor:UserWarning")
@pytest.mark.parametrize("name", LISTS)
def test_a_pasted_list_gives_what_torchvision_gives(torchvision, name):
    import torch
    from torchvision.transforms import v2

    expected = v2.Compose(LISTS[name](v2, torch))(IMAGE)
    plan = as_written(T.Compose(LISTS[name](T, torch)))
    ours = run_reference(plan, IMAGE, seed=0, epoch=0, sample=0)

    assert ours.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(ours, np.asarray(expected))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            [T.ToImage(), T.RandomResizedCrop(9)],
            "RandomResizedCrop (step 2): comes after ToImage (step 1), so torchvision computes",
        ),
        ([T.PILToTensor(), T.ColorJitter(0.4)], "Put it before PILToTensor (step 1)"),
        ([T.ToImage(), T.Pad(3, fill=0.5)], "Pad (step 2): comes after ToImage"),
        ([T.ToImage(), brighten], "brighten (step 2): comes after ToImage (step 1), so in torch"),
        ([T.ToImage(), T.Lambda(brighten)], "here it is given a Pillow image"),
        ([T.ToImage(), T.ToTensor()], "ToTensor (step 2): comes after ToImage (step 1), which has"),
        (
            [T.ToDtype("float32", scale=True), T.ToImage()],
            "ToImage (step 2): comes after ToDtype (step 1), which in torchvision has no effect",
        ),
        ([T.ToTensor(), T.ToPILImage()], "ToPILImage (step 2): comes after ToTensor (step 1)"),
        ([T.ToImage(), T.RandomErasing(value="random")], "rounds otherwise"),
    ],
)
def test_an_order_with_another_result_is_refused(steps, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        as_written(T.Compose(steps))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: as_written(T.ToPILImage("L")), "images of the loader are RGB, mode is 'L'"),
        (lambda: as_written(T.Lambda(brighten, int)), "types are given (int)"),
        (lambda: T.Lambda(3), "3 is not a transform"),
        (lambda: as_written(T.RandomApply([T.ToImage()])), "ToImage ends a pipeline. Put it after"),
        (lambda: T.RandomChoice([]), "RandomChoice: the list is empty"),
        (lambda: T.RandomOrder("flip"), "must be a list of transforms"),
    ],
)
def test_arguments_that_are_refused(make, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    "nothing",
    [
        T.Compose([]),
        T.Compose([T.Compose([]), T.Compose([T.Compose([])])]),
        T.Compose([T.Identity(), T.RGB(), T.ToImage(), T.ToPureTensor()]),
        T.ToDtype("uint8"),
    ],
    ids=repr,
)
def test_what_changes_nothing_leaves_no_step(nothing):
    assert as_written(nothing) == Plan((Segment(()),), FinalSpec())


def test_an_empty_compose_is_a_loaders_identity(folder):
    common = {"batch_size": 2, "output": "numpy"}
    some = sorted(folder.rglob("*.jpg"))[:1]
    plain = next(iter(penstock.Loader(some, labels=[0], **common)))[0]
    empty = next(iter(penstock.Loader(some, labels=[0], transform=T.Compose([]), **common)))[0]

    np.testing.assert_array_equal(empty, plain)


@pytest.mark.parametrize(
    "nothing",
    [T.RandomApply([], p=1.0), T.RandomOrder([]), T.RandomChoice([T.Compose([])])],
    ids=repr,
)
def test_empty_containers_change_nothing(nothing):
    ours = run_reference(as_written(nothing), IMAGE, seed=0, epoch=0, sample=0, layout="hwc")

    np.testing.assert_array_equal(ours, np.asarray(IMAGE))


def test_how_they_print():
    steps = [T.ToImage(), T.ToPILImage(), T.ConvertImageDtype("float16"), T.Compose([])]

    assert list(map(repr, steps)) == [
        "ToImage()",
        "ToPILImage()",
        "ConvertImageDtype(dtype='float16')",
        "Compose([])",
    ]
    assert "brighten" in repr(T.Lambda(brighten))


def test_only_public_names_are_listed():
    assert dir(T) == sorted(T.__all__)
    assert "Resize" in dir(T)
    assert "resize" not in dir(T)
