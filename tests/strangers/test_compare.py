"""The judge finds every difference, and says where."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import PIL.Image
import pytest

pytest.importorskip("torch")

import torch

from tests.strangers.compare import batches, difference, same

Pair = namedtuple("Pair", "left right")  # noqa: PYI024  as old code has it


@dataclass
class Sample:
    image: object
    label: int


def picture(level=0, mode="L", **info):
    image = PIL.Image.new(mode, (3, 2), level)
    image.info.update(info)
    return image


def paletted(first):
    image = picture(0, "P")
    image.putpalette([first, 0, 0] * 256)
    return image


RAMP = torch.arange(12.0).reshape(3, 4)
DIFFERENT = {
    "list_and_tuple": ([1, 2], (1, 2), "batches: builtins.list, and builtins.tuple"),
    "length": ([1, 2], [1, 2, 3], "2 items, and 3"),
    "place": ([[1, 5], [2, 6]], [[1, 5], [2, 7]], "batches[1][1]: 6, and 7"),
    "keys_in_order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "batches, keys[0]: 'a', and 'b'"),
    "value": ({"a": {"b": 1}}, {"a": {"b": 2}}, "batches['a']['b']: 1, and 2"),
    "kind_of_dict": ({"a": 1}, OrderedDict(a=1), "builtins.dict, and collections.OrderedDict"),
    "named_tuple": (Pair(1, 2), (1, 2), "Pair, and builtins.tuple"),
    "data_class": (Sample(1, 2), Sample(1, 3), "batches['label']: 2, and 3"),
    "bool_and_int": (True, 1, "builtins.bool, and builtins.int"),
    "text": ("dog", "cat", "'dog', and 'cat'"),
    "none": (None, 0, "NoneType, and builtins.int"),
    "last_bit": (0.1 + 0.2, 0.3, "0.30000000000000004"),
    "tensor_dtype": (RAMP, RAMP.double(), "dtype torch.float32, and torch.float64"),
    "tensor_shape": (RAMP, RAMP[:2], "shape torch.Size([3, 4]), and torch.Size([2, 4])"),
    "tensor_gradient": (RAMP, RAMP.clone().requires_grad_(), "requires_grad False, and True"),
    "tensor_value": (RAMP, RAMP.clone().index_fill(1, torch.tensor(2), 9), "at [0, 2], and"),
    "sign_of_zero": (torch.tensor([1, 0.0]), torch.tensor([1, -0.0]), "1 of 2 values differ"),
    "half": (torch.tensor(1.0).bfloat16(), torch.tensor(2.0).bfloat16(), "1.0"),
    "nan_and_number": (np.array([np.nan]), np.array([1.0]), "nan"),
    "array_and_tensor": (np.zeros(2), torch.zeros(2), "numpy.ndarray, and torch.Tensor"),
    "array_dtype": (np.zeros(2), np.zeros(2, np.float32), "dtype float64, and float32"),
    "scalar_dtype": (np.float32(1), np.float64(1), "numpy.float32, and numpy.float64"),
    "objects": (np.array(["a", None]), np.array(["b", None]), "'a', and 'b'"),
    "image_mode": (picture(), picture(mode="RGB"), "batches, mode: 'L', and 'RGB'"),
    "image_pixel": (picture(7), picture(8), "6 of 6 values differ"),
    "image_info": (picture(dpi=(1, 2)), picture(dpi=(1, 3)), "batches, info['dpi'][1]: 2, and 3"),
    "palette": (paletted(1), paletted(2), "the palettes differ"),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_difference_is_found(case):
    first, second, text = DIFFERENT[case]

    assert text in difference(first, second)
    assert difference(second, first) is not None
    with pytest.raises(AssertionError):
        same([first], [second])


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_is_equal_is_the_same(case):
    for value in DIFFERENT[case][:2]:
        same([value], [value])


@pytest.mark.parametrize(
    "values",
    [
        (float("nan"), -float("nan")),
        (torch.tensor([1, float("nan")]), torch.tensor([1, float("nan")])),
        (np.array([np.nan], np.float16), -np.array([np.nan], np.float16)),
        (torch.zeros(0, 4), torch.zeros(4, 0).T),
        (np.zeros((2, 3), order="F"), np.zeros((2, 3))),
        ([picture()], [picture()]),
    ],
    ids=["float", "tensor", "bits_of_nan", "nothing", "array_layout", "picture"],
)
def test_equal_values_of_their_own_are_the_same(values):
    same(*values)


def test_what_tv_tensors_carry_counts(torchvision):
    from torchvision import tv_tensors

    boxes = tv_tensors.BoundingBoxes
    made = [[1, 1, 2, 2]], {"format": "XYXY", "canvas_size": (9, 9)}
    one, same_again = boxes(made[0], **made[1]), boxes(made[0], **made[1])
    other = boxes(made[0], format="XYWH", canvas_size=(9, 9))
    larger = boxes(made[0], format="XYXY", canvas_size=(9, 10))

    same(one, same_again)
    assert "['format']" in difference(one, other)
    assert "['canvas_size'][1]: 9, and 10" in difference(one, larger)
    assert "BoundingBoxes, and torch.Tensor" in difference(one, torch.tensor(made[0]))
    assert "Image, and" in difference(tv_tensors.Image(RAMP), RAMP)


def test_batches_are_drawn_from_the_seed():
    class Draws:
        def __iter__(self):
            import random

            yield random.random(), np.random.rand(), torch.rand(2)  # noqa: NPY002  what is seeded

    first, again, other = (batches(Draws(), seed, 2) for seed in (1, 1, 2))

    same(first, again)
    assert "batches[0][0][0]" in difference(first, other)
    assert difference(first[0], first[1]) is not None
