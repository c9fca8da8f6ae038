"""How others come to ask us: wrappers in the places of functions that open images.

Wrappers do what they wrap, unless this thread is asking a Dataset (`deferring`), or is given an
image or tensor of ours. So they stay once they are there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import open_image

Function = Callable[..., Any]

_UPRIGHT = 1
_done: set[str] = set()


def install() -> None:
    """Put the wrappers in their places, for all libraries that are imported by now."""
    once("PIL", _wrap_pillow)
    if "torchvision" in sys.modules:
        from penstock.deferring.torchvision_hooks import wrap_torchvision

        once("torchvision", wrap_torchvision)


def once(name: str, wrap: Callable[[], dict[Function, Function]]) -> None:
    """Replace functions of a library, unless that was done before."""
    if name in _done:
        return
    _done.add(name)
    replace_everywhere(wrap())


def replace_everywhere(wrappers: dict[Function, Function]) -> None:
    """Put wrappers in the places of functions, also where modules have imported them by name."""
    known = {id(original): wrapper for original, wrapper in wrappers.items()}
    for name, module in list(sys.modules.items()):
        if name.startswith("penstock."):
            continue
        for attribute, value in list(getattr(module, "__dict__", {}).items()):
            wrapper = known.get(id(value))
            if wrapper is not None:
                setattr(module, attribute, wrapper)


def _wrap_pillow() -> dict[Function, Function]:
    return {
        open_with_pillow: open_image,
        _from_array_by_pillow: _from_array,
        ImageOps.exif_transpose: _exif_transpose,
    }


_from_array_by_pillow: Any = Image.fromarray


@wraps(_from_array_by_pillow)
def _from_array(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """Make an image of RGB pixels, of which Pillow makes a copy as well."""
    is_known = type(obj) is np.ndarray and obj.dtype == np.uint8 and not (args or kwargs)
    if counts_here() is None or not is_known or obj.shape[2:] != (3,) or not obj.size:
        return _from_array_by_pillow(obj, *args, **kwargs)
    pixels = np.array(obj, order="C")
    pixels.setflags(write=False)
    return DeferredImage.of_chain(Chain.of_pixels(pixels), "RGB", None)


_turn_by_pillow: Any = ImageOps.exif_transpose


@wraps(_turn_by_pillow)
def _exif_transpose(image: Any, *, in_place: bool = False) -> Any:
    """Turn an image as its EXIF data say; those that are upright need no second look at it."""
    if isinstance(image, DeferredImage) and not in_place and image.orientation == _UPRIGHT:
        return image.copy()
    return _turn_by_pillow(image, in_place=in_place)


def is_ours(image: Any) -> bool:
    """Whether an image is one of ours; for wrappers, which are asked about everything."""
    return type(image) is DeferredImage
