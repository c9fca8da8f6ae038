"""The same bytes as torchvision v2 on Pillow images, for the same drawn parameters."""

import warnings

import numpy as np
import pytest
from PIL import Image

from penstock import Loader
from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.reference.pipeline import run_moves, run_reference
from penstock.rng import Draws
from strategies import make_image

SIZES = [(1, 1), (1, 9), (17, 3), (20, 20), (33, 50), (50, 33), (7, 101)]
MODES = ["nearest", "nearest-exact", "bilinear", "bicubic", "box", "hamming", "lanczos"]
PADDING_MODES = ["constant", "edge", "reflect", "symmetric"]


@pytest.fixture(scope="module")
def v2(torchvision):
    from torchvision.transforms import v2

    return v2


def ours(transform, image, sample=0):
    return run_reference(as_written(transform), image, seed=1, epoch=0, sample=sample, layout="hwc")


def moves_of(op, image, sample):
    """What was drawn for one sample, as a dictionary of each move's numbers."""
    draws = Draws(1, 0, np.array([sample]), 0)
    moves = op.sample(draws, Sizes(np.array([image.height]), np.array([image.width])))
    return moves, [
        {
            name: int(getattr(move, name)[0])
            for name in move.__slots__
            if isinstance(getattr(move, name), np.ndarray)
        }
        for move in moves
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "arguments",
    [
        {"size": 5},
        {"size": [7]},
        {"size": (11, 4)},
        {"size": (33, 50)},
        {"size": 13, "max_size": 20},
        {"size": 3, "max_size": 100},
        {"size": None, "max_size": 101},
    ],
    ids=str,
)
def test_resize(v2, size, arguments):
    image = make_image(size)
    expected = np.asarray(v2.Resize(**arguments)(image))

    np.testing.assert_array_equal(ours(T.Resize(**arguments), image), expected)


def test_resize_rounds_sides_as_torchvision_does(v2):
    """The division is in floating point and then cut, which integer arithmetic would get wrong."""
    from torchvision.transforms.v2.functional._geometry import _compute_resized_output_size

    rng = np.random.default_rng(0)
    sizes = Sizes(rng.integers(50, 5000, 3000), rng.integers(50, 5000, 3000))
    draws = Draws(0, 0, np.arange(len(sizes)), 0)
    for size, max_size in [(224, None), (256, None), (800, 1333), (None, 512)]:
        (move,) = T.Resize(size, max_size=max_size).sample(draws, sizes)
        for row in range(len(sizes)):
            expected = _compute_resized_output_size(
                (sizes[row].height, sizes[row].width), [size] if size else None, max_size
            )
            assert [move.height[row], move.width[row]] == expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("out", [(8, 61), (90, 20)])
def test_interpolation_modes(v2, mode, out):
    image = make_image((40, 30))
    expected = np.asarray(v2.Resize(out, interpolation=mode)(image))

    for spelling in (mode, T.InterpolationMode(mode), v2.InterpolationMode(mode)):
        np.testing.assert_array_equal(ours(T.Resize(out, spelling), image), expected)


@pytest.mark.parametrize("size", SIZES)
def test_center_crop(v2, size):
    image = make_image(size)
    for crop in [1, 4, 5, [6], (9, 9), (18, 2), (3, 40), (51, 102)]:
        expected = np.asarray(v2.CenterCrop(crop)(image))
        np.testing.assert_array_equal(ours(T.CenterCrop(crop), image), expected)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", PADDING_MODES)
@pytest.mark.parametrize("fill", [0, 7.9, -4, 300, (1, 2, 3), [9.5], None], ids=str)
def test_pad(v2, size, mode, fill):
    image = make_image(size)
    for padding in [0, 2, [1], (3, 1), [1, 0, 2, 4]]:
        expected = np.asarray(v2.Pad(padding, fill=fill, padding_mode=mode)(image))
        np.testing.assert_array_equal(ours(T.Pad(padding, fill, mode), image), expected)


@pytest.mark.parametrize("mode", PADDING_MODES)
def test_negative_padding_cuts(v2, mode):
    image = make_image((20, 33))
    for padding in [-3, (-2, 5), (4, -6, -7, 1)]:
        expected = np.asarray(v2.Pad(padding, fill=9, padding_mode=mode)(image))
        np.testing.assert_array_equal(ours(T.Pad(padding, 9, mode), image), expected)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", PADDING_MODES)
def test_random_crop_with_the_same_place(v2, size, mode):
    image = make_image(size)
    arguments = {"padding": (3, 1), "pad_if_needed": True, "fill": (5, 6, 7), "padding_mode": mode}
    for sample, crop in enumerate([1, (4, 9), 12, (30, 5)]):
        op = T.RandomCrop(crop, **arguments)
        moves, drawn = moves_of(op, image, sample)
        border, box = drawn[0], drawn[-1]
        params = {
            "needs_pad": True,
            "padding": [border["left"], border["top"], border["right"], border["bottom"]],
            "needs_crop": True,
            **box,
        }
        expected = v2.RandomCrop(crop, **arguments).transform(image, params)
        np.testing.assert_array_equal(run_moves(image, moves, 0), expected)
        np.testing.assert_array_equal(ours(op, image, sample), expected)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_random_resized_crop_with_the_same_box(v2, size, mode):
    image = make_image(size)
    theirs = v2.RandomResizedCrop((12, 20), interpolation=mode)
    op = T.RandomResizedCrop((12, 20), interpolation=mode)
    for sample in range(20):
        _, (box, _) = moves_of(op, image, sample)
        expected = theirs.transform(image, box)
        np.testing.assert_array_equal(ours(op, image, sample), expected)


def test_flips(v2):
    image = make_image((9, 14))
    for op, flip in (
        (T.RandomHorizontalFlip(p=1), v2.functional.horizontal_flip),
        (T.RandomVerticalFlip(p=1), v2.functional.vertical_flip),
    ):
        np.testing.assert_array_equal(ours(op, image), flip(image))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("normalise", [False, True])
def test_values_at_the_end_of_a_pipeline(v2, name, scale, normalise):
    """All 256 values of each channel, bit for bit."""
    import torch

    image = Image.fromarray(np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2))
    element = getattr(torch, name)
    statistics = (T.IMAGENET_MEAN, T.IMAGENET_STD)
    if normalise:
        theirs = [v2.ToDtype(torch.float32, scale), v2.Normalize(*statistics), v2.ToDtype(element)]
        mine = [T.ToDtype("float32", scale), T.Normalize(*statistics), T.ToDtype(element)]
    else:
        theirs, mine = [v2.ToDtype(element, scale)], [T.ToDtype(element, scale)]
    expected = v2.Compose([v2.ToImage(), *theirs])(image)
    bits = torch.int16 if name != "float32" else torch.int32

    finished = run_reference(as_written(T.Compose(mine)), image, seed=0, epoch=0, sample=0)

    width = np.int16 if name != "float32" else np.int32
    np.testing.assert_array_equal(finished.view(width), expected.view(bits).numpy())


@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_to_tensor_divides_as_the_older_transform_does(v2, tmp_path, isa, backend):
    """All 256 values of each channel, bit for bit; v2's multiplication gives other bits."""
    import torch
    from torchvision import transforms as v1

    image = Image.fromarray(np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2))
    image.save(tmp_path / "ramp.png")
    statistics = (T.IMAGENET_MEAN, T.IMAGENET_STD)
    for theirs, ours in (
        ([v1.ToTensor()], [T.ToTensor()]),
        (
            [v1.ToTensor(), v1.Normalize(*statistics)],
            [T.ToTensor(), T.Normalize(*statistics)],
        ),
    ):
        loader = Loader([tmp_path / "ramp.png"], transform=T.Compose(ours), backend=backend)
        assert torch.equal(next(iter(loader))[0], v1.Compose(theirs)(image))
    by_product = v2.ToDtype(torch.float32, scale=True)(v2.functional.to_image(image))
    assert not torch.equal(by_product, v1.ToTensor()(image))


def test_normalize_alone_means_scaling_first(v2):
    import torch

    image = make_image((5, 4))
    statistics = (T.IMAGENET_MEAN, T.IMAGENET_STD)
    theirs = v2.Compose(
        [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(*statistics)]
    )

    finished = run_reference(as_written(T.Normalize(*statistics)), image, seed=0, epoch=0, sample=0)

    np.testing.assert_array_equal(finished, theirs(image).numpy())


def test_the_usual_evaluation_pipeline(v2):
    import torch

    statistics = (T.IMAGENET_MEAN, T.IMAGENET_STD)
    theirs = v2.Compose(
        [
            v2.Resize(32),
            v2.CenterCrop(28),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(*statistics),
        ]
    )
    plan = as_written(T.Compose([T.Resize(32), T.CenterCrop(28), T.Normalize(*statistics)]))
    for size in [(64, 48), (20, 90), (32, 32)]:
        image = make_image(size)
        finished = run_reference(plan, image, seed=0, epoch=0, sample=0)
        np.testing.assert_array_equal(finished, theirs(image).numpy())


def test_antialias_changes_nothing(v2):
    image = make_image((20, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torchvision warns that it ignores the argument
        expected = np.asarray(v2.Resize(7, antialias=False)(image))

    for antialias in (True, False, None):
        np.testing.assert_array_equal(ours(T.Resize(7, antialias=antialias), image), expected)
