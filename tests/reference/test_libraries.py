"""Other image libraries as backends: the same loader, whatever computes the pixels."""

from __future__ import annotations

import sys

import numpy as np
import PIL.Image
import pytest

from effect_examples import EXAMPLES
from penstock import Loader
from penstock import transforms as T
from penstock._core import Effect
from penstock.errors import DecodeError, LoaderError, TransformError
from penstock.geometry import Size, Sizes
from penstock.reference.libraries import LIBRARIES, open_library
from penstock.reference.pipeline import run_moves
from penstock.transforms.effects import same_effect
from penstock.transforms.targets import read_targets

ODD_SIZES = [(1, 1), (1, 40), (40, 1), (2, 2), (5, 3)]


@pytest.fixture(params=["opencv", "numpy"])
def backend(request) -> str:
    if request.param == "opencv":
        pytest.importorskip("cv2")
    return request.param


def batches(data, backend, **options):
    options = {"batch_size": 8, "seed": 3, "output": "numpy", **options}
    return [images for images, _ in Loader(data, backend=backend, **options)]


@pytest.mark.parametrize("size", ODD_SIZES, ids=str)
@pytest.mark.parametrize("effect", Effect, ids=lambda effect: effect.name)
def test_odd_sizes(backend, effect, size) -> None:
    """Whatever an effect does to an image of a few pixels, Pillow does about the same."""
    pixels = np.random.default_rng(1).integers(0, 256, (*size, 3), dtype=np.uint8)
    sizes = Sizes(np.array(size[:1]), np.array(size[1:]))
    moves = (same_effect(effect, sizes, **EXAMPLES[effect]),)
    if effect in {Effect.MIX_ADD, Effect.MIX_END}:
        moves = (same_effect(Effect.MIX_BEGIN, sizes, weight=0.5), *moves)
    before = pixels.copy()

    done = open_library(backend).run_moves(pixels, moves, 0)

    np.testing.assert_array_equal(pixels, before)
    expected = np.asarray(run_moves(PIL.Image.fromarray(pixels), moves, 0))
    assert done.shape == expected.shape
    assert done.dtype == np.uint8
    if effect not in {Effect.AFFINE, Effect.PERSPECTIVE, Effect.ELASTIC}:  # all edge, here
        assert np.abs(done.astype(int) - expected).max() <= 12


@pytest.mark.parametrize("filter", ["nearest", "bilinear", "bicubic", "box", "hamming", "lanczos"])
def test_odd_resizes(backend, filter) -> None:
    library = open_library(backend)
    number = T.InterpolationMode(filter).pillow_filter
    for height, width in ODD_SIZES:
        pixels = np.full((height, width, 3), 200, dtype=np.uint8)
        for size in (Size(1, 1), Size(7, 2), Size(2, 90)):
            resized = library.resize(pixels, size, number)
            assert library.size_of(resized) == size
            assert (resized == 200).all()


@pytest.mark.parametrize("options", [{"layout": "hwc"}, {"dtype": "float16"}, {"threads": 1}])
def test_what_batches_look_like(folder, backend, options) -> None:
    transform = T.Compose([T.RandomResizedCrop(32), T.RandAugment(), T.Normalize([0.5], [0.2])])
    got = batches(folder, backend, transform=transform, **options)
    expected = batches(folder, "pillow", transform=transform, **options)
    for images, wanted in zip(got, expected, strict=True):
        assert (images.shape, images.dtype) == (wanted.shape, wanted.dtype)
        assert np.abs(images.astype(np.float32) - wanted).mean() < 0.2


def test_functions_of_the_users(folder, backend) -> None:
    def swap(image):
        assert isinstance(image, PIL.Image.Image)
        return image.transpose(PIL.Image.Transpose.TRANSPOSE)

    steps = [T.CenterCrop((30, 40)), swap, T.RandomHorizontalFlip()]
    got = batches(folder, backend, transform=T.Compose(steps))
    expected = batches(folder, "native", transform=T.Compose(steps))
    for images, wanted in zip(got, expected, strict=True):
        np.testing.assert_array_equal(images, wanted)


def test_targets_are_the_same(folder, backend) -> None:
    boxes = np.tile([1, 2, 20, 30], (23, 1))
    targets = read_targets(np.arange(24), boxes=boxes, labels=np.arange(23))
    transform = T.Compose([T.RandomIoUCrop(), T.RandomHorizontalFlip(), T.RandomRotation(20)])
    loaders = [
        Loader(folder, targets=targets, transform=transform, backend=name, output="numpy")
        for name in (backend, "native")
    ]
    for (images, got), (others, expected) in zip(*loaders, strict=True):
        assert [image.shape for image in images] == [image.shape for image in others]
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one["boxes"], other["boxes"])


def test_no_transform_is_the_decoded_file(make_folder, backend) -> None:
    folder = make_folder(images=1, classes=1, seed=9)
    np.testing.assert_array_equal(batches(folder, backend)[0], batches(folder, "native")[0])


def test_bad_files(broken_folder, backend) -> None:
    crop = T.Compose([T.Resize(24), T.CenterCrop(24)])
    with pytest.raises(DecodeError, match="on_error"):
        batches(broken_folder, backend, transform=crop)
    loader = Loader(broken_folder, backend=backend, transform=crop, on_error="skip", output="numpy")
    delivered = sum(len(images) for images, _ in loader)
    skipped = loader.ledger.counts()["skipped"]
    assert delivered + skipped == len(loader.source)
    assert skipped == 3


def test_pixel_limit(folder, backend) -> None:
    with pytest.raises(DecodeError, match="pixel_limit=100"):
        batches(folder, backend, pixel_limit=100)


def test_unknown_backends_are_refused(folder) -> None:
    with pytest.raises(LoaderError, match="'native', 'pillow', 'opencv', 'numpy', got 'cv2'"):
        Loader(folder, backend="cv2")


def test_opencv_is_optional(folder, monkeypatch) -> None:
    for name in list(sys.modules):
        if name.startswith("penstock.reference.libraries.opencv"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(LoaderError, match="pip install opencv-python-headless"):
        Loader(folder, backend="opencv")


def test_opencv_refusals_are_errors_of_ours(folder, monkeypatch) -> None:
    cv2 = pytest.importorskip("cv2")

    def refuse(*_):
        raise cv2.error("too\nlong")

    monkeypatch.setattr("penstock.reference.libraries.opencv.OpenCvLibrary.resize", refuse)
    with pytest.raises(TransformError, match=r"\(too long\)\. Use another backend"):
        batches(folder, "opencv", transform=T.Resize((8, 8)))


def test_all_libraries_open() -> None:
    pytest.importorskip("cv2")
    assert len({type(open_library(name)) for name in LIBRARIES}) == len(LIBRARIES)
