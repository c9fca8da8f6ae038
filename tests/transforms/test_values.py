import re

import numpy as np
import pytest

from penstock import transforms as T
from penstock._core import Element
from penstock.errors import TransformError
from penstock.planner.plan import as_written
from penstock.transforms.values import FinalSpec, reduce_final

NORMALIZE = T.Normalize((0.5, 0.25, 0.1), (0.5,))
MEAN = (0.5, 0.25, float(np.float32(0.1)))
STD = (0.5, 0.5, 0.5)
UNIT = float(np.float32(1 / 255))
OF_HALF = float(np.reciprocal(np.float32(127.5)))


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ([], FinalSpec()),
        ([T.ToDtype("uint8", scale=True)], FinalSpec()),
        ([T.ToDtype("float32")], FinalSpec(Element.FLOAT32)),
        ([T.ToDtype("float16", scale=True)], FinalSpec(Element.FLOAT16, UNIT)),
        ([NORMALIZE], FinalSpec(Element.FLOAT32, UNIT, MEAN, STD)),
        ([T.ToDtype("float32"), NORMALIZE], FinalSpec(Element.FLOAT32, 1.0, MEAN, STD)),
        ([T.ToTensor()], FinalSpec(Element.FLOAT32, divisor=255.0)),
        (
            [T.Normalize((0.5, 0.25, 0.0), (0.5,), flavor="albumentations")],
            FinalSpec(Element.FLOAT32, mean=(127.5, 63.75, 0.0), gain=(OF_HALF,) * 3),
        ),
        (
            [T.ToTensor(), NORMALIZE, T.ToDtype("float16")],
            FinalSpec(Element.FLOAT16, 1.0, MEAN, STD, divisor=255.0),
        ),
        (
            [T.ToDtype("float32", scale=True), NORMALIZE, T.ToDtype("bfloat16", scale=True)],
            FinalSpec(Element.BFLOAT16, UNIT, MEAN, STD),
        ),
        (
            [T.ToDtype("float32", scale=True), T.ToDtype("float32", scale=True)],
            FinalSpec(Element.FLOAT32, UNIT),
        ),
    ],
)
def test_the_end_of_a_pipeline_becomes_one_pass(ops, expected):
    assert reduce_final(enumerate(ops)) == expected


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        ([NORMALIZE, NORMALIZE], "Normalize (step 2): the image is normalised already."),
        (
            [T.ToDtype("float16", scale=True), NORMALIZE],
            'which would round every step of the calculation. Put ToDtype("float16") after',
        ),
        (
            [NORMALIZE, T.ToDtype("uint8")],
            "ToDtype (step 2): the image is float32 here and cannot become uint8.",
        ),
        ([NORMALIZE, T.ToTensor()], "ToTensor (step 2): the image is float32 here already."),
        (
            [T.ToTensor(), T.Normalize((0.5,), (0.5,), flavor="albumentations")],
            'Normalize (step 2): flavor "albumentations" takes a uint8 image, and it is float32',
        ),
        (
            [T.ToDtype("float16"), T.ToDtype("float32")],
            "ToDtype (step 2): the image is float16 here and cannot become float32.",
        ),
    ],
)
def test_orders_that_would_round_in_between_are_refused(ops, message):
    with pytest.raises(TransformError, match=re.escape(message)):
        reduce_final(enumerate(ops))


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16"), "torch.float16"])
def test_dtypes_go_by_name(dtype):
    assert T.ToDtype(dtype).element == Element.FLOAT16


def test_torch_dtypes_are_known():
    torch = pytest.importorskip("torch")

    for name in ("uint8", "float16", "bfloat16", "float32"):
        assert T.ToDtype(getattr(torch, name)).element == Element[name.upper()]
    with pytest.raises(TransformError, match=r"got torch\.float64. Use one of them"):
        as_written(T.ToDtype(torch.float64))
