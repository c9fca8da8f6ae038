"""Figures of two images, against plain loops over all values."""

import numpy as np
import pytest

from certifying.certified import make_images
from penstock.certifying.bins import Distribution
from penstock.certifying.differences import compare, peak_of, psnr_db
from penstock.certifying.images import BFLOAT16, Pixels, as_pixels, channel_axis

SHAPES = [(1, 1, 1), (3, 1, 1), (3, 5, 7), (5, 7, 3), (1, 4, 900), (900, 4, 1), (4, 6, 6), (6, 8)]


def slowly(a, b, axis):
    """The same figures, one value after the other."""
    distances, places = [], []
    for index in np.ndindex(a.shape):
        distances.append(abs(float(a[index]) - float(b[index])))
        if a[index] != b[index]:
            places.append([at for number, at in enumerate(index) if number != axis])
    rows, columns = zip(*places, strict=True)
    return {
        "largest": max(distances),
        "mean": sum(distances) / len(distances),
        "squares": sum(d * d for d in distances) / len(distances),
        "share": len(places) / len(distances),
        "box": (min(columns), min(rows), max(columns) + 1, max(rows) + 1),
    }


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_figures_are_those_of_plain_loops(shape, dtype):
    a = make_images(1, shape, dtype)[0]
    b = a.copy()
    changed = tuple(np.random.default_rng(1).integers(0, shape, (3, len(shape))).T)
    b[changed] = make_images(1, (3,), dtype, seed=2)[0]
    b.flat[0] = a.flat[0] + dtype(1) if a.flat[0] < 100 else a.flat[0] - dtype(1)

    found, distances = compare(as_pixels(a), as_pixels(b))
    expected = slowly(a, b, channel_axis(shape))

    assert found.box == expected.pop("box")
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected)
    assert distances.max() == found.largest
    worst = [found.worst.row, found.worst.column]
    if channel_axis(shape) is not None:
        worst.insert(channel_axis(shape), found.worst.channel)
    assert a[tuple(worst)] == found.worst.a
    assert abs(found.worst.a - found.worst.b) == found.largest
    assert (found.low, found.high) == (min(a.min(), b.min()), max(a.max(), b.max()))


def test_values_that_are_not_finite():
    a = np.array([[np.nan, np.inf, 1.0], [np.nan, 2.0, -np.inf]], np.float32)
    b = np.array([[np.nan, np.inf, 1.5], [0.0, 2.0, np.inf]], np.float32)

    found, _ = compare(as_pixels(a), as_pixels(b))

    assert (found.largest, found.not_finite) == (0.5, 2)
    assert found.share == 3 / 6
    assert found.mean == pytest.approx(0.5 / 2)  # of the two places where both are finite


def test_bits_that_differ_without_a_difference():
    found, _ = compare(as_pixels(np.full((2, 2), 0.0)), as_pixels(np.full((2, 2), -0.0)))

    assert (found.largest, found.share, found.box, found.worst) == (0, 0, None, None)


def test_psnr():
    assert psnr_db(1.0, 255) == pytest.approx(48.1308, abs=1e-4)
    assert psnr_db(0.0, 255) is None
    assert psnr_db(1.0, 0.0) is None
    assert [peak_of(kind) for kind in ("uint8", "uint16", "bool", "float32", BFLOAT16)] == [
        *(255, 65535, 1),
        *(None, None),
    ]


def test_hashes_are_over_type_shape_and_bytes():
    image = make_images(1, dtype=np.float32)[0]
    known = as_pixels(image).digest()

    assert as_pixels(image.copy(order="F")).digest() == known
    assert as_pixels(image[:, ::-1][:, ::-1]).digest() == known
    assert as_pixels(image.astype(">f4")).digest() == known
    assert as_pixels(image.reshape(5, 3, 7)).digest() != known
    assert as_pixels(image.view(np.int32)).digest() != known
    changed = image.copy()
    changed.flat[-1] += 1
    assert as_pixels(changed).digest() != known


def test_bfloat16_of_torch():
    torch = pytest.importorskip("torch")
    values = torch.tensor([[1.0, -2.5], [1e30, 0.0]])
    found = as_pixels(values.bfloat16())

    assert found.dtype == BFLOAT16
    assert (found.values == values.bfloat16().float().numpy()).all()


def test_things_that_are_no_images():
    assert as_pixels("text") is None
    assert as_pixels([1, 2]) is None
    assert as_pixels(np.array(["a"])) is None
    assert as_pixels(np.array([1j])) is None


def test_distribution():
    counts = Distribution()
    counts.add_equal(10, whole=True)
    counts.add(np.array([0.0, 1.0, 1.0, 3.0, 200.0]), 200.0, whole=True)

    bins = {entry.title: (entry.images, entry.values) for entry in counts.bins(whole=True)}
    assert bins["none"] == (1, 11)
    assert bins["1"] == (0, 2)
    assert bins["3 to 4"] == (0, 1)
    assert bins["more than 128"] == (1, 1)
    assert counts.bins(whole=False) == []

    counts.add(np.array([0.0, 0.002]), 0.002, whole=False)
    assert [entry.title for entry in counts.bins(whole=False)] == ["none", "up to 0.01"]


def test_copies_have_memory_of_their_own():
    image = make_images(1)[0]
    copied = Pixels(image, "uint8").copied()
    image[:] = 0

    assert copied.stored.any()
