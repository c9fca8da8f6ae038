import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode, v2
from torchvision.transforms import functional as v1
from torchvision.transforms.v2 import functional

from penstock.deferring.hooks import install
from tests.deferring.pictures import FILES, late, opened, outcomes

FACTORS = (0, 0.5, 1, 1.7)
BOTH = {
    **{
        f"{name} {factor}": (name, factor)
        for name in ("brightness", "contrast", "saturation", "gamma", "sharpness")
        for factor in FACTORS
    },
    **{f"hue {factor}": ("hue", factor) for factor in (0, 0.3, -0.5, 0.7)},
}
BOTH = {name: (f"adjust_{which}", (factor,), {}) for name, (which, factor) in BOTH.items()} | {
    "autocontrast": ("autocontrast", (), {}),
    "equalize": ("equalize", (), {}),
    "invert": ("invert", (), {}),
    "posterize": ("posterize", (3,), {}),
    "solarize": ("solarize", (100,), {}),
    **{
        f"pad {mode} {sides}": ("pad", (sides,), {"padding_mode": mode})
        for mode in ("constant", "edge", "reflect", "symmetric")
        for sides in (0, 2, [1, 2], [1, 2, 3, 0])
    },
    "pad, filled": ("pad", (2,), {"fill": 7}),
    **{f"rotate {angle}": ("rotate", (angle,), {}) for angle in (0, 90, 33.3)},
    "rotate, larger": ("rotate", (20, InterpolationMode.BILINEAR), {"expand": True}),
    "affine": ("affine", (10, [1, 2], 1.2, [3.0, 0.0]), {}),
    "perspective": (
        "perspective",
        ([[0, 0], [5, 0], [5, 5], [0, 5]], [[1, 0], [5, 1], [5, 5], [0, 4]]),
        {},
    ),
    **{f"blur {side}": ("gaussian_blur", (side,), {}) for side in (1, 3)},
    **{f"gray {count}": ("rgb_to_grayscale", (count,), {}) for count in (1, 3)},
    "crop": ("crop", (0, 0, 5, 5), {}),
    "crop beyond": ("crop", (-2, -1, 50, 50), {}),
    "resize": ("resize", ([5, 6],), {}),
    "mirror": ("hflip", (), {}),
    "to_tensor": ("to_tensor", (), {}),
    "pil_to_tensor": ("pil_to_tensor", (), {}),
    "dimensions": ("get_dimensions", (), {}),
}


@pytest.fixture(autouse=True)
def _hooks():
    install()


@pytest.mark.filterwarnings("ignore:The function `to_tensor")
@pytest.mark.parametrize("module", [v1, functional], ids=["v1", "v2"])
@pytest.mark.parametrize("name", BOTH)
def test_functions_on_images(module, name):
    """Pixels, and what the file says of them: it may turn them later."""
    function, args, options = BOTH[name]

    def step(image):
        done = getattr(module, function)(image, *args, **options)
        return [done, done is image]

    for file in ("rgb", "gray", "png alpha", "exif 6"):
        pillows, ours = outcomes(FILES[file], step)

        assert ours == pillows, file


ON_TENSORS = {
    "image": late(functional, "to_image"),
    "floats": late(functional, "to_dtype"),
    "fractions": lambda x: functional.to_dtype(x, scale=True),
    "bytes": lambda x: functional.to_dtype(x, torch.uint8, scale=True),
    "doubles": lambda x: functional.to_dtype(x, torch.float64, scale=True),
    "fractions by v1": late(v1, "convert_image_dtype"),
    "normalise": lambda x: functional.normalize(x, [0.5], [0.2, 0.3, 0.4]),
    "normalise by v1": lambda x: v1.normalize(x, [0.5] * 3, [0.2, 0.3, 0.4]),
    "normalise in place": lambda x: functional.normalize(x, [0.1] * 3, [2] * 3, inplace=True),
    "normalise in place by v1": lambda x: v1.normalize(x, [0.1] * 3, [2] * 3, inplace=True),
    "divide by nothing": lambda x: functional.normalize(x, [0.5] * 3, [0.0] * 3),
    "crop": lambda x: functional.crop(x, 1, 2, 4, 5),
    "crop beyond": lambda x: functional.crop(x, -1, 2, 40, 5),
    "mirror": late(functional, "horizontal_flip"),
    "turn over": late(functional, "vertical_flip"),
    "resize": lambda x: functional.resize(x, [5, 6]),
    "wrap": lambda x: tv_tensors.wrap(x + 1, like=x),
    "plain": lambda x: x.as_subclass(torch.Tensor),
    "with boxes": lambda x: v2.CenterCrop(4)(
        x, tv_tensors.BoundingBoxes([[0, 0, 5, 5]], format="XYXY", canvas_size=x.shape[-2:])
    )[0],
    "by a transform": v2.Compose([v2.CenterCrop(5), v2.ToDtype(torch.float32, scale=True)]),
    "add": lambda x: x.add_(1),
    "clone": lambda x: x.clone(),
}


STARTS = {
    "to_image": late(functional, "to_image"),
    "pil_to_tensor": late(v1, "pil_to_tensor"),
    "to_tensor": late(v1, "to_tensor"),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("last", ON_TENSORS)
def test_functions_on_tensors(start, last):
    """Each after each of the others; what they were given counts as well, and the classes do."""

    def run(image, first):
        given = STARTS[start](image)
        before = ON_TENSORS[first](given)
        after = ON_TENSORS[last](before)
        return [
            (_class_of(one), tuple(one.shape), one.dtype, one.clone().as_subclass(torch.Tensor))
            for one in (after, before, given)
        ]

    for first in ON_TENSORS:
        pillows, ours = outcomes(FILES["rgb"], lambda image, first=first: run(image, first))

        assert ours == pillows, first


def _class_of(tensor):
    return getattr(type(tensor), "plain_class", type(tensor)).__name__


def test_a_transform_of_an_image_is_not_of_our_making_for_others():
    image = opened(FILES["rgb"], deferred=False)

    assert type(v1.to_tensor(image)) is torch.Tensor
    assert type(functional.to_image(image)) is tv_tensors.Image
