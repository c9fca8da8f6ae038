"""Images for people to look at: both sides, and their difference, amplified."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock.certifying.comparison import WorstImage
from penstock.certifying.images import channel_axis

LONGEST_PX = 320  # larger images are shown smaller
_COLOURS = 3

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pictures:
    """Three pictures as data URIs, and how their values became colours."""

    a: str
    b: str
    difference: str
    scaled: str  # what was done to the values of both sides; nothing if nothing was
    amplified: float  # what differences were multiplied by, in levels of 0 to 255


def draw_pictures(image: WorstImage) -> Pictures:
    """Return an image of both sides on one scale, and |a - b| so that the largest is white."""
    one, other = (_shown(pixels.values.astype(np.float64)) for pixels in (image.a, image.b))
    scaled = ""
    if image.a.dtype != "uint8":
        finite = np.concatenate([one[np.isfinite(one)], other[np.isfinite(other)]])
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        factor = 255 / ((high - low) or 1.0)
        one, other = (one - low) * factor, (other - low) * factor
        scaled = f"values from {low:.4g} to {high:.4g} shown as black to white"
    with np.errstate(invalid="ignore"):
        distances = np.abs(one - other)
    distances[~np.isfinite(distances)] = 255.0
    amplified = 255 / (distances.max() or 1.0)
    return Pictures(
        _uri(_reduced(one)),
        _uri(_reduced(other)),
        # The largest of the pixels that become one, or a single one that differs would vanish.
        _uri(_reduced(distances * amplified, largest=True)),
        scaled,
        float(amplified),
    )


def _shown(values: Values) -> Values:
    """Return an image as (height, width, 3): gray, colours, or the first three channels."""
    axis = channel_axis(values.shape)
    layers = values[..., None] if axis is None else np.moveaxis(values, axis, 2)
    if layers.shape[2] < _COLOURS:
        return np.repeat(layers[:, :, :1], _COLOURS, axis=2)
    return np.ascontiguousarray(layers[:, :, :_COLOURS])


def _reduced(values: Values, *, largest: bool = False) -> Values:
    """Return an image in which blocks of pixels became one, if it is large."""
    height, width = values.shape[:2]
    block = -(-max(height, width) // LONGEST_PX)
    if block == 1:
        return values
    below, right = -height % block, -width % block
    padded = np.pad(values, ((0, below), (0, right), (0, 0)), mode="edge")
    blocks = padded.reshape(padded.shape[0] // block, block, padded.shape[1] // block, block, -1)
    merged: Values = blocks.max(axis=(1, 3)) if largest else blocks.mean(axis=(1, 3))
    return merged


def _uri(values: Values) -> str:
    levels = np.rint(np.nan_to_num(values, nan=255.0)).clip(0, 255).astype(np.uint8)
    buffer = BytesIO()
    Image.fromarray(levels).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
