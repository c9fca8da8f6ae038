"""The same distributions as torchvision v2, which draws from a generator of its own."""

import numpy as np
import pytest

from drawn import batch
from penstock import transforms as T
from penstock._core import Effect
from penstock.geometry import Sizes
from penstock.rng import Draws
from statistics_of_draws import assert_same_distribution, assert_same_frequencies
from strategies import make_image

OURS, THEIRS = 20_000, 4_000
SIZE = (40, 60)


@pytest.fixture(scope="module")
def v2(torchvision):
    from torchvision.transforms import v2

    return v2


@pytest.mark.parametrize(
    ("size", "scale", "ratio"),
    [
        ((333, 500), (0.08, 1.0), (3 / 4, 4 / 3)),
        ((480, 360), (0.5, 0.9), (0.5, 1.1)),
        ((60, 600), (0.08, 1.0), (3 / 4, 4 / 3)),  # too wide: often the central box
        ((600, 40), (0.3, 1.0), (3 / 4, 4 / 3)),  # too high: mostly the central box
    ],
)
def test_random_resized_crop_draws_from_the_same_distribution(v2, size, scale, ratio):
    import torch

    torch.manual_seed(0)
    theirs = v2.RandomResizedCrop(8, scale, ratio)
    image = make_image(size)
    boxes = [theirs.make_params([image]) for _ in range(3000)]
    count = 30_000
    sizes = Sizes(np.full(count, size[0]), np.full(count, size[1]))
    crop, _ = T.RandomResizedCrop(8, scale, ratio).sample(Draws(0, 0, np.arange(count), 0), sizes)

    for name in ("top", "left", "height", "width"):
        expected = np.array([box[name] for box in boxes])
        assert_same_distribution(getattr(crop, name), expected)
    assert_same_distribution(
        crop.height / crop.width, np.array([box["height"] / box["width"] for box in boxes])
    )
    spare = np.maximum(size[0] - crop.height, 1)
    assert_same_distribution(
        crop.top / spare,
        np.array([box["top"] / max(size[0] - box["height"], 1) for box in boxes]),
    )


def test_random_crop_draws_from_the_same_distribution(v2):
    import torch

    torch.manual_seed(0)
    image = make_image((40, 70))
    theirs = v2.RandomCrop((30, 90), padding=3, pad_if_needed=True)
    boxes = [theirs.make_params([image]) for _ in range(3000)]
    count = 30_000
    sizes = Sizes(np.full(count, 40), np.full(count, 70))
    border, crop = T.RandomCrop((30, 90), padding=3, pad_if_needed=True).sample(
        Draws(0, 0, np.arange(count), 0), sizes
    )

    assert boxes[0]["padding"] == [border.left[0], border.top[0], border.right[0], border.bottom[0]]
    for name in ("top", "left"):
        assert_same_distribution(getattr(crop, name), np.array([box[name] for box in boxes]))


def parameters(transform, count=THEIRS):
    """What torchvision draws, many times."""
    import torch

    torch.manual_seed(0)
    image = make_image(SIZE)
    return [transform.make_params([image]) for _ in range(count)]


def numbers_of(moves, effect):
    """The first number wherever a sample has this effect; one per sample."""
    found = np.full(len(moves[0].effect), np.nan)
    for move in moves:
        chosen = move.effect == effect
        found[chosen] = move.values(effect, "factor")[chosen]
    return found


def test_color_jitter(v2):
    arguments = (0.4, (0.2, 3), 0.3, 0.2)
    moves = batch(T.ColorJitter(*arguments), OURS)
    theirs = parameters(v2.ColorJitter(*arguments))

    order = np.stack([move.effect for move in moves], axis=1) - Effect.BRIGHTNESS
    assert_same_frequencies(
        map(tuple, order.tolist()), [tuple(drawn["fn_idx"].tolist()) for drawn in theirs]
    )
    for name, effect in (
        ("brightness", Effect.BRIGHTNESS),
        ("contrast", Effect.CONTRAST),
        ("saturation", Effect.SATURATION),
        ("hue", Effect.HUE),
    ):
        expected = np.array([drawn[f"{name}_factor"] for drawn in theirs])
        assert_same_distribution(numbers_of(moves, effect).astype(np.float32), expected)


def test_photometric_distort(v2):
    moves = batch(T.RandomPhotometricDistort(p=0.3), OURS)
    theirs = parameters(v2.RandomPhotometricDistort(p=0.3))

    names = ("brightness", "contrast", "saturation", "hue")
    happens = np.stack([move.effect != Effect.NONE for move in moves], axis=1)
    expected = []
    for drawn in theirs:
        brightness, contrast, saturation, hue = (drawn[f"{n}_factor"] is not None for n in names)
        early = drawn["contrast_before"]
        swapped = drawn["channel_permutation"] is not None
        expected.append(
            (brightness, contrast and early, saturation, hue, contrast and not early, swapped)
        )
    assert_same_frequencies(map(tuple, happens.tolist()), expected)
    swaps = moves[-1].values(Effect.PERMUTE_CHANNELS, "order")[moves[-1].effect != Effect.NONE]
    swaps = swaps.astype(int)
    their_swaps = [drawn["channel_permutation"] for drawn in theirs]
    assert_same_frequencies(
        map(tuple, swaps.tolist()), [tuple(s.tolist()) for s in their_swaps if s is not None]
    )
    contrast = [drawn["contrast_factor"] for drawn in theirs if drawn["contrast_factor"]]
    drawn = numbers_of(moves, Effect.CONTRAST)
    assert_same_distribution(drawn[~np.isnan(drawn)].astype(np.float32), np.array(contrast))


@pytest.mark.parametrize("arguments", [{}, {"scale": (0.5, 1.0), "ratio": (0.1, 10)}], ids=str)
def test_erasing(v2, arguments):
    """The second set often fits nowhere, and then nothing is erased."""
    (move,) = batch(T.RandomErasing(1.0, **arguments), OURS, SIZE)
    theirs = parameters(v2.RandomErasing(1.0, **arguments))

    erased = move.effect != Effect.NONE
    their_erased = [drawn["v"] is not None for drawn in theirs]
    assert_same_frequencies(erased.tolist(), their_erased)
    for own, name in zip(("top", "left", "height", "width"), "ijhw", strict=True):
        expected = [d[name] for d, happened in zip(theirs, their_erased, strict=True) if happened]
        assert_same_distribution(move.values(Effect.ERASE, own)[erased], np.array(expected))


def test_affine(v2, monkeypatch):
    """Ours keeps only the matrix, so the numbers that go into it are caught on their way."""
    caught = []
    from penstock.transforms import warp

    original = warp.affine_matrix

    def catch(centre, degrees, translate, scale, shears):
        caught.extend([degrees, *translate, scale, *shears])
        return original(centre, degrees, translate, scale, shears)

    monkeypatch.setattr(warp, "affine_matrix", catch)
    arguments = ((-20, 50), (0.3, 0.1), (0.5, 2), (-5, 20, -10, 3))
    batch(T.RandomAffine(*arguments), OURS, SIZE)
    theirs = parameters(v2.RandomAffine(*arguments))

    expected = [
        (d["angle"], *d["translate"], d["scale"], *map(np.float32, d["shear"])) for d in theirs
    ]
    for ours, their in zip(caught, zip(*expected, strict=True), strict=True):
        assert_same_distribution(ours.astype(np.float32), np.array(their, dtype=np.float32))


def test_perspective_corners(v2, monkeypatch):
    caught = []
    from torchvision.transforms.v2 import _geometry

    monkeypatch.setattr(
        _geometry, "_get_perspective_coeffs", lambda _, ends: caught.append(np.ravel(ends))
    )
    parameters(v2.RandomPerspective(0.7))
    op = T.RandomPerspective(0.7)
    sizes = Sizes(np.full(OURS, SIZE[0]), np.full(OURS, SIZE[1]))
    corners = op._draw_corners(Draws(0, 0, np.arange(OURS), 0), sizes)

    for ours, theirs in zip(sum(corners, ()), np.array(caught).T, strict=True):
        assert_same_distribution(ours, theirs)


def test_rotation_and_blur(v2):
    (blur,) = batch(T.GaussianBlur(3, (0.5, 4)), OURS)
    theirs = [drawn["sigma"][0] for drawn in parameters(v2.GaussianBlur(3, (0.5, 4)))]
    sigma = blur.values(Effect.GAUSSIAN_BLUR, "sigma_across")
    assert_same_distribution(sigma.astype(np.float32), np.array(theirs))
    assert np.array_equal(sigma, blur.values(Effect.GAUSSIAN_BLUR, "sigma_down"))

    (turn,) = batch(T.RandomRotation((-10, 70)), OURS)
    matrix = turn.values(Effect.AFFINE, "matrix")
    degrees = np.degrees(np.arctan2(matrix[:, 3], matrix[:, 0]))
    theirs = [drawn["angle"] for drawn in parameters(v2.RandomRotation((-10, 70)))]
    assert_same_distribution(degrees, np.array(theirs))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize(
    "kind",
    [
        T.RandomGrayscale,
        T.RandomInvert,
        T.RandomEqualize,
        T.RandomAutocontrast,
        T.RandomPerspective,
        T.RandomErasing,
    ],
)
def test_things_happen_as_often_as_asked(kind, p):
    (move,) = batch(kind(p=p), OURS)

    share = (move.effect != Effect.NONE).mean()
    assert abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / OURS)


def test_containers(v2):
    apply = batch(T.RandomApply([T.Grayscale(), T.RandomInvert(1.0)], p=0.3), OURS)
    happened = np.stack([move.effect != Effect.NONE for move in apply])
    assert np.array_equal(happened[0], happened[1])
    assert abs(happened[0].mean() - 0.3) < 4.5 * np.sqrt(0.21 / OURS)

    parts = [T.Grayscale(), T.RandomInvert(1.0), T.RandomEqualize(1.0)]
    (choice,) = batch(T.RandomChoice(parts, p=[1, 2, 5]), OURS)
    shares = [(choice.effect == e).mean() for e in (Effect.GRAYSCALE, Effect.INVERT)]
    np.testing.assert_allclose(shares, [1 / 8, 2 / 8], atol=0.015)

    columns = [move.effect.tolist() for move in batch(T.RandomOrder(parts), OURS)]
    sequences = [tuple(e for e in row if e) for row in zip(*columns, strict=True)]
    import torch

    torch.manual_seed(0)
    kinds = (Effect.GRAYSCALE, Effect.INVERT, Effect.EQUALIZE)
    theirs = [tuple(int(kinds[i]) for i in torch.randperm(3)) for _ in range(THEIRS)]
    assert_same_frequencies(sequences, theirs)
