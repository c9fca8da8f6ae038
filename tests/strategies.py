"""Hypothesis strategies that several tests share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from PIL import Image

from penstock import transforms as T

seeds = st.integers(0, 2**64 - 1)
sides = st.integers(1, 20)
small_sides = st.integers(1, 8)
modes = st.sampled_from(["nearest", "bilinear", "bicubic", "box", "hamming", "lanczos"])
padding_modes = st.sampled_from(["constant", "edge", "reflect", "symmetric"])
colours = st.tuples(*[st.integers(0, 255)] * 3)
borders = st.integers(0, 6)

image_sizes = st.tuples(sides, sides)  # (height, width)


def make_image(size: tuple[int, int], seed: int = 0) -> Image.Image:
    """Noise, in which no two mistakes look alike."""
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8))


resizes = st.one_of(
    st.builds(T.Resize, image_sizes, modes),
    st.builds(T.Resize, small_sides, modes),
    st.builds(lambda size, more, mode: T.Resize(size, mode, size + more), sides, sides, modes),
)
pads = st.builds(T.Pad, st.tuples(borders, borders, borders, borders), colours, padding_modes)
flips = st.builds(
    lambda kind, p: kind(p),
    st.sampled_from([T.RandomHorizontalFlip, T.RandomVerticalFlip]),
    st.sampled_from([0.5, 1.0]),
)
center_crops = st.builds(T.CenterCrop, image_sizes)
random_crops = st.builds(
    T.RandomCrop,
    st.tuples(small_sides, small_sides),
    padding=st.none() | borders,
    pad_if_needed=st.just(value=True),
    fill=colours,
    padding_mode=padding_modes,
)
resized_crops = st.builds(T.RandomResizedCrop, image_sizes, interpolation=modes)
bucket_resizes = st.builds(
    T.ResizeToBucket,
    st.lists(image_sizes, min_size=1, max_size=4, unique=True),
    st.sampled_from(["random", "center"]),
    modes,
)


# No image of `image_sizes` is too small for one of these. Flips are the hardest to fuse around.
geometric_ops = st.one_of(
    *(flips, resizes, pads, flips, center_crops, random_crops, resized_crops, bucket_resizes)
)

pipelines = st.lists(geometric_ops, min_size=1, max_size=6).map(T.Compose)
