"""The steps of a batch as the cost model sees them: which pixels of their input each needs.

This follows what cpp/engine and the resize of cpp/kernels do with a step.
"""

from __future__ import annotations

import numpy as np

from penstock._core import StepColumn
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.lower import NO_RESIZE
from penstock.transforms.arguments import InterpolationMode

NEAREST = InterpolationMode.NEAREST.pillow_filter

# Pixels to each side of a place that Pillow's filters reach, for images that are not reduced.
_SUPPORT = np.ones(6)
_SUPPORT[InterpolationMode.BOX.pillow_filter] = 0.5
_SUPPORT[InterpolationMode.BICUBIC.pillow_filter] = 2.0
_SUPPORT[InterpolationMode.LANCZOS.pillow_filter] = 3.0

# Passes of a resize take samples four at a time.
_QUAD = 4


class BatchStep:
    """The columns of one step of some samples."""

    def __init__(self, rows: Ints) -> None:
        column = rows.T
        self.pad_left = column[StepColumn.PAD_LEFT]
        self.pad_top = column[StepColumn.PAD_TOP]
        self.pad_mode = column[StepColumn.PAD_MODE]
        self.crop_top = column[StepColumn.CROP_TOP]
        self.crop_left = column[StepColumn.CROP_LEFT]
        self.crop_height = column[StepColumn.CROP_HEIGHT]
        self.crop_width = column[StepColumn.CROP_WIDTH]
        self.resize_height = column[StepColumn.RESIZE_HEIGHT]
        self.resize_width = column[StepColumn.RESIZE_WIDTH]
        self.filter = column[StepColumn.FILTER]
        self.vertical_first = column[StepColumn.VERTICAL_FIRST]
        self.window_top = column[StepColumn.WINDOW_TOP]
        self.window_left = column[StepColumn.WINDOW_LEFT]
        self.window_height = column[StepColumn.WINDOW_HEIGHT]
        self.window_width = column[StepColumn.WINDOW_WIDTH]
        self.flip_horizontal = column[StepColumn.FLIP_HORIZONTAL]
        self.gray = column[StepColumn.GRAY]
        self.scale = column[StepColumn.DCT_SCALE]
        self.dc_alone: Bools = column[StepColumn.DC_ALONE] != 0
        self.pads: Bools = np.asarray(rows[:, : StepColumn.PAD_MODE].any(axis=1))
        self.resizes: Bools = self.filter != NO_RESIZE

    def axes(self) -> tuple[Axis, Axis]:
        """Rows and columns of the resize; of the window alone where nothing is resized."""
        return (
            Axis(self, self.crop_height, self.resize_height, self.window_top, self.window_height),
            Axis(self, self.crop_width, self.resize_width, self.window_left, self.window_width),
        )

    def region(self, in_sizes: Sizes, down: Axis, across: Axis) -> Region:
        """What the step needs of its input; a step that pads needs all of it."""
        return Region(
            np.where(self.pads, 0, self.crop_top + down.begin),
            np.where(self.pads, 0, self.crop_left + across.begin),
            np.where(self.pads, in_sizes.height, down.end - down.begin),
            np.where(self.pads, in_sizes.width, across.end - across.begin),
        )


class Axis:
    """Which pixels of the box a window depends on along one axis, and how many each is made of."""

    def __init__(
        self, step: BatchStep, size: Ints, out_size: Ints, first: Ints, count: Ints
    ) -> None:
        plain = (step.filter == NO_RESIZE) | (step.filter == NEAREST) | (size == out_size)
        scale = size / out_size
        support = _SUPPORT[np.where(plain, NEAREST, step.filter)] * np.maximum(scale, 1.0)
        reach = np.where(plain, 0.0, support)
        self.begin: Floats = np.floor(np.maximum(first * scale - reach, 0))
        self.end: Floats = np.ceil(np.minimum((first + count) * scale + reach, size))
        # A photo that is decoded at a reduced size has fewer pixels under each filter.
        self.length: Floats = np.where(plain, 1.0, np.maximum(2 * support / step.scale, 1.0))
        self.row_taps: Floats = np.ceil(np.ceil(self.length) / _QUAD) * _QUAD
        # Lists of rows begin at every fourth row, and so reach up to three rows further up.
        self.column_taps: Floats = self.length + (_QUAD - 1)


class Region:
    """A part of the source, in its pixels."""

    def __init__(self, top: Floats, left: Floats, height: Floats, width: Floats) -> None:
        self.top, self.left, self.height, self.width = top, left, height, width
        self.pixels = height * width
