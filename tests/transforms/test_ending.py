"""ToImage, ToDtype and Normalize in one pass: as one by one, and as torchvision's."""

import pickle

import numpy as np
import pytest
from PIL import Image

from penstock import transforms as T
from penstock.transforms import ending

torch = pytest.importorskip("torch", reason="torch is not installed")

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
NUMBERS = [IMAGENET, ([0.5] * 3, [0.5] * 3), ([0.5], [0.25])]
SIZES = [(1, 1), (7, 5), (64, 64), (65, 130), (300, 2)]


def picture(size, mode="RGB"):
    rng = np.random.default_rng(0)
    return Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)).convert(mode)


def make(library, mean, std):
    return library.Compose(
        [
            library.ToImage(),
            library.ToDtype(torch.float32, scale=True),
            library.Normalize(mean, std),
        ]
    )


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_it_is_torchvisions(numbers, torchvision):
    from torchvision.transforms import v2

    ours, theirs = make(T, *numbers), make(v2, *numbers)
    for size in SIZES:
        image = picture(size)
        got, expected = ours(image), theirs(image)

        assert torch.equal(got, expected)
        assert type(got) is type(expected)
        if min(size) > 1:  # else strides have no meaning
            assert got.stride() == expected.stride()


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_it_is_the_same_one_by_one(numbers):
    for mode in ("RGB", "L"):
        if mode == "L" and len(numbers[0]) == 3:
            continue
        image = picture((20, 30), mode)
        whole = make(T, *numbers)
        stepwise = image
        for step in whole.transforms:
            stepwise = step(stepwise)
        assert torch.equal(whole(image), stepwise)


@pytest.mark.parametrize(
    "last",
    [
        [T.ToImage(), T.ToDtype(torch.float32), T.Normalize(*IMAGENET)],
        [T.ToImage(), T.ToDtype(torch.float64, scale=True), T.Normalize(*IMAGENET)],
        [T.ToImage(), T.ToDtype({"others": torch.float32}, scale=True), T.Normalize(*IMAGENET)],
        [T.ToImage(), T.Normalize(*IMAGENET)],
        [T.ToImage(), T.ToDtype(torch.float32, scale=True)],
        [],
    ],
    ids=str,
)
def test_other_ends_are_done_step_by_step(last):
    assert ending.find_ending(last) is None


def test_what_comes_beside_an_image_is_passed_on():
    """Then the steps are called one by one, as they know what to do with each value."""
    image, label = make(T, *IMAGENET)(picture((5, 6)), 3)
    assert label == 3
    assert torch.equal(image, make(T, *IMAGENET)(picture((5, 6))))


def test_a_list_with_it_can_be_carried_elsewhere():
    whole = make(T, *IMAGENET)
    other = pickle.loads(pickle.dumps(whole))  # noqa: S301  our own bytes
    assert other == whole
    assert torch.equal(other(picture((9, 8))), whole(picture((9, 8))))
