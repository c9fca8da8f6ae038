"""What Pillow's modules ask of images that are not computed yet.

Methods of images remember what they can. Functions of ImageOps look at histograms or apply tables,
and enhancers prepare a second image at once: these are remembered here, as effects of the core that
give the same pixels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from penstock._core import Effect
from penstock.deferring.array import DeferredArray
from penstock.deferring.canvases import LONGEST_SIDE, Canvas
from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import open_image
from penstock.transforms.functional.native.memory import CHANNELS, run_effect

Function = Callable[..., Any]

_UPRIGHT = 1
_IMAGE_MODES = {"hwc": "RGB", "hw": "L"}
_MOST_BITS = 8
_LARGEST = 10_000.0  # beyond it, float arithmetic may go another way than Pillow's
_SEEN = "_penstock_seen"  # an enhancer's image as it was when the enhancer was made
_EFFECTS = {
    ImageEnhance.Brightness: Effect.BRIGHTNESS,
    ImageEnhance.Contrast: Effect.CONTRAST,
    ImageEnhance.Color: Effect.SATURATION,
    ImageEnhance.Sharpness: Effect.SHARPNESS,
}
_prepare: dict[Any, Function] = {kind: kind.__init__ for kind in _EFFECTS}
_WITHOUT_INFO = (Effect.BRIGHTNESS, Effect.CONTRAST)  # their second image knows of no file


def wrap_pillow() -> dict[Function, Function]:
    """Make enhancers wait; return wrappers for functions."""
    for kind, prepare in _prepare.items():
        kind.__init__ = _wrap_making(prepare)
    base: Any = ImageEnhance._Enhance  # noqa: SLF001 (all enhancers have their methods from it)
    base.enhance = _wrap_enhance(base.enhance)
    base.__getattr__ = _missing
    return {
        open_with_pillow: open_image,
        Image.fromarray: _wrap_making_of_arrays(Image.fromarray),
        Image.new: _wrap_new(Image.new),
        ImageOps.exif_transpose: _wrap_turning(ImageOps.exif_transpose),
        ImageOps.autocontrast: _or_pillow(ImageOps.autocontrast, _autocontrast),
        ImageOps.equalize: _or_pillow(ImageOps.equalize, _equalize),
        ImageOps.invert: _or_pillow(ImageOps.invert, _invert),
        ImageOps.posterize: _or_pillow(ImageOps.posterize, _posterize),
        ImageOps.solarize: _or_pillow(ImageOps.solarize, _solarize),
    }


def _wrap_turning(original: Function) -> Function:
    """Turn images as their EXIF data say; those that are upright need no second look at it."""

    @wraps(original)
    def exif_transpose(image: Any, *, in_place: bool = False) -> Any:
        if isinstance(image, DeferredImage) and not in_place and image.orientation == _UPRIGHT:
            return image.copy()
        return original(image, in_place=in_place)

    return exif_transpose


def _wrap_making_of_arrays(original: Function) -> Function:
    """Make images of RGB pixels, of which Pillow makes a copy as well."""

    @wraps(original)
    def fromarray(obj: Any, *args: Any, **kwargs: Any) -> Any:
        if type(obj) is DeferredArray:
            made = None if args or kwargs else _image_of(obj)
            return original(obj.values(), *args, **kwargs) if made is None else made
        is_known = type(obj) is np.ndarray and obj.dtype == np.uint8 and not (args or kwargs)
        if counts_here() is None or not is_known or obj.shape[2:] != (3,) or not obj.size:
            return original(obj, *args, **kwargs)
        pixels = np.array(obj, order="C")
        pixels.setflags(write=False)
        return DeferredImage.of_chain(Chain.of_pixels(pixels), "RGB", None)

    return fromarray


def _image_of(array: DeferredArray) -> DeferredImage | None:
    """An image of an array of bytes that is not computed yet; None for others."""
    chain, spec = array.chain, array.spec
    if chain is None or spec.values is not None or spec.layout not in _IMAGE_MODES:
        return None
    if spec.blue_first:
        chain = chain.apply(Effect.PERMUTE_CHANNELS, (2.0, 1.0, 0.0))
    return DeferredImage.of_chain(chain, _IMAGE_MODES[spec.layout], None)


def _wrap_new(original: Function) -> Function:
    """Make images of one colour, which know that they are."""

    @wraps(original)
    def new(mode: Any, size: Any, color: Any = 0) -> Any:
        made = original(mode, size, color)
        if counts_here() is None or made.mode not in CHANNELS or 0 in made.size:
            return made
        asker = sys._getframe(1).f_globals.get("__name__")  # noqa: SLF001 (who called is the question)
        if asker == Image.__name__ or max(made.size) >= LONGEST_SIDE:
            return made  # Pillow is about to fill it with other pixels
        found = made.getpixel((0, 0))
        colour = found if isinstance(found, tuple) else (found,) * 3
        return DeferredImage.of_canvas(Canvas(made, colour))

    return new


# ---- ImageOps ----


def _or_pillow(original: Function, attempt: Function) -> Function:
    """A function of ImageOps; `attempt` returns None for what Pillow must do."""

    @wraps(original)
    def wrapper(image: Any, *args: Any, **kwargs: Any) -> Any:
        done = None
        if type(image) is DeferredImage and image.mode in CHANNELS:
            done = attempt(image, *args, **kwargs)
        return original(image, *args, **kwargs) if done is None else done

    return wrapper


def _autocontrast(image: DeferredImage, *args: Any, **kwargs: Any) -> Any:
    return None if args or kwargs else run_effect(image, Effect.AUTOCONTRAST)


def _equalize(image: DeferredImage, *args: Any, **kwargs: Any) -> Any:
    return None if args or kwargs else run_effect(image, Effect.EQUALIZE)


def _invert(image: DeferredImage) -> Any:
    return run_effect(image, Effect.INVERT)


def _posterize(image: DeferredImage, bits: Any) -> Any:
    is_known = type(bits) is int and 1 <= bits <= _MOST_BITS
    return run_effect(image, Effect.POSTERIZE, bits) if is_known else None


def _solarize(image: DeferredImage, threshold: Any = 128) -> Any:
    is_known = isinstance(threshold, (int, float)) and abs(threshold) <= _LARGEST
    return run_effect(image, Effect.SOLARIZE, threshold) if is_known else None


# ---- ImageEnhance ----


def _wrap_making(original: Function) -> Function:
    """An enhancer of an image that is remembered prepares nothing."""

    @wraps(original)
    def __init__(self: Any, image: Any) -> None:  # noqa: N807 (it is one)
        is_colour = isinstance(self, ImageEnhance.Color)
        if not _is_remembered(image) or (is_colour and _has_own_gray(image)):
            original(self, image)
            return
        self.image = image
        if is_colour:
            self.intermediate_mode = "L"
        vars(self)[_SEEN] = (image.copy(), image.chain)

    return __init__


def _is_remembered(image: Any) -> bool:
    return type(image) is DeferredImage and image.chain is not None


def _has_own_gray(image: DeferredImage) -> bool:
    """Whether it is gray, or its gray version has another transparency."""
    return image.mode == "L" or image.has_transparency


def _missing(self: Any, name: str) -> Any:
    """The second image of an enhancer, now that somebody asks for it."""
    if name != "degenerate" or _SEEN not in vars(self):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    seen, _ = vars(self).pop(_SEEN)
    image = self.image  # which somebody may have changed
    prepare = next(_prepare[kind] for kind in type(self).__mro__ if kind in _prepare)
    prepare(self, seen)
    self.image = image
    return self.degenerate


def _wrap_enhance(original: Function) -> Function:
    @wraps(original)
    def enhance(self: Any, factor: Any) -> Any:
        done = _enhanced(self, factor) if _SEEN in vars(self) else None
        return original(self, factor) if done is None else done

    return enhance


def _enhanced(enhancer: Any, factor: Any) -> Image.Image | None:
    """The image with the effect that stands for its blend with the second one; None if none does.

    Also if the image is another one than it was when the enhancer was made.
    """
    _, chain = vars(enhancer)[_SEEN]
    effect = _EFFECTS.get(type(enhancer))
    is_known = isinstance(factor, (int, float)) and 0 <= factor <= _LARGEST
    is_same = _is_remembered(enhancer.image) and enhancer.image.chain is chain
    if effect is None or not (is_known and is_same):
        return None
    made: Any = run_effect(enhancer.image, effect, factor)
    if effect in _WITHOUT_INFO:
        made.info = {}
    return made  # type: ignore[no-any-return]  # an image by now
