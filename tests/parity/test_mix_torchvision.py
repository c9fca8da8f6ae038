"""Mixing and erasing in finished batches gives the very bits of torch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from penstock import CoreError, _core
from tests.kernels import kernels

KEY = (3, 4)
NOTHING = (0, 0, 0, 0)
NONE, BLEND, PASTE = range(3)
SIZES = [(1, 1), (3, 5), (4, 16), (5, 33), (7, 300)]
FLOATS = ("float32", "float16", "bfloat16")

Batch = npt.NDArray[np.generic]


def batch_and_tensor(element: str, count: int, size: tuple[int, int], layout: str = "chw"):
    """The same random images as an array for the core and as a tensor of torch."""
    import torch

    shape = (count, 3, *size) if layout == "chw" else (count, *size, 3)
    numbers = np.random.default_rng((count, *size)).normal(0, 1.3, shape)
    tensor = torch.from_numpy(numbers).to(getattr(torch, element))
    return as_array(tensor).copy(), tensor


def as_array(tensor) -> Batch:
    """NumPy has no bfloat16: its bits."""
    import torch

    bits = tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor
    array: Batch = bits.numpy()
    return array


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("lam", [0.0, 0.123456789, 0.5, 1.0])
def test_mixup_is_torchvisions(
    isa: str, torchvision, element: str, size: tuple[int, int], lam: float
) -> None:
    """MixUp.transform itself, with a given lam."""
    from torchvision.transforms import v2

    batch, tensor = batch_and_tensor(element, 5, size)
    params = {"lam": lam, "labels": None, "batch_size": 5}
    expected = v2.MixUp(num_classes=2).transform(tensor, params)

    mixes = [((i - 1) % 5, BLEND, lam, 1.0 - lam, NOTHING) for i in range(5)]
    _core.mix_batch(batch, mixes)
    np.testing.assert_array_equal(batch, as_array(expected))


@pytest.mark.parametrize("element", [*FLOATS, "uint8"])
@pytest.mark.parametrize("box", [(0, 0, 0, 0), (2, 1, 6, 4), (0, 0, 31, 7), (30, 6, 31, 7)])
def test_cutmix_is_torchvisions(
    isa: str, torchvision, element: str, box: tuple[int, int, int, int]
) -> None:
    """CutMix.transform itself, with a given box (left, top, right, bottom)."""
    from torchvision.transforms import v2

    batch, tensor = batch_and_tensor(element, 4, (7, 31))
    params = {"box": box, "lam_adjusted": 0.5, "labels": None, "batch_size": 4}
    expected = v2.CutMix(num_classes=2).transform(tensor, params)

    left, top, right, bottom = box
    region = (top, left, bottom - top, right - left)
    _core.mix_batch(batch, [((i - 1) % 4, PASTE, 1, 0, region) for i in range(4)])
    np.testing.assert_array_equal(batch, as_array(expected))


@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("seed", range(8))
def test_any_partners_any_kinds(
    isa: str, torchvision, layout: str, element: str, seed: int
) -> None:
    """Cycles of every length, and each image its own kind, weights and box, as timm's modes ask."""
    import torch

    rng = np.random.default_rng(seed)
    count, height, width = 9, 40, 135
    batch, tensor = batch_and_tensor(element, count, (height, width), layout)
    partners = rng.permutation(count) if seed else np.arange(count)[::-1]
    expected = tensor.clone()
    mixes = []
    for i, partner in enumerate(map(int, partners)):
        kind, lam = int(rng.integers(3)), float(rng.random())
        top, left = int(rng.integers(height)), int(rng.integers(width))
        box = (top, left, int(rng.integers(height - top)), int(rng.integers(width - left)))
        mixes.append((partner, kind, lam, 1.0 - lam, box))
        if kind == BLEND:
            expected[i] = tensor[partner].mul(1.0 - lam).add_(tensor[i].mul(lam))
        elif kind == PASTE:
            rows, columns = slice(top, top + box[2]), slice(left, left + box[3])
            where = (rows, columns) if layout == "hwc" else (slice(None), rows, columns)
            expected[i][where] = tensor[partner][where]
    assert expected.dtype == getattr(torch, element)

    _core.mix_batch(batch, mixes, layout)
    np.testing.assert_array_equal(batch, as_array(expected))


@pytest.mark.parametrize("by_noise", [False, True])
@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize("element", [*FLOATS, "uint8"])
@pytest.mark.parametrize("box", [(0, 0, 0, 0), (1, 2, 9, 270), (0, 0, 12, 300), (11, 299, 1, 1)])
def test_erasing_a_slot_is_torchvisions(
    isa: str,
    torchvision,
    by_noise: bool,
    layout: str,
    element: str,
    box: tuple[int, int, int, int],
) -> None:
    """By values and by noise, without touching the slots beside it."""
    import torch
    from torchvision.transforms.v2 import functional as F

    top, left, height, width = box
    batch, tensor = batch_and_tensor(element, 3, (12, 300), layout)
    if by_noise:
        kernels.erase_slot_with_noise(batch, 1, box, KEY, layout)
        numbers = kernels.normal_numbers(3 * height * width, KEY).reshape(3, height, width)
        content = torch.from_numpy(numbers)
    else:
        value = (1.2345678, -0.1, 3.0) if element != "uint8" else (1.0, 200.0, 255.0)
        kernels.erase_slot(batch, 1, box, value, layout)
        content = torch.tensor(value)[:, None, None]

    planes = tensor[1] if layout == "chw" else tensor[1].permute(2, 0, 1)
    F.erase(planes, top, left, height, width, content, inplace=True)
    np.testing.assert_array_equal(batch, as_array(tensor))


@pytest.mark.parametrize(
    ("mixes", "message"),
    [
        ([(0, BLEND, 1, 0, NOTHING)], "has 2 images, but 1 mixes were given"),
        ([(1, BLEND, 1, 0, NOTHING)] * 2, "partner of exactly one image"),
        ([(0, NONE, 1, 0, NOTHING), (2, NONE, 1, 0, NOTHING)], "partner of exactly one image"),
        ([(0, 3, 1, 0, NOTHING), (1, 0, 1, 0, NOTHING)], "kind must be 0"),
        ([(0, PASTE, 1, 0, (0, 0, 5, 1)), (1, 0, 1, 0, NOTHING)], "inside the 4x4 image"),
    ],
)
def test_impossible_mixes_are_refused(mixes, message: str) -> None:
    """Before anything is changed."""
    batch = np.zeros((2, 3, 4, 4), dtype=np.float32)
    with pytest.raises(CoreError, match=message):
        _core.mix_batch(batch, mixes)


def test_levels_are_not_blended() -> None:
    """MixUp on uint8 would have to round, and torchvision does not do it either."""
    batch = np.zeros((2, 3, 4, 4), dtype=np.uint8)
    with pytest.raises(CoreError, match="uint8 images cannot be blended"):
        _core.mix_batch(batch, [(1, BLEND, 0.5, 0.5, NOTHING), (0, BLEND, 0.5, 0.5, NOTHING)])
