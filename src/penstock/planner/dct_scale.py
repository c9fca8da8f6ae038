"""Which photos to decode at reduced size: fidelity="fast".

A JPEG holds 8x8 blocks of frequencies. Leaving out the upper ones gives the image at 1/2, 1/4 or
1/8 of its size for less work, and the resize that follows has fewer pixels to go through. It would
have smoothed away what is missing, or nearly so, if enough is left for it to do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock._core import StepColumn
from penstock.planner.lower import Steps
from penstock.transforms.arguments import InterpolationMode

_SCALES = (2, 4, 8)

# How far the resize must still reduce the reduced photo: its filter then spans enough pixels to
# have nearly the same shape. At 1 errors are three times as large, at 3 a quarter of the gain is
# lost.
_SPARE = 2

# Box takes every pixel whole or not at all, nearest takes single ones: both show what is left out.
_SMOOTH = [
    mode.pillow_filter
    for mode in (
        InterpolationMode.BILINEAR,
        InterpolationMode.HAMMING,
        InterpolationMode.BICUBIC,
        InterpolationMode.LANCZOS,
    )
]


def choose_dct_scale(steps: Steps) -> Steps:
    """The same steps, with the largest scale that each sample's first resize leaves room for."""
    table = steps.table.copy()
    first = table[:, 0]
    padding = first[
        :, [StepColumn.PAD_LEFT, StepColumn.PAD_TOP, StepColumn.PAD_RIGHT, StepColumn.PAD_BOTTOM]
    ]
    usable = np.isin(first[:, StepColumn.FILTER], _SMOOTH) & ~padding.any(axis=1)
    reduction = np.minimum(
        first[:, StepColumn.CROP_HEIGHT] / first[:, StepColumn.RESIZE_HEIGHT],
        first[:, StepColumn.CROP_WIDTH] / first[:, StepColumn.RESIZE_WIDTH],
    )
    for scale in _SCALES:
        first[usable & (reduction >= scale * _SPARE), StepColumn.DCT_SCALE] = scale
    return replace(steps, table=table)
