"""The same bytes as torchvision v2 on Pillow images, for the same drawn parameters.

Blur and elastic bending have no way through Pillow there, but one through float32 tensors: those
are within one level, for values that fall next to a half.
"""

import numpy as np
import pytest
from PIL import Image

from drawn import applied, batch, effects_of
from penstock import transforms as T
from penstock._core import Effect
from penstock.geometry import Sizes
from penstock.reference.filters import elastic_displacements, normal_numbers
from penstock.rng import Draws
from penstock.transforms.warp import rotate
from strategies import make_image

SIZES = [(1, 1), (1, 9), (17, 3), (33, 50)]
FILTERS = ["nearest", "bilinear", "bicubic"]


@pytest.fixture(scope="module")
def F(torchvision):  # noqa: N802  torchvision's name for it
    from torchvision.transforms.v2 import functional

    return functional


def adjusted(F, image, effect, parameters):  # noqa: N803
    """What torchvision makes of one effect on values."""
    functions = {
        Effect.BRIGHTNESS: F.adjust_brightness,
        Effect.CONTRAST: F.adjust_contrast,
        Effect.SATURATION: F.adjust_saturation,
        Effect.HUE: F.adjust_hue,
        Effect.SHARPNESS: F.adjust_sharpness,
        Effect.SOLARIZE: F.solarize,
    }
    if effect in functions:
        number, *_ = parameters.values()  # a mean of contrast is never drawn
        return functions[effect](image, number)
    if effect == Effect.POSTERIZE:
        return F.posterize(image, int(parameters["bits"]))
    if effect == Effect.GRAYSCALE:
        return F.rgb_to_grayscale(image, 3)
    if effect == Effect.PERMUTE_CHANNELS:
        return F.permute_channels(image, [int(channel) for channel in parameters["order"]])
    plain = {
        Effect.INVERT: F.invert,
        Effect.EQUALIZE: F.equalize,
        Effect.AUTOCONTRAST: F.autocontrast,
    }
    return plain[effect](image)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "op",
    [
        T.ColorJitter(0.9, 0.9, 0.9, 0.5),
        T.ColorJitter(brightness=(3, 10)),
        T.RandomPhotometricDistort(p=0.7),
        T.Grayscale(),
        T.RandomGrayscale(),
        T.RandomInvert(),
        T.RandomPosterize(3),
        T.RandomPosterize(8),
        T.RandomSolarize(100.5),
        T.RandomEqualize(),
        T.RandomAutocontrast(),
        T.RandomAdjustSharpness(0.3),
        T.RandomAdjustSharpness(2),
    ],
    ids=str,
)
def test_changes_of_values(F, op, size):  # noqa: N803
    image = make_image(size)
    moves = batch(op, 12, size)

    for row in range(12):
        expected = image
        for effect, numbers in effects_of(moves, row):
            expected = adjusted(F, expected, effect, numbers)
        assert np.array_equal(applied(moves, image, row), np.asarray(expected))


ANGLES = [*range(-360, 361, 45), 0.1, -0.1, 13.37, 89.999, 179.5, -30.000001192092896]


@pytest.mark.parametrize("size", [(1, 1), (9, 9), (17, 30), (30, 17)])
@pytest.mark.parametrize("interpolation", FILTERS)
@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("centre", [None, (0.0, 0.0), (7.5, -3.0)])
def test_rotation(F, size, interpolation, expand, centre):  # noqa: N803
    image = make_image(size)
    sizes = Sizes(*(np.full(len(ANGLES), side) for side in size))
    number = T.InterpolationMode(interpolation).pillow_filter
    move = rotate(np.array(ANGLES, dtype=float), sizes, centre, number, (9, 90, 200), expand)

    for row, angle in enumerate(ANGLES):
        centre_list = None if centre is None else list(centre)
        expected = F.rotate(image, angle, interpolation, expand, centre_list, fill=[9, 90, 200])
        got = applied([move], image, row)
        assert (move.height[row], move.width[row]) == got.shape[:2]
        assert np.array_equal(got, np.asarray(expected)), angle


def test_random_rotation_hands_on_its_arguments(F):  # noqa: N803
    image = make_image((20, 30))
    op = T.RandomRotation((-40, 170), "bilinear", expand=True, center=(3, 4), fill=(1, 2, 3))
    moves = batch(op, 5, (20, 30))
    degrees = Draws(0, 0, np.arange(5), 0).uniform(-40, 170)

    for row, angle in enumerate(degrees.tolist()):
        expected = F.rotate(image, angle, "bilinear", True, [3, 4], fill=[1, 2, 3])
        assert np.array_equal(applied(moves, image, row), np.asarray(expected))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("interpolation", FILTERS)
@pytest.mark.parametrize("center", [None, (3, 4.5)])
def test_affine(F, size, interpolation, center):  # noqa: N803
    image = make_image(size)
    op = T.RandomAffine(180, (0.4, 0.3), (0.3, 3), (-60, 60, -30, 50), interpolation, 77, center)
    count = 20
    moves = batch(op, count, size)
    draws = Draws(0, 0, np.arange(count), 0)
    angle = draws.uniform(-180, 180)
    across = np.rint(0.4 * size[1] * draws.uniform(-1, 1))
    down = np.rint(0.3 * size[0] * draws.uniform(-1, 1))
    scale = draws.uniform(0.3, 3)
    shear = draws.uniform(-60, 60), draws.uniform(-30, 50)

    for row in range(count):
        expected = F.affine(
            image,
            angle=float(angle[row]),
            translate=[int(across[row]), int(down[row])],
            scale=float(scale[row]),
            shear=[float(shear[0][row]), float(shear[1][row])],
            interpolation=interpolation,
            fill=77,
            center=None if center is None else list(center),
        )
        assert np.array_equal(applied(moves, image, row), np.asarray(expected))


@pytest.mark.parametrize("size", [(2, 2), (17, 3), (33, 50), (224, 224)])
@pytest.mark.parametrize("interpolation", FILTERS)
def test_perspective(F, size, interpolation):  # noqa: N803
    """torch solves by least squares, so the last digits of the eight numbers may differ."""
    from torchvision.transforms.functional import _get_perspective_coeffs

    image = make_image(size)
    op = T.RandomPerspective(0.6, 1.0, interpolation, (5, 6, 7))
    count = 20
    (move,) = batch(op, count, size)
    draws = Draws(0, 0, np.arange(count), 0)
    draws.uniform()
    corners = op._draw_corners(draws, Sizes(np.full(count, size[0]), np.full(count, size[1])))
    height, width = size
    own = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]

    for row in np.flatnonzero(move.effect).tolist():
        numbers = move.parameters(row)["matrix"]
        drawn = [[int(x[row]), int(y[row])] for x, y in corners]
        np.testing.assert_allclose(
            numbers, _get_perspective_coeffs(own, drawn), rtol=1e-5, atol=1e-6 * max(size)
        )
        expected = F.perspective(
            image, None, None, interpolation, fill=[5, 6, 7], coefficients=numbers
        )
        assert np.array_equal(applied([move], image, row), np.asarray(expected))


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1)])
def test_perspective_leaves_lines_alone(size):
    (move,) = batch(T.RandomPerspective(1.0, 1.0), 10, size)

    assert not move.effect.any()


@pytest.mark.parametrize("size", [(3, 5), (33, 50)])
@pytest.mark.parametrize("kernel", [1, 3, 5, (5, 3)])
def test_blur(F, size, kernel):  # noqa: N803
    image = make_image(size)
    (move,) = batch(T.GaussianBlur(kernel, (0.1, 4)), 6, size)

    for row in range(6):
        sigma = [move.parameters(row)[name] for name in ("sigma_across", "sigma_down")]
        sides = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
        expected = F.gaussian_blur(image, sides, sigma)
        assert levels_apart(applied([move], image, row), expected) <= 1


@pytest.mark.parametrize("clip", [True, False])
def test_noise_of_the_same_normal_numbers(F, monkeypatch, clip):  # noqa: N803
    import torch

    image = make_image((33, 50))
    (move,) = batch(T.GaussianNoise(0.1, 0.2, clip), 3, (33, 50))
    for row in range(3):
        key = tuple(move.parameters(row)["key"])
        normals = normal_numbers(key, 3 * 33 * 50).reshape(3, 33, 50)
        monkeypatch.setattr(
            torch, "randn_like", lambda *_, n=normals, **__: torch.from_numpy(n.copy())
        )
        tensor = F.gaussian_noise(F.pil_to_tensor(image), 0.1, 0.2, clip)
        got = applied([move], image, row)
        assert np.array_equal(got, tensor.numpy().transpose(1, 2, 0))


@pytest.mark.parametrize("value", [0, 200.7, (1, 2, 3), "random"])
def test_erasing(F, value):  # noqa: N803
    import torch

    image = make_image((33, 50))
    (move,) = batch(T.RandomErasing(1.0, value=value), 5, (33, 50))
    for row in range(5):
        drawn = move.parameters(row)
        top, left, height, width = (int(drawn[name]) for name in ("top", "left", "height", "width"))
        values = torch.tensor(drawn["value"], dtype=torch.float64)[:, None, None]
        if value == "random":
            normals = normal_numbers(tuple(drawn["key"]), 3 * height * width)
            values = torch.from_numpy(normals.reshape(3, height, width))
        expected = F.erase(image, top, left, height, width, values)
        assert np.array_equal(applied([move], image, row), np.asarray(expected))


@pytest.mark.parametrize("interpolation", FILTERS)
@pytest.mark.parametrize("fill", [0, (200, 100, 0)])
def test_elastic(F, photo, interpolation, fill):  # noqa: N803
    """Bicubic results beyond 0..255 wrap around in a tensor, so they are left out."""
    import torch

    image = Image.fromarray(photo[:60, :80] // 2 + 64)
    op = T.ElasticTransform((60, 90), (2, 3), interpolation, fill)
    (move,) = batch(op, 2, (60, 80))
    for row in range(2):
        key = tuple(move.parameters(row)["key"])
        across, down = elastic_displacements((60, 80), (60, 90), (2, 3), key)
        field = np.stack([across * 2 / 80, down * 2 / 60], axis=2)[None].astype(np.float32)
        fill_list = [float(number) for number in np.broadcast_to(fill, 3)]
        expected = F.elastic(image, torch.from_numpy(field), interpolation, fill=fill_list)
        got = applied([move], image, row)
        apart = np.abs(got.astype(int) - np.asarray(expected))
        if interpolation == "nearest":  # a place between two pixels may fall to either
            assert (apart.max(axis=2) > 0).mean() < 0.002
        elif interpolation == "bicubic":
            assert (apart > 1).mean() < 0.002
        else:
            assert apart.max() <= 1


def test_elastic_displacements_are_torchvisions(torchvision, monkeypatch):
    import torch
    from torchvision.transforms import v2

    key = (123.0, 456.0)
    plain = elastic_displacements((50, 40), (2, 2), (0, 0), key)
    uniforms = [torch.from_numpy((field / 1 + 1) / 2)[None, None] for field in plain]
    monkeypatch.setattr(torch, "rand", lambda *_: uniforms.pop(0))
    theirs = v2.ElasticTransform([30.0, 20.0], [2.0, 3.0]).make_params([make_image((50, 40))])
    across, down = elastic_displacements((50, 40), (30, 20), (2, 3), key)

    field = theirs["displacement"].numpy()[0]
    np.testing.assert_allclose(field[:, :, 0] * 40 / 2, across, atol=1e-9)
    np.testing.assert_allclose(field[:, :, 1] * 50 / 2, down, atol=1e-9)


def levels_apart(got, expected):
    return int(np.abs(got.astype(int) - np.asarray(expected).astype(int)).max())
