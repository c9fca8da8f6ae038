"""Warps give the bytes of Pillow's Image.transform, elastic ones torchvision's or one level off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from penstock import CoreError, _core
from penstock.rng import philox4x32
from tests.kernels import kernels

Bytes = npt.NDArray[np.uint8]
Matrix = tuple[float, ...]

NEAREST, BILINEAR, BICUBIC = 0, 2, 3
FILTERS = {"nearest": NEAREST, "bilinear": BILINEAR, "bicubic": BICUBIC}
FILL = (200, 30, 90)
ODD_SIZES = [(1, 1), (1, 9), (23, 1), (2, 2), (7, 8), (15, 31), (33, 16), (40, 63), (9, 65)]


def random_image(size: tuple[int, int], channels: int = 3, seed: int = 0) -> Bytes:
    """Noise: every wrong neighbour shows."""
    rng = np.random.default_rng([seed, *size])
    return rng.integers(0, 256, (*size, channels), dtype=np.uint8)


def pillow(image: Bytes, matrix: Matrix, size: tuple[int, int], filter: int, fill: Any) -> Bytes:
    """Image.transform, by the number of coefficients."""
    kind = Image.Transform.AFFINE if len(matrix) == 6 else Image.Transform.PERSPECTIVE
    rgb = np.repeat(image, 3, axis=2) if image.shape[2] == 1 else image
    warped = Image.fromarray(rgb).transform(
        (size[1], size[0]), kind, matrix, Image.Resampling(filter), fillcolor=fill
    )
    return np.asarray(warped)


def ours(image: Bytes, matrix: Matrix, size: tuple[int, int], filter: int, fill: Any) -> Bytes:
    """The same by the core, as an HxWx3 array."""
    warp = kernels.warp_affine if len(matrix) == 6 else kernels.warp_perspective
    planes = warp(image, matrix, *size, filter, fill)  # type: ignore[operator]
    result: Bytes = np.broadcast_to(planes, (3, *size)).transpose(1, 2, 0)
    return result


def assert_same(
    image: Bytes,
    matrix: Matrix,
    filter: int,
    size: tuple[int, int] | None = None,
    fill: tuple[int, int, int] = FILL,
) -> None:
    """Compare with Pillow, naming the matrix if they differ."""
    matrix = tuple(float(number) for number in matrix)
    size = size or image.shape[:2]
    np.testing.assert_array_equal(
        ours(image, matrix, size, filter, fill),
        pillow(image, matrix, size, filter, fill),
        err_msg=f"matrix {matrix}, {image.shape} to {size}",
    )


def rotation(degrees: float, height: int, width: int) -> Matrix:
    """About the middle, with sines and cosines as they come."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = width / 2, height / 2
    return (cos, sin, x - cos * x - sin * y, -sin, cos, y + sin * x - cos * y)


def shears_and_translations() -> Iterator[Matrix]:
    """What RandAugment asks for, by fractions, and beyond the image."""
    for amount in (-0.99, -0.3, -0.1, 0.05, 0.2, 0.5, 1.0, 3.7):
        yield (1, amount, -3, 0, 1, 0)
        yield (1, 0, 0, amount, 1, 2.5)
        yield (1, amount, 0, amount / 2, 1, 0)
    for amount in (-1000, -40, -7.5, -0.5, -1e-20, 0, 1e-9, 0.25, 1 / 3, 1, 12, 31.999999, 5e4):
        yield (1, 0, amount, 0, 1, 0)
        yield (1, 0, 0, 0, 1, amount)
        yield (1, 0, amount, 0, 1, -amount)


def scales() -> Iterator[Matrix]:
    """Larger and smaller, mirrored, with and without a turn."""
    for scale in (0.1, 0.3, 0.5, 0.9999, 1.1, 2, 3.3, 10):
        yield (scale, 0, 0.3, 0, scale, 0.7)
        yield (-scale, 0, 30, 0, scale / 2, -4)
        yield (scale, 0.01, 0, -0.02, scale, 1)


def singular() -> Iterator[Matrix]:
    """Matrices that map the image to a line or a point, and nearly so."""
    yield (0, 0, 0, 0, 0, 0)
    yield (0, 0, 5.5, 0, 0, 7.5)
    yield (1, 2, 3, 2, 4, 6)
    yield (1, 1, 0, 1, 1 + 1e-12, 0)
    yield (0, 1, 0, 0, 1, 0)
    yield (1e-300, 1e-300, 1, 1e-300, 1e-300, 1)


def far_away() -> Iterator[Matrix]:
    """Beyond 16.16 bits, where Pillow changes to sums of doubles, and beyond integers."""
    yield (1, 0.5, 32767.5, 0.1, 1, 0)
    yield (1, 0.5, -32768.5, 0.1, 1, 0)
    yield (40000, 1, -20, 1, 1, -3)
    yield (1e9, 1, 0, 1, 1, 0)
    yield (1, 1e300, 0, 1, 1, 0)
    yield (1e300, 0, 0, 0, -1e300, 0)
    yield (3000, 100, -90000, 0.2, 1, 0)


def perspectives() -> Iterator[Matrix]:
    """Random ones, ones that divide by almost nothing, and by nothing at all."""
    rng = np.random.default_rng(4)
    for _ in range(12):
        affine = np.array([1, 0, 0, 0, 1, 0]) + rng.normal(0, 0.3, 6) * [1, 1, 20, 1, 1, 20]
        yield (*affine, *rng.normal(0, 0.01, 2))
    yield (1, 0, 0, 0, 1, 0, -1 / 20.5, 0)
    yield (1, 0, 0.1, 0, 1, 0.1, -1 / 20.5 - 1e-14, 0)
    yield (1, 0, 0, 0, 1, 0, 0, -1 / 11.5)
    yield (1, 0.2, 0, 0.1, 1, 0, 1e300, 1e300)


def random_matrices() -> Iterator[Matrix]:
    """Anything."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        yield tuple(rng.normal(0, 2, 6) * [1, 1, 15, 1, 1, 15] + [0, 0, 15, 0, 0, 15])


GRIDS = {
    grid.__name__: grid
    for grid in (shears_and_translations, scales, singular, far_away, random_matrices, perspectives)
}


@pytest.mark.parametrize("filter", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_warp_is_pillows(isa: str, grid: Any, filter: int) -> None:
    """Colour and gray, of the image's size and another."""
    image, gray = random_image((37, 53)), random_image((37, 53), channels=1)
    for matrix in grid():
        assert_same(image, matrix, filter)
        assert_same(image, matrix, filter, size=(50, 35))
        assert_same(gray, matrix, filter)
        assert_same(gray, matrix, filter, fill=(7, 7, 7))


@pytest.mark.parametrize("filter", FILTERS.values(), ids=FILTERS)
def test_rotation_is_pillows(isa: str, filter: int) -> None:
    """All around, right angles included."""
    image = random_image((45, 61))
    for degrees in (*range(-180, 181, 7), 0, 90, 180, -90):
        assert_same(image, rotation(degrees, 45, 61), filter)


@pytest.mark.parametrize("filter", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("size", ODD_SIZES, ids=str)
def test_odd_sizes(isa: str, size: tuple[int, int], filter: int) -> None:
    """From any size to any other, around the lengths of vectors."""
    image = random_image(size)
    for out in (size, *ODD_SIZES):
        for matrix in (rotation(12, *size), (1, 0.3, -1, 0, 1, 0), (0.7, 0, 0.2, 0, 1.3, 0)):
            assert_same(image, matrix, filter, size=out)
        assert_same(image, (1, 0.1, 0, 0.05, 1, 0, 0.002, -0.003), filter, size=out)


@pytest.mark.parametrize("filter", FILTERS.values(), ids=FILTERS)
def test_wide_output(isa: str, filter: int) -> None:
    """A row of several parts."""
    image = random_image((20, 700))
    assert_same(image, rotation(3, 20, 700), filter)
    assert_same(image, (0.9, 0, 1, 0, 0.9, 1), filter, size=(22, 777))


@pytest.mark.parametrize("levels", [(0, 255), (254, 255), (7,)], ids=str)
@pytest.mark.parametrize("filter", [BILINEAR, BICUBIC], ids=["bilinear", "bicubic"])
def test_results_beside_whole_levels(isa: str, filter: int, levels: tuple[int, ...]) -> None:
    """Fractions such as 1/5 give whole levels, where the last bit decides about cutting off."""
    image = np.random.default_rng(1).choice(np.array(levels, dtype=np.uint8), (40, 40, 3))
    for step in (0.5, 0.25, 0.2, 1 / 3, 0.1, 1 / 255):
        assert_same(image, (1, step, 0, 0, 1, 0), filter)
        assert_same(image, (1, step, 0, step, 1, step), filter)
        assert_same(image, (step, 0, 0, 0, step, 0), filter)
        assert_same(image, (1, 0, step, 0, 1, -step), filter)


@pytest.mark.parametrize("filter", FILTERS.values(), ids=FILTERS)
def test_numbers_that_are_none_are_outside(isa: str, filter: int) -> None:
    """Pillow reads anywhere for NaN; here it is outside."""
    image = random_image((9, 33))
    for place in range(6):
        for hostile in (math.nan, math.inf, -math.inf):
            numbers = [1.0, 0.1, 0.0, 0.1, 1.0, 0.0]
            numbers[place] = hostile
            result = ours(image, tuple(numbers), (9, 33), filter, FILL)
            assert np.all(result == FILL)
    depth_is_none = ours(image, (1, 0, 0, 0, 1, 0, math.nan, 0), (9, 33), filter, FILL)
    assert np.all(depth_is_none == FILL)


def test_photos(isa: str, in1k: Any) -> None:
    """What comes in training."""
    for path in in1k[:12]:
        with Image.open(path) as file:
            photo = np.asarray(file.convert("RGB").resize((224, 224)))
        for filter in FILTERS.values():
            assert_same(photo, rotation(13.5, 224, 224), filter)
            assert_same(photo, (1, 0.21, -10, 0, 1, 0), filter)
            assert_same(photo, (1, 0, 0, -0.21, 1, 15), filter)
            assert_same(photo, (0.95, 0.05, 3, 0.03, 1.02, -2, 2e-4, 1e-4), filter)


@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_torchvisions_affine(torchvision: Any, photo: Bytes, isa: str, filter: str) -> None:
    """The call that torchvision's affine makes: its inverse matrix about the image's middle."""
    from torchvision.transforms.v2 import functional as F
    from torchvision.transforms.v2.functional._geometry import _get_inverse_affine_matrix

    height, width, _ = photo.shape
    for angle, translate, scale, shear in [
        (0.0, [20, 0], 1.0, [0.0, 0.0]),
        (0.0, [0, -31], 1.0, [0.0, 0.0]),
        (0.0, [0, 0], 1.0, [math.degrees(0.27), 0.0]),
        (0.0, [0, 0], 1.0, [0.0, math.degrees(-0.3)]),
        (31.0, [3, -8], 1.2, [5.0, -3.0]),
        (-17.5, [0, 0], 0.8, [0.0, 0.0]),
    ]:
        expected = F.affine(
            Image.fromarray(photo), angle, translate, scale, shear,
            torchvision.transforms.InterpolationMode(filter), list(FILL),
        )  # fmt: skip
        centre = [width * 0.5, height * 0.5]
        matrix = tuple(_get_inverse_affine_matrix(centre, angle, translate, scale, shear))
        result = ours(photo, matrix, (height, width), FILTERS[filter], FILL)
        np.testing.assert_array_equal(result, np.asarray(expected))


@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_torchvisions_rotate(torchvision: Any, photo: Bytes, isa: str, filter: str) -> None:
    """Pillow's rotate: sines and cosines to 15 digits, as an affine warp."""
    from torchvision.transforms.v2 import functional as F

    height, width, _ = photo.shape
    for degrees in (-30.0, 0.9, 27.3, 90.0, 143.0):
        mode = torchvision.transforms.InterpolationMode(filter)
        expected = F.rotate(Image.fromarray(photo), degrees, mode, fill=list(FILL))
        angle = -math.radians(degrees % 360)
        cos, sin = round(math.cos(angle), 15), round(math.sin(angle), 15)
        x, y = width / 2, height / 2
        matrix = (cos, sin, cos * -x + sin * -y + x, -sin, cos, -sin * -x + cos * -y + y)
        result = ours(photo, matrix, (height, width), FILTERS[filter], FILL)
        np.testing.assert_array_equal(result, np.asarray(expected))


@pytest.mark.parametrize("filter", FILTERS, ids=str)
def test_torchvisions_perspective(torchvision: Any, photo: Bytes, isa: str, filter: str) -> None:
    """Coefficients from four corners."""
    from torchvision.transforms.functional import _get_perspective_coeffs
    from torchvision.transforms.v2 import functional as F

    height, width, _ = photo.shape
    start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    end = [[31, 12], [width - 60, 25], [width - 9, height - 44], [18, height - 5]]
    mode = torchvision.transforms.InterpolationMode(filter)
    expected = F.perspective(Image.fromarray(photo), start, end, mode, list(FILL))
    matrix = tuple(_get_perspective_coeffs(start, end))
    result = ours(photo, matrix, (height, width), FILTERS[filter], FILL)
    np.testing.assert_array_equal(result, np.asarray(expected))


@pytest.mark.parametrize(("filter", "tolerance"), [("nearest", 0), ("bilinear", 1), ("bicubic", 1)])
@pytest.mark.parametrize("size", [(1, 1), (1, 13), (40, 31), (224, 224)], ids=str)
def test_displacement_is_torchvisions(
    torchvision: Any, filter: str, tolerance: int, size: tuple[int, int]
) -> None:
    """Both round sums of floats; torch's places are in shares of the image, ours in pixels."""
    import torch
    from torchvision.transforms.v2 import functional as F

    height, width = size
    rng = np.random.default_rng(2)
    # Sixteenths, but no halves: nearest would be decided by the last bit of torch's places. And
    # levels that a cubic does not leave: torch wraps around there.
    image = (64 + random_image(size) // 2).astype(np.uint8)
    shifts = (rng.integers(-40, 40, (2, height, width)) * 2 + 1) / 16
    dx, dy = shifts.astype(np.float32)
    relative = np.stack([dx * 2 / width, dy * 2 / height], axis=-1)[None]
    mode = torchvision.transforms.InterpolationMode(filter)
    expected = np.asarray(F.elastic(Image.fromarray(image), torch.from_numpy(relative), mode, FILL))

    planes = kernels.warp_displaced(image, dx, dy, FILTERS[filter], FILL)

    difference = planes.transpose(1, 2, 0).astype(int) - expected
    wrapped = np.minimum(np.abs(difference), 256 - np.abs(difference))
    assert wrapped.max() <= tolerance


def test_displacement_into_nowhere() -> None:
    """Places that no integer holds are outside."""
    image = random_image((4, 5))
    for hostile in (math.nan, math.inf, -1e30, 3e9):
        field = np.full((4, 5), hostile, dtype=np.float32)
        for filter in FILTERS.values():
            planes = kernels.warp_displaced(image, field, np.zeros_like(field), filter, FILL)
            assert np.all(planes.transpose(1, 2, 0) == FILL)


def field_in_numpy(
    size: tuple[int, int], alpha: Matrix, sigma: Matrix, key: tuple[int, int]
) -> npt.NDArray[np.float64]:
    """ElasticTransform.make_params, from counters instead of torch's generator."""
    height, width = size
    pixels = height * width
    counter = np.zeros((4, pixels), dtype=np.uint64)
    counter[0] = np.arange(pixels)
    words = philox4x32(counter, np.array(key, dtype=np.uint64))[:2]
    planes = ((words >> np.uint64(8)).astype(float) / 2**23 - 1).reshape(2, height, width)
    for i, own_sigma in enumerate(sigma):
        reach = (int(8 * own_sigma + 1) | 1) // 2
        for axis, axis_sigma in ((1, sigma[0]), (0, sigma[1])):
            if own_sigma <= 0 or axis_sigma <= 0:
                continue
            weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * axis_sigma**2))
            amounts = [(0, 0), (0, 0)]
            amounts[axis] = (reach, reach)
            windows = np.lib.stride_tricks.sliding_window_view(
                np.pad(planes[i], amounts, "reflect"), 2 * reach + 1, axis
            )
            planes[i] = windows @ (weights / weights.sum())
    field: npt.NDArray[np.float64] = planes * np.reshape(alpha, (2, 1, 1)) / 2
    return field


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (30, 47), (64, 5)], ids=str)
@pytest.mark.parametrize("sigma", [(5.0, 5.0), (2.0, 0.7), (0.0, 0.0)], ids=str)
def test_elastic_field(size: tuple[int, int], sigma: tuple[float, float]) -> None:
    """The numbers of the counters, smoothed over reflected edges by any reach."""
    alpha, key = (50.0, 30.0), (0x12345678, 0x9ABCDEF0)
    field = _core.elastic_field(*size, alpha, sigma, key)
    np.testing.assert_allclose(field, field_in_numpy(size, alpha, sigma, key), atol=2e-5)


def test_elastic_field_is_torchvisions_smoothing(torchvision: Any) -> None:
    """The kernel's width and weights, over the same numbers."""
    import torch
    from torchvision.transforms.v2 import functional as F

    rough = _core.elastic_field(50, 60, (2.0, 2.0), (0.0, 0.0), (1, 2))
    for plane, sigma in ((0, (4.0, 2.5)), (1, (2.5, 4.0))):
        reach = int(8 * 4.0 + 1) | 1
        blurred = F.gaussian_blur(torch.from_numpy(rough[plane][None]), [reach, reach], list(sigma))
        field = _core.elastic_field(50, 60, (2.0, 2.0), sigma, (1, 2))
        np.testing.assert_allclose(field[plane], blurred[0].numpy(), atol=1e-5)


def test_bad_arguments_are_refused() -> None:
    """Each with its value."""
    image = random_image((4, 4))
    identity = (1, 0, 0, 0, 1, 0)
    with pytest.raises(CoreError, match=r"filter must be 0 .*, got 1\."):
        kernels.warp_affine(image, identity, 4, 4, 1)
    with pytest.raises(CoreError, match=r"sides must be 1 to \d+ pixels, got 0\."):
        kernels.warp_affine(image, identity, 0, 4, NEAREST)
    with pytest.raises(CoreError, match=r"1 or 3 channels, got 2\."):
        kernels.warp_affine(random_image((4, 4), channels=2), identity, 4, 4, NEAREST)
    with pytest.raises(CoreError, match=r"as large as the image, 4x4, got 4x5\."):
        field = np.zeros((4, 5), dtype=np.float32)
        kernels.warp_displaced(image, field, field, NEAREST)
    with pytest.raises(CoreError, match=r"sigma must be 0 to .*, got -1"):
        _core.elastic_field(4, 4, (1, 1), (-1, 1), (0, 0))
