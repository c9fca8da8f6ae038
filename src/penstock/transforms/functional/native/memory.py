"""Where the pixels of an image lie, and room for those of the next one.

A Pillow image shows its memory by the Arrow interface, which Pillow has since 11.2.1; images of
older versions are left to the kernels in `pillow`. Nothing is copied, except that of an image of
more than 16 MB, which Pillow keeps in pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock._core import Effect, Element, Pixels, effect_anew
from penstock.transforms.functional.arrays import by_pillow

Kernel = Callable[..., Any]

CHANNELS = {"L": 1, "RGB": 3}
MODES = {channels: mode for mode, channels in CHANNELS.items()}

_BYTES = np.dtype(np.uint8)
_core: Any = vars(Image)["core"]  # makes what Image objects hold; Pillow gives it no types
_SHOWS_MEMORY = hasattr(_core, "new_arrow")


class NativeKernel:
    """A kernel of the core, and the kernel on Pillow images that it stands for.

    `attempt` returns None where that one must do it.
    """

    __slots__ = ("attempt", "on_arrays", "on_pillow")

    def __init__(self, attempt: Kernel, oracle: Kernel) -> None:
        on_arrays = by_pillow(oracle)

        @wraps(oracle)
        def try_on_pillow(image: Any, *args: Any, **kwargs: Any) -> Any:
            out = attempt(image, *args, **kwargs)
            return oracle(image, *args, **kwargs) if out is None else out

        @wraps(oracle)
        def try_on_array(image: Any, *args: Any, **kwargs: Any) -> Any:
            out = attempt(image, *args, **kwargs) if _is_image(image) else None
            return on_arrays(image, *args, **kwargs) if out is None else out

        @wraps(oracle)
        def try_image_alone(image: Any) -> Any:
            out = attempt(image)
            return oracle(image) if out is None else out

        self.attempt = attempt
        has_arguments = len(signature(oracle).parameters) > 1
        self.on_pillow = try_on_pillow if has_arguments else try_image_alone
        self.on_arrays = try_on_array


def instead_of(oracle: Kernel) -> Callable[[Kernel], NativeKernel]:
    """Have a function of the core tried before the kernel `oracle`."""
    return lambda attempt: NativeKernel(attempt, oracle)


def pixels_of(image: Any) -> Pixels | None:
    """The memory of a gray or RGB image; None for all others."""
    if isinstance(image, np.ndarray):
        return array_pixels(np.ascontiguousarray(image)) if _is_image(image) else None
    channels = CHANNELS.get(image.mode)
    if channels is None or not _SHOWS_MEMORY:
        return None
    if type(image) is not Image.Image:  # one of a file, which may not have been read yet
        image.load()
    core = image.im
    width, height = core.size
    if not (width and height):
        return None
    try:
        array = core.__arrow_c_array__()
    except ValueError:  # it lies in several pieces
        whole = _core.new_block(image.mode, (width, height))
        whole.paste(core, (0, 0, width, height))
        array = whole.__arrow_c_array__()
    return Pixels.of_pillow(array, height, width, channels)


def _is_image(pixels: npt.NDArray[Any]) -> bool:
    if pixels.dtype is not _BYTES or not pixels.size:
        return False
    return pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in MODES)


def array_pixels(pixels: npt.NDArray[np.uint8]) -> Pixels:
    """The memory of a contiguous array (height, width) or (height, width, 1 or 3)."""
    address = pixels.__array_interface__["data"][0]
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    return Pixels.at(address, height, width, channels, True, Element.UINT8, pixels)


class Room:
    """Memory for a new image of the kind of `image`, which `finish` makes an image of."""

    __slots__ = ("_image", "_memory", "pixels")

    def __init__(self, image: Any, height: int, width: int, channels: int | None = None) -> None:
        self._image = image
        if isinstance(image, np.ndarray):
            had = channels_of(image)
            wanted = channels or had
            is_flat = image.ndim == 2 or wanted < had  # as an array of a gray Pillow image is
            shape = (height, width) if is_flat else (height, width, wanted)
            self._memory: Any = np.empty(shape, np.uint8)
            self.pixels = array_pixels(self._memory)
            return
        wanted = channels or CHANNELS[image.mode]
        self._memory = _core.new_block(MODES[wanted], (width, height))
        array = self._memory.__arrow_c_array__()
        self.pixels = Pixels.of_pillow(array, height, width, wanted)

    def finish(self) -> Any:
        """The image, once its pixels are there."""
        if isinstance(self._image, np.ndarray):
            return self._memory
        return self._image._new(self._memory)  # noqa: SLF001  # as every method of Image does


def size_of(image: Any) -> tuple[int, int]:
    """(height, width)."""
    if isinstance(image, np.ndarray):
        return image.shape[0], image.shape[1]
    width, height = image.size
    return height, width


def channels_of(image: Any) -> int:
    """How many numbers a pixel has."""
    if isinstance(image, np.ndarray):
        return 1 if image.ndim == 2 else int(image.shape[2])
    return len(image.getbands())


def memory_of(image: Any) -> Any:
    """What holds the pixels of an image, as the core takes it: an array, or Pillow's memory."""
    if type(image) is Image.Image:
        return image.im
    if isinstance(image, np.ndarray):
        return image
    image.load()  # one of a file may not have been read yet
    return image.im


PLAIN = Image.new("L", (1, 1))  # knows nothing of itself


def image_of(memory: Any, like: Any) -> Any:
    """An image of new memory, with what the image `like` knows of itself."""
    if memory is None or type(memory) is np.ndarray:
        return memory
    mode = memory.mode
    is_simple = _SHOWS_MEMORY and mode in CHANNELS  # older images have other attributes
    if type(like) is not Image.Image or like.info or not is_simple:
        return like._new(memory)  # noqa: SLF001  # as every method of Image does
    new = Image.Image()
    new.im = memory
    new._mode = mode  # noqa: SLF001  # what `_new` does for images without a palette
    new._size = memory.size  # noqa: SLF001
    return new


def run_effect(
    image: Any,
    effect: Effect,
    *numbers: float,
    size: tuple[int, int] = (0, 0),
    channels: int = 0,
) -> Any:
    """The image after one effect, with its numbers in their order; None if that is not for us.

    A size or number of channels of 0 is the image's own. An image may say that it remembers the
    effect, to have it done later with all others.
    """
    if type(image) is not Image.Image and hasattr(image, "after_effect"):
        later = image.after_effect(
            effect, numbers, None if size == (0, 0) else size, channels or None
        )
        if later is not None:
            return later
    return image_of(effect_anew(memory_of(image), effect, numbers, *size, channels), image)
