"""Looking up gives what computing gives."""

import numpy as np
import pytest

from penstock.geometry import Sizes
from penstock.transforms.policies.ops import NOTHING, binned_move, make_scene, policy_move
from penstock.transforms.policies.spaces import rand_augment_ops

LOOK = (2, (1, 2, 3))


@pytest.mark.parametrize("heights", [(30, 30), (30, 31)], ids=["one size", "two sizes"])
def test_looked_up_is_computed(heights):
    rng = np.random.default_rng(0)
    count = 500
    ops, levels = rand_augment_ops(31), (0.0, 4.0, 30.0)
    chosen = rng.integers(NOTHING, len(ops), count)
    bins = rng.integers(0, len(levels), count)
    signs = rng.choice([-1.0, 1.0], count)
    sizes = Sizes(np.resize(heights, count), np.full(count, 40))

    found = binned_move(ops, levels, chosen, bins, signs, sizes, LOOK)
    scene = make_scene(sizes, *LOOK)
    computed = policy_move(ops, chosen, np.array(levels)[bins], signs, scene)

    assert np.array_equal(found.effect, computed.effect)
    assert np.array_equal(found.numbers, computed.numbers)
    assert np.array_equal(found.height, computed.height)
