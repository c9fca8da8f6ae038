import random

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from penstock.deferring.random_state import RandomState, generators_in


class Holder:
    def __init__(self, inner):
        self.inner = inner


def made():
    return {
        "python": random.Random(1),
        "numpy": np.random.default_rng(1),
        "old numpy": np.random.RandomState(1),
        "torch": torch.Generator().manual_seed(1),
    }


def draw(generators):
    return [
        random.random(),
        random.gauss(0, 1),
        float(np.random.normal()),  # noqa: NPY002 (the same)
        float(torch.rand(())),
        generators["python"].gauss(0, 1),
        float(generators["numpy"].normal()),
        float(generators["old numpy"].normal()),
        float(torch.rand((), generator=generators["torch"])),
    ]


def test_all_generators_are_put_back():
    """Also in the middle of a pair of normal numbers, of which some keep the second."""
    generators = made()
    draw(generators)
    before = RandomState.now(tuple(generators.values()))
    first = [draw(generators) for _ in range(3)]
    before.restore()

    assert [draw(generators) for _ in range(3)] == first


@pytest.mark.parametrize("name", made())
def test_generators_are_found_where_users_keep_them(name):
    one = made()[name]
    thing = Holder({"transforms": [Holder(one), one], "itself": None})
    thing.inner["itself"] = thing

    assert generators_in(thing) == (one,)


def test_a_generator_without_a_state_is_none():
    assert generators_in(Holder(random.SystemRandom())) == ()
