"""Ops that stand for timm's: what they say of images that they cannot take."""

import numpy as np
import pytest

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import REPEAT_SHIFT, Draws
from penstock.translation.transforms.read_timm import TrimBorder


def test_a_sample_that_comes_again_is_named_by_its_position():
    """Its draws have another key each time, which is no number of a sample."""
    draws = Draws(0, 0, np.array([3 | 1 << REPEAT_SHIFT]), 0)

    with pytest.raises(TransformError, match=r"sample 3 is 8x9 here, and has nothing left"):
        TrimBorder(4).sample(draws, Sizes(np.array([8]), np.array([9])))
