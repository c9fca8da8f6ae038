"""Transforms and comparisons for what is torch's own kind."""

import pytest

from penstock import transforms as T

torch = pytest.importorskip("torch")

RANDOM = T.Compose(
    [T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToDtype("float32", scale=True)]
)

MANY_SIZES = T.Compose([T.RandomHorizontalFlip(0.5), T.RandomShortestSize([24, 32, 48])])


def same(one, other):
    """Whether samples or batches, in any nesting, are equal to the bit."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return one == other


def same_kinds(one, other):
    """The same, and lists are lists, and tuples are tuples."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same_kinds(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return (
            type(one) is type(other) and len(one) == len(other) and all(map(same_kinds, one, other))
        )
    return same(one, other)
