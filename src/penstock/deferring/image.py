"""A Pillow image to everybody, whose pixels nobody has computed yet.

Crops, resizes and mirrors are remembered. Whoever needs pixels gets them: all of Pillow, and the
libraries around it, reach them by the attribute `im`, by `tobytes` or by the array interface.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from penstock._core import Effect, copy_one
from penstock.deferring.carry_out import pixels_of
from penstock.deferring.chain import Chain, Pixels
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.file_image import About, FileImage
from penstock.deferring.pixel_access import Access, kept_by_pillow
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.native.geometry import resized, warp
from penstock.transforms.functional.native.memory import CHANNELS, array_pixels
from penstock.transforms.functional.native.memory import pixels_of as stored_pixels

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_FILTERS = frozenset(mode.pillow_filter for mode in InterpolationMode)  # Pillow may have more
_MIRRORS = {
    Image.Transpose.FLIP_LEFT_RIGHT: (True, False),
    Image.Transpose.FLIP_TOP_BOTTOM: (False, True),
    Image.Transpose.ROTATE_180: (True, True),
}
_LARGEST_SIDE = 1 << 15
_MODES = {1: "L", 3: "RGB"}
_OF_COLOURS = (Effect.SATURATION, Effect.HUE, Effect.PERMUTE_CHANNELS)
_WARPS: dict[int, tuple[Effect, int]] = {
    Image.Transform.AFFINE: (Effect.AFFINE, 6),
    Image.Transform.PERSPECTIVE: (Effect.PERSPECTIVE, 8),
}
_SIDES = 4
_WITH_PALETTE = frozenset({"L", "LA", "P", "PA"})  # at least after it is put
_OURS = frozenset(
    {
        *("_im", "_mode", "_size", "palette", "_info", "_readonly"),  # known to every image
        *("_chain", "_adopted", "_about", "_is_file", "_is_loaded"),
    }
)


class DeferredImage(FileImage):
    """An image of mode RGB or L that is a chain, until somebody needs its pixels.

    After that it is what Pillow makes of it, and of any mode.
    """

    @staticmethod
    def of_chain(chain: Chain, mode: str, about: About | None) -> DeferredImage:
        """An image that is not computed yet; `about` the file it comes from."""
        made = DeferredImage()
        made._chain, made._about, made._info = chain, about, None
        made._mode, made._size = mode, (chain.width, chain.height)
        return made

    @staticmethod
    def of_file(chain: Chain, mode: str, about: About, filename: str | bytes) -> DeferredImage:
        """The image of a JPEG, as it is when it has just been opened."""
        made = DeferredImage.of_chain(chain, mode, about)
        made._is_file = True  # noqa: SLF001 (it is one of these)
        made.format, made.format_description = "JPEG", "JPEG (ISO 10918)"
        made.filename = filename
        return made

    @staticmethod
    def of_opened(opened: Any) -> DeferredImage:
        """A file that Pillow decodes; what follows is computed by the core where it can."""
        made = DeferredImage()
        made._is_file = True
        made._adopted, made._about = opened, About(None, opened)
        made._info, made.palette = opened.info, opened.palette
        made._mode, made._size = opened.mode, opened.size
        made.format, made.format_description = opened.format, opened.format_description
        made.filename = opened.filename
        return made

    @property
    def chain(self) -> Chain | None:
        """How it is made, unless somebody has had its pixels as Pillow keeps them."""
        return self._chain

    # ---- pixels ----

    @property
    def im(self) -> Any:
        """The pixels as Pillow keeps them, computed now at the latest."""
        if self._im is None:
            self._make()
        return super().im

    @im.setter
    def im(self, im: Any) -> None:
        self._im = im
        self._chain = self._adopted = None

    def load(self) -> Any:
        """Return access to single pixels; nothing is computed until one is asked for."""
        self._is_loaded = True
        if self._im is None and self._chain is not None:
            return Access(self)
        self.im  # noqa: B018 (it is made)
        return super().load()

    def pixels(self) -> Pixels | None:
        """The pixels as an array that nobody may change; None for images of other modes."""
        if self._chain is None:
            return None
        self._is_loaded = True
        found = self._chain.pixels
        if found is None:
            note_early()
            found = _guarded(pixels_of, self._chain)
            found.setflags(write=False)
            self._chain = Chain.of_pixels(found)
        return found

    def settle(self, pixels: Pixels) -> None:
        """Have these pixels from now on, which whoever computes them fills in."""
        self._chain = Chain.of_pixels(pixels)

    def _make(self) -> None:
        if self._adopted is not None:
            adopted = self._adopted
            adopted.load()
            self.im = adopted.im
            self._mode, self._size = adopted.mode, adopted.size
            self._info, self.palette = adopted.info, adopted.palette
            return
        pixels = self.pixels()
        if pixels is None:
            return
        self.im = kept_by_pillow(pixels, self._mode)

    def _new(self, im: Any) -> DeferredImage:
        """Return another image with these pixels; Pillow's methods end in it."""
        made = DeferredImage()
        made.im = im
        made._mode, made._size = im.mode, im.size
        made._about, made._info = self._about, None
        if im.mode in ("P", "PA"):
            made.palette = super()._new(im).palette
        if self._info is not None or self._about is None:
            made._info = self._copy_info()
        return made

    def close(self) -> None:
        """Let go of it."""
        self._chain = self._adopted = None
        super().close()

    def tobytes(self, encoder_name: str = "raw", *args: Any) -> bytes:
        """Return the pixels, as Pillow packs them."""
        if encoder_name == "raw" and not args and (pixels := self.pixels()) is not None:
            return (pixels[:, :, 0] if self._mode == "L" else pixels).tobytes()
        return super().tobytes(encoder_name, *args)

    # ---- what is remembered ----

    def copy(self) -> Image.Image:
        """Return the same image; neither changes with the other."""
        return super().copy() if self._chain is None else self._with(self._chain)

    __copy__ = copy

    def convert(self, mode: str | None = None, *args: Any, **kwargs: Any) -> Image.Image:
        """Remember gray and colours; other modes are Pillow's business."""
        is_plain = not (args or kwargs) and not self.has_transparency
        if self._chain is not None and is_plain:
            if mode in ("RGB", self._mode):
                return self._with(self._chain, mode)
            if mode == "L":
                return self._with(self._chain.apply(Effect.GRAYSCALE), mode)
        return super().convert(mode, *args, **kwargs)

    def crop(self, box: Any = None) -> Image.Image:
        """Remember a crop that lies within the image."""
        if self._chain is None or not _is_box(box):
            return super().crop(box)
        left, top, right, bottom = (round(side) for side in box)
        width, height = self._size
        if not (0 <= left < right <= width and 0 <= top < bottom <= height):
            return super().crop(box)
        return self._with(self._chain.crop(top, left, bottom - top, right - left))

    def resize(
        self, size: Any, resample: Any = None, box: Any = None, reducing_gap: Any = None
    ) -> Image.Image:
        """Remember a resize of the whole image."""
        width, height = size if isinstance(size, (tuple, list)) and len(size) == 2 else (0, 0)
        number = Image.Resampling.BICUBIC if resample is None else resample
        is_filter = isinstance(number, int) and number in _FILTERS
        is_plain = is_filter and box is None and reducing_gap is None
        is_size = all(isinstance(s, int) and 0 < s < _LARGEST_SIDE for s in (width, height))
        if not (is_plain and is_size) or (width, height) == self._size:
            return super().resize(size, resample, box, reducing_gap)
        if self._chain is not None:
            return self._with(self._chain.resize(int(height), int(width), int(number)))
        whole = (0, 0, self._size[1], self._size[0])
        done = resized(self, whole, (height, width), int(number)) if self.mode in CHANNELS else None
        return super().resize(size, resample) if done is None else done

    def transpose(self, method: Any) -> Image.Image:
        """Remember a mirror; turns are done at once."""
        if self._chain is None or method not in _MIRRORS:
            return super().transpose(method)
        horizontal, vertical = _MIRRORS[method]
        return self._with(self._chain.flip(horizontal=horizontal, vertical=vertical))

    def transform(
        self,
        size: Any,
        method: Any,
        data: Any = None,
        resample: Any = Image.Resampling.NEAREST,
        fill: Any = 1,
        fillcolor: Any = None,
    ) -> Image.Image:
        """Have the core do the warps that torchvision asks for."""
        effect = _WARPS.get(method) if isinstance(method, int) else None
        if effect and tuple(size) == self.size and fill == 1 and self.mode in CHANNELS:
            numbers = tuple(map(float, data))
            # As Pillow has it: some files say more once they are decoded.
            info = None if self._info is None else self._copy_info()
            done = warp(self, effect[0], numbers, int(resample), fillcolor)
            if done is not None and len(numbers) == effect[1]:
                if info is not None:
                    done.info = info
                return done  # type: ignore[no-any-return]
        return super().transform(size, method, data, resample, fill, fillcolor)

    def after_effect(
        self,
        effect: Effect,
        numbers: tuple[float, ...],
        size: tuple[int, int] | None,
        channels: int | None,
    ) -> DeferredImage | None:
        """Remember an effect of the core's, which one of our functions is about to run."""
        if self._chain is None or (self._mode == "L" and effect in _OF_COLOURS):
            return None
        chain = self._chain.apply(effect, tuple(map(float, numbers)), size)
        mode = self._mode if channels is None else _MODES[channels]
        return self._with(chain, mode)

    def as_chain(self) -> Chain:
        """How an RGB or gray image is made, from its pixels if somebody has had those."""
        if self._chain is not None:
            return self._chain
        width, height = self._size
        found = np.empty((height, width, CHANNELS[self._mode]), dtype=np.uint8)
        stored: Any = stored_pixels(self)  # there are, of these modes
        copy_one(array_pixels(found), stored, 0, 0, False, False)
        three = np.broadcast_to(found, (height, width, 3))
        return Chain.of_pixels(np.ascontiguousarray(three))

    def draft(self, mode: Any, size: Any) -> Any:
        """Let Pillow decode the file smaller, if it is one that nothing was done with."""
        if not self._is_file or self._about is None or self._is_loaded:
            return super().draft(mode, size)
        adopted = self._adopted or self._about.open_again()
        found = adopted.draft(mode, size)
        if found is not None:
            self._chain, self._adopted = None, adopted
            self._mode, self._size = adopted.mode, adopted.size
        return found

    def putpalette(self, data: Any, rawmode: str = "RGB") -> None:
        """Have a palette; the mode changes with it, so pixels are made before."""
        self._make_for_palette()
        super().putpalette(data, rawmode)

    def remap_palette(self, dest_map: Any, source_palette: Any = None) -> Image.Image:
        """Return it with another order of its palette."""
        self._make_for_palette()
        return super().remap_palette(dest_map, source_palette)

    def _make_for_palette(self) -> None:
        if self._mode in _WITH_PALETTE and self._im is None:
            self._make()

    def _with(self, chain: Chain, mode: str = "") -> DeferredImage:
        self._is_loaded = True  # Pillow would have needed pixels
        made = DeferredImage.of_chain(chain, mode or self._mode, self._about)
        if self._info is not None:
            made.info = self._copy_info()
        return made

    # ---- what others make of it ----

    def plain(self) -> Image.Image:
        """Return it as an ordinary image, with what its user has added to it."""
        made: Image.Image = Image.Image._new(self, self.im)  # noqa: SLF001 (as its methods do)
        vars(made).update({name: one for name, one in vars(self).items() if name not in _OURS})
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DeferredImage):
            if self._is_file != other._is_file:
                return False  # as of other classes
            other = other.plain()
        elif self._is_file:
            return False  # the same
        return bool(self.plain() == other)

    __hash__ = None  # type: ignore[assignment]  # as Pillow's

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Be an ordinary image to whoever pickles or copies it."""
        return _itself, (self.plain(),)


def _itself(image: Image.Image) -> Image.Image:
    """What an image is pickled as a call of."""
    return image


def _is_box(box: Any) -> bool:
    is_four = isinstance(box, (tuple, list)) and len(box) == _SIDES
    return is_four and all(isinstance(side, (int, float)) and isfinite(side) for side in box)


def _guarded(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of ours; what it raises is not for the user's code to swallow unseen."""
    try:
        return function(*arguments)
    except Exception as error:
        counts = counts_here()
        if counts is not None:
            counts.error = error
        raise
