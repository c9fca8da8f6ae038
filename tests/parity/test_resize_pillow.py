"""Resizing gives the very bytes of the installed Pillow, with every filter and every variant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from penstock import CoreError
from penstock.pillow_order import vertical_first
from tests.kernels import kernels

Bytes = npt.NDArray[np.uint8]

FILTERS = [
    Image.Resampling.NEAREST,
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.HAMMING,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
]
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)

VARIANTS = kernels.supported_isas()


@contextmanager
def variant(name: str) -> Iterator[None]:
    """Run the block with the kernels of one instruction set."""
    before = kernels.active_isa()
    kernels.force_isa(name)
    try:
        yield
    finally:
        kernels.force_isa(before)


def noise(height: int, width: int, channels: int = 3, seed: int = 0) -> Bytes:
    """Noise that is mostly black and white, so that overshoot has something to clip."""
    rng = np.random.default_rng((seed, height, width))
    levels = rng.integers(-200, 456, (height, width, channels))
    return np.clip(levels, 0, 255).astype(np.uint8)


def pillow_resize(image: Bytes, height: int, width: int, filter: Image.Resampling) -> Bytes:
    """What `Image.resize` makes of it, always with three channels."""
    gray = image.shape[2] == 1
    source = Image.fromarray(image[:, :, 0] if gray else image)
    result = np.asarray(source.resize((width, height), filter))
    return np.repeat(result[:, :, None], 3, axis=2) if gray else result


def our_resize(
    image: Bytes, height: int, width: int, filter: Image.Resampling, **options: Any
) -> npt.NDArray[Any]:
    """The kernel, in the order that Pillow uses for these sizes."""
    order = vertical_first(*(np.array(n) for n in (*image.shape[:2], height, width)))
    options.setdefault("window", (0, 0, height, width))
    result: npt.NDArray[Any] = kernels.resize(
        image, height, width, int(filter), vertical_first=bool(order), **options
    )
    return result


SIZES = [  # in height, in width, out height, out width
    (1, 1, 1, 1),
    (1, 1, 9, 17),
    (7, 5, 1, 1),
    (1, 300, 40, 3),
    (300, 1, 3, 40),
    (64, 64, 64, 64),
    (64, 64, 64, 33),
    (64, 64, 31, 64),
    (350, 350, 224, 224),
    (375, 500, 224, 299),
    (500, 333, 223, 225),
    (97, 113, 224, 224),
    (900, 130, 224, 224),
    (130, 2100, 224, 20),
    (5000, 20, 30, 200),
    (20, 9000, 200, 30),
    (3, 40000, 2, 1),
]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.name.lower())
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_resize_is_pillows(
    name: str, filter: Image.Resampling, size: tuple[int, int, int, int]
) -> None:
    """Sizes up and down, one pixel to tens of thousands, extreme ratios."""
    image = noise(*size[:2])
    with variant(name):
        result = our_resize(image, *size[2:], filter)
    np.testing.assert_array_equal(result, pillow_resize(image, *size[2:], filter))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.name.lower())
def test_random_sizes(name: str, filter: Image.Resampling) -> None:
    """Sizes nobody thought of, with windows, mirrored, gray and RGB."""
    rng = np.random.default_rng(int(filter))
    for seed in range(60):
        height, width, out_height, out_width = (int(n) for n in rng.integers(1, 260, 4))
        top, left = int(rng.integers(0, out_height)), int(rng.integers(0, out_width))
        window = (
            top,
            left,
            int(rng.integers(1, out_height - top + 1)),
            int(rng.integers(1, out_width - left + 1)),
        )
        across, down = bool(rng.integers(2)), bool(rng.integers(2))
        image = noise(height, width, int(rng.choice([1, 3])), seed)
        with variant(name):
            result = our_resize(
                image,
                out_height,
                out_width,
                filter,
                window=window,
                flip_horizontal=across,
                flip_vertical=down,
            )
        whole = pillow_resize(image, out_height, out_width, filter)
        part = whole[top : top + window[2], left : left + window[3]]
        expected = part[:: -1 if down else 1, :: -1 if across else 1]
        np.testing.assert_array_equal(
            result, expected, err_msg=str((height, width, out_height, out_width, window))
        )


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("filter", FILTERS[1:], ids=lambda f: f.name.lower())
def test_box_is_pillows(name: str, filter: Image.Resampling) -> None:
    """Parts of an image in fractions of pixels; filters read past their edges."""
    rng = np.random.default_rng(int(filter))
    for seed in range(60):
        height, width, out_height, out_width = (int(n) for n in rng.integers(1, 260, 4))
        top, bottom = sorted(rng.uniform(0, height, 2))
        left, right = sorted(rng.uniform(0, width, 2))
        if seed % 3 == 0:  # whole pixels and eighths are the common case
            left, top = np.floor(left), np.floor(top)
            right, bottom = (np.ceil(8 * np.array([right, bottom])) / 8).tolist()
        if seed % 4 == 0:  # same size, but shifted: not a copy
            out_height, out_width = height, width
        box = tuple(float(np.float32(n)) for n in (left, top, right, bottom))
        image = noise(height, width, 3, seed)
        with variant(name):
            result = our_resize(image, out_height, out_width, filter, box=box)
        expected = Image.fromarray(image).resize((out_width, out_height), filter, box=box)
        np.testing.assert_array_equal(
            result, np.asarray(expected), err_msg=str((height, width, out_height, out_width, box))
        )


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize("element", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("legacy", [False, True], ids=["to_dtype", "to_tensor"])
@pytest.mark.parametrize("width", [1, 15, 16, 47, 224])
def test_final_pass_is_torchs(
    name: str, layout: str, element: str, legacy: bool, width: int
) -> None:
    """Scale and normalise as torchvision does: to_dtype multiplies, ToTensor divides."""
    torch = pytest.importorskip("torch")
    image = noise(40, 50)
    scaling = {"divisor": 255.0} if legacy else {"scale": 1.0 / 255}
    with variant(name):
        result = our_resize(
            image,
            30,
            width,
            Image.Resampling.BILINEAR,
            element=element,
            layout=layout,
            mean=MEAN,
            std=STD,
            **scaling,
        )

    levels = pillow_resize(image, 30, width, Image.Resampling.BILINEAR)
    tensor = torch.from_numpy(levels.copy()).permute(2, 0, 1).to(torch.float32)
    tensor = tensor.div(255) if legacy else tensor.mul_(1.0 / 255)
    tensor = tensor.sub(torch.tensor(MEAN).view(3, 1, 1)).div_(torch.tensor(STD).view(3, 1, 1))
    tensor = tensor.to(getattr(torch, element))
    tensor = tensor if layout == "chw" else tensor.permute(1, 2, 0)
    integer = {"float32": torch.int32}.get(element, torch.int16)
    expected = tensor.contiguous().view(integer).numpy()
    np.testing.assert_array_equal(result.view(expected.dtype), expected)


@pytest.mark.parametrize("name", VARIANTS)
def test_resize_and_final_pass_are_torchvisions(torchvision, name: str) -> None:
    """The whole chain against torchvision's own functions on a Pillow image."""
    import torch
    from torchvision.transforms.v2 import functional as F

    image = noise(301, 275)
    with variant(name):
        result = our_resize(
            image,
            224,
            224,
            Image.Resampling.BILINEAR,
            flip_horizontal=True,
            element="float32",
            layout="chw",
            scale=1.0 / 255,
            mean=MEAN,
            std=STD,
        )

    resized = F.horizontal_flip(F.resize(Image.fromarray(image), [224, 224]))
    scaled = F.to_dtype(F.pil_to_tensor(resized), torch.float32, scale=True)
    expected = F.normalize(scaled, list(MEAN), list(STD)).numpy()
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_pass_that_cannot_be_computed_is_looked_up(name: str) -> None:
    """A std of zero gives torch's infinities; it must not make the variants differ."""
    image = noise(9, 70)
    with variant(name):
        result = our_resize(
            image,
            9,
            70,
            Image.Resampling.BILINEAR,
            element="float32",
            mean=(3.0, 0.0, 0.0),
            std=(0.0, 3e-39, 1.0),
        )
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scaled = image.astype(np.float32) - np.array([3.0, 0.0, 0.0], dtype=np.float32)
        expected = scaled / np.array([0.0, 3e-39, 1.0], dtype=np.float32)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"out_height": 0}, "out_height must be 1 to"),
        ({"filter": 6}, "Pillow's numbers 0 to 5, got 6"),
        ({"window": (0, 0, 5, 4)}, r"\(0, 0, 5, 4\) must lie inside the 4x4 result"),
        ({"box": (0.0, 0.0, 8.5, 8.0)}, "must lie inside the 8x8 image"),
        ({"box": (1.0, 0.0, 1.0, 8.0)}, "must not be empty"),
        ({"box": (0.0, 0.0, 4.0, 4.0), "filter": 0}, "not for the nearest filter"),
        ({"element": "float64"}, "'float64' is unknown. Use one of uint8, float16"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    """Errors say what was got and what is allowed."""
    good = {"out_height": 4, "out_width": 4, "filter": 2, "window": (0, 0, 4, 4)}
    with pytest.raises(CoreError, match=message):
        kernels.resize(noise(8, 8), **(good | arguments))
