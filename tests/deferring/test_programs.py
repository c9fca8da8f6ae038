"""Chains that have little in common, as one program for each, however they are made."""

import random

import numpy as np
import pytest

pytest.importorskip("torch")

from penstock._core import Effect, PadMode, Weights
from penstock.deferring.carry_out import Job, carry_out
from penstock.deferring.chain import Chain, JpegFile
from penstock.deferring.chain_moves import moves_of
from penstock.deferring.programs import _one_step
from penstock.geometry import Sizes
from penstock.planner.lower import lower
from tests.deferring.pictures import coded, picture

FILTERS = {Weights.PILLOW: (0, 1, 2, 3, 4, 5), Weights.OPENCV: (0, 2, 4)}
SIZES = ((1, 1), (1, 9), (13, 17), (40, 31))
EFFECTS = (
    (Effect.BRIGHTNESS, (1.3,)),
    (Effect.TENSOR_CONTRAST, (0.6,)),
    (Effect.TENSOR_HUE, (0.2,)),
    (Effect.GRAYSCALE, ()),
    (Effect.TENSOR_GRAYSCALE, ()),
    (Effect.OPENCV_GRAYSCALE, ()),
    (Effect.SHARPNESS, (1.7,)),
    (Effect.AFFINE, (0.9, 0.1, 1.0, -0.1, 1.0, 0.5, 2, 0x332211)),
)


def step_of(rng, chain, *, with_effects):
    kinds = ["crop", "resize", "flip", "nothing"] + ["pad", "effect"] * with_effects
    match rng.choice(kinds):
        case "crop":
            height, width = rng.randint(1, chain.height), rng.randint(1, chain.width)
            top, left = rng.randint(0, chain.height - height), rng.randint(0, chain.width - width)
            return chain.crop(top, left, height, width)
        case "resize":
            weights = rng.choice(list(Weights))
            number = rng.choice(FILTERS.get(weights, (2, 3)))
            return chain.resize(rng.randint(2, 30), rng.randint(2, 30), number, int(weights))
        case "flip":
            return chain.flip(horizontal=rng.random() < 0.7, vertical=rng.random() < 0.4)
        case "pad":
            size = chain.height + rng.randint(0, 4), chain.width + rng.randint(0, 4)
            top, left = (
                rng.randint(0, now - before)
                for now, before in zip(size, (chain.height, chain.width), strict=True)
            )
            mode = rng.choice((PadMode.CONSTANT, PadMode.EDGE))
            return chain.pad(top, left, size, int(mode), rng.choice(((0, 0, 0), (9, 80, 200))))
        case "effect":
            return chain.apply(*rng.choice(EFFECTS))
    return chain


def chain_of(rng, *, with_effects=True, most=5):
    height, width = rng.choice(SIZES)
    file = JpegFile(coded(picture(width, height, seed=rng.randint(0, 9))), "a file", height, width)
    chain = Chain.of_file(file)
    for _ in range(rng.randint(0, most)):
        chain = step_of(rng, chain, with_effects=with_effects)
    return chain


def computed(chains, threads=1):
    rooms = [np.zeros((chain.height, chain.width, 3), dtype=np.uint8) for chain in chains]
    carry_out([Job(chain, room) for chain, room in zip(chains, rooms, strict=True)], threads)
    return rooms


@pytest.mark.parametrize("threads", [1, 2])
def test_together_they_are_what_each_is_alone(threads):
    """With steps that change nothing where others have some, and in a better order."""
    rng = random.Random(1)
    for _ in range(25):
        chains = [chain_of(rng) for _ in range(rng.randint(2, 7))]
        together = computed(chains, threads)
        for chain, found in zip(chains, together, strict=True):
            pixels = computed([chain.upto(0)])[0]
            for number, step in enumerate(chain.steps):
                until = chain.upto(number + 1)
                alone = Chain(pixels, (step,), until.height, until.width)
                pixels = computed([alone])[0]

            np.testing.assert_array_equal(found, pixels)


def test_one_step_is_made_as_many_are():
    rng = random.Random(2)
    found = 0
    for _ in range(400):
        chain = chain_of(rng, with_effects=False, most=4)
        row = _one_step(chain)
        if row is None:
            continue
        height, width = chain.source_size
        sizes = Sizes(np.array([height]), np.array([width]))
        steps = lower(moves_of([chain], sizes), sizes)
        found += 1

        assert steps.table.tolist() == [[row]]
        assert steps.out_sizes.height[0] == chain.height

    assert found > 200


def test_what_takes_more_than_a_step_is_left_to_others():
    chain = Chain.of_pixels(np.zeros((20, 20, 3), dtype=np.uint8))

    assert _one_step(chain.resize(9, 9, 2).resize(5, 5, 2)) is None
    assert _one_step(chain.flip(horizontal=True, vertical=False).resize(5, 5, 2)) is None
    assert _one_step(chain.apply(Effect.INVERT)) is None
    assert _one_step(chain.pad(0, 0, (21, 21), 0, (0, 0, 0))) is None
