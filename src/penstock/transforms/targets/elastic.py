"""Where an elastic warp sends points.

As torchvision has it, approximately: the image looks for a pixel at its place plus a displacement,
points move by the same displacement backwards. It is the one at the pixel the point lies in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock import _core
from penstock.geometry import Floats, Size

Points = npt.NDArray[np.floating[Any]]


def shift_elastic(numbers: Floats, size: Size) -> Callable[[Points], Floats]:
    """How points move under an ELASTIC effect with these numbers, on an image of this size."""
    across, down = elastic_field(numbers, size)

    def shift(points: Points) -> Floats:
        """Move points (..., 2) at whole places; those outside go to the border first."""
        x = np.clip(points[..., 0], 0, size.width - 1).astype(np.int64)
        y = np.clip(points[..., 1], 0, size.height - 1).astype(np.int64)
        return np.stack([x - across[y, x], y - down[y, x]], axis=-1)

    return shift


def elastic_field(numbers: Floats, size: Size) -> npt.NDArray[np.float32]:
    """Displacements of every pixel in pixels, as the core displaces it: (across and down, y, x)."""
    alpha, sigma = numbers[0:2].tolist(), numbers[2:4].tolist()
    key = [int(word) for word in numbers[6:8]]
    return _core.elastic_field(size.height, size.width, alpha, sigma, key)
