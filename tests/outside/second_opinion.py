"""What torchvision itself makes of the parameters that penstock drew.

Some of torchvision's tests compare a transform with itself, on a tensor and on a Pillow image.
With both of them ours that would say nothing, so each result is held against torchvision's here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

# Those whose drawn parameters `params` can tell in full.
COMPARED = (
    "ColorJitter",
    "RandomAffine",
    "RandomCrop",
    "RandomIoUCrop",
    "RandomPerspective",
    "RandomPhotometricDistort",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomZoomOut",
    "ScaleJitter",
)
_BOXES_WITHIN_PX = 1e-3


def assert_as_torchvision(
    original: v2.Transform, given: Any, params: dict[str, Any], got: Any
) -> None:
    """Pillow images must be equal to the byte, boxes to rounding; others are not compared."""
    if isinstance(given, PIL.Image.Image):
        expected = original.transform(given, params)
        assert np.array_equal(np.asarray(got), np.asarray(expected)), f"{original} with {params}"
    elif isinstance(given, tv_tensors.BoundingBoxes) and given.is_floating_point():
        expected = original.transform(given, params)
        assert got.format == expected.format
        assert torch.allclose(got, expected, rtol=0, atol=_BOXES_WITHIN_PX), f"{original}: {params}"
