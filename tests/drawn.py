"""Drawing in tests: a batch of like images, and what the reference makes of a sample."""

import numpy as np

from penstock.geometry import Sizes
from penstock.reference.pipeline import run_moves
from penstock.rng import Draws


def batch(op, count, size=(40, 60), seed=0, epoch=0):
    """The moves of `count` images of the same size."""
    sizes = Sizes(np.full(count, size[0]), np.full(count, size[1]))
    return op.sample(Draws(seed, epoch, np.arange(count), 0), sizes)


def applied(moves, image, row):
    """One sample's pixels after the moves, by the reference."""
    return np.asarray(run_moves(image, moves, row))


def effects_of(moves, row):
    """(effect, parameters) of one sample, those that do something."""
    found = [(int(move.effect[row]), move.parameters(row)) for move in moves]
    return [(effect, parameters) for effect, parameters in found if effect]
