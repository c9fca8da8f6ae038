"""Sides to compare: small batches of made-up images, and what goes with them."""

from __future__ import annotations

import numpy as np


def make_images(count=6, shape=(3, 5, 7), dtype=np.uint8, seed=0):
    """Random images that differ from each other."""
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        return rng.normal(size=(count, *shape)).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, (count, *shape), endpoint=True).astype(dtype)


def in_batches(images, labels=None, size=4):
    """The same as a list of batches."""
    cuts = [slice(begin, begin + size) for begin in range(0, len(images), size)]
    if labels is None:
        return [images[cut] for cut in cuts]
    return [(images[cut], labels[cut]) for cut in cuts]


class NamedFiles:
    """A Dataset as ImageFolder is one: `samples` lists its files."""

    def __init__(self, images, names, labels=None, root="/data"):
        self.images = images
        self.labels = list(range(len(images))) if labels is None else labels
        self.root = root
        self.samples = [(f"{root}/{name}", 0) for name in names]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]
