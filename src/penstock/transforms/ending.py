"""The end of most lists in one pass: ToImage, ToDtype and Normalize of a called Pillow image.

One by one, these write the image four times. The result is the same to the bit, in the same layout
in memory: channels last, as the Pillow image had them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from PIL import Image

from penstock._core import Element, Format, Pixels, copy_one
from penstock.transforms.conversions import ToImage
from penstock.transforms.functional.native.memory import pixels_of
from penstock.transforms.torch_draws import get_torch
from penstock.transforms.values import Normalize, ToDtype

STEPS = 3  # of the list that it does


class Ending(NamedTuple):
    """What Normalize subtracts and divides by, for red, green and blue."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


def find_ending(transforms: Sequence[Any]) -> Ending | None:
    """Return how a list ends, if it ends in these three and in float32."""
    match tuple(transforms[-STEPS:]):
        case (ToImage(), ToDtype() as to_dtype, Normalize() as normalize):
            is_usual = to_dtype.refusal is None and normalize.refusal is None
            is_float = to_dtype.element == Element.FLOAT32 and to_dtype.scale
            if is_usual and is_float and normalize.flavor == "torchvision":
                return Ending(normalize.channel_mean, normalize.channel_std)
        case _:
            pass
    return None


def finish(image: Any, ending: Ending) -> Any:
    """Return the tensor that the three steps make; None for what is no RGB image of Pillow's."""
    if not isinstance(image, Image.Image) or image.mode != "RGB":
        return None
    source = pixels_of(image)
    if source is None:
        return None
    torch = get_torch()
    width, height = image.size
    out = torch.empty((height, width, 3), dtype=torch.float32, device="cpu")
    room = Pixels.at(out.data_ptr(), height, width, 3, True, Element.FLOAT32, out)
    copy_one(room, source, 0, 0, False, False, _format(ending))
    tensor = out.permute(2, 0, 1)
    wrapped = sys.modules.get("torchvision.tv_tensors")
    return tensor if wrapped is None else wrapped.Image(tensor)


@lru_cache(maxsize=64)
def _format(ending: Ending) -> Format:
    return Format(Element.FLOAT32, "hwc", 1 / 255, list(ending.mean), list(ending.std))
