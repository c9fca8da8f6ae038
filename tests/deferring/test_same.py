import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from PIL import Image

from penstock.deferring.same import first_difference


@dataclasses.dataclass
class Sample:
    image: object
    label: int


class Thing:
    def __init__(self, value):
        self.value = value


BLACK, WHITE = Image.new("L", (2, 2)), Image.new("L", (2, 2), 255)
DIFFERENT = [
    (torch.zeros(2), torch.ones(2)),
    (torch.zeros(2), torch.zeros(3)),
    (torch.zeros(2), torch.zeros(2).double()),
    (torch.zeros(2), -torch.zeros(2)),
    (np.zeros(2), np.ones(2)),
    (np.array([None]), np.array([1], dtype=object)),
    (BLACK, WHITE),
    ({"a": 1}, {"b": 1}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ([1, 2], [1]),
    ((1,), [1]),
    (Sample(torch.zeros(2), 1), Sample(torch.ones(2), 1)),
    (Thing(torch.zeros(2)), Thing(torch.ones(2))),
    (1.0, float("nan")),
    (1, True),
]


@pytest.mark.parametrize("pair", DIFFERENT, ids=range(len(DIFFERENT)))
def test_samples_that_differ(pair):
    one, other = pair

    assert first_difference(one, other)
    assert not first_difference(one, one)


def test_samples_that_are_the_same():
    def sample():
        return {
            "image": torch.full((2,), float("nan")),
            "pixels": WHITE.copy(),
            "more": [Sample(np.zeros(2), 3), Thing(None), float("nan"), "text"],
        }

    assert not first_difference(sample(), sample())
