"""A Pillow image to everybody, whose pixels nobody has computed yet.

Crops, resizes and mirrors are remembered. Whoever needs pixels gets them: all of Pillow, and the
libraries around it, reach them by the attribute `im`, by `tobytes` or by the array interface.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from penstock._core import Effect, copy_one
from penstock.deferring.carry_out import open_with_pillow, pixels_of
from penstock.deferring.chain import Chain, JpegFile, Pixels
from penstock.deferring.counts import counts_here, note_early
from penstock.transforms.functional.native.geometry import resized, warp
from penstock.transforms.functional.native.memory import CHANNELS, Room, array_pixels
from penstock.transforms.functional.native.memory import pixels_of as stored_pixels

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_FILTERS = frozenset(Image.Resampling)
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


class About:
    """What a file says beside its pixels, read by Pillow if somebody asks."""

    __slots__ = ("_file", "_opened")

    def __init__(self, file: JpegFile | None, opened: Any = None) -> None:
        self._file = file
        self._opened = opened

    @property
    def opened(self) -> Any:
        """The file as Pillow opens it."""
        if self._opened is None:
            self._opened = self.open_again()
        return self._opened

    def open_again(self) -> Any:
        """The same, apart from all others."""
        return self._opened if self._file is None else open_with_pillow(io.BytesIO(self._file.data))


class DeferredImage(Image.Image):
    """An image of mode RGB or L that is a chain, until somebody needs its pixels.

    After that it is what Pillow makes of it, and of any mode.
    """

    _chain: Chain | None = None
    _about: About | None = None
    _adopted: Any = None  # a file of Pillow's that stands for it
    _info: dict[Any, Any] | None = None
    filename: str = ""

    @staticmethod
    def of_chain(chain: Chain, mode: str, about: About | None) -> DeferredImage:
        """An image that is not computed yet; `about` the file it comes from."""
        made = DeferredImage()
        made._chain, made._about, made._info = chain, about, None
        made._mode, made._size = mode, (chain.width, chain.height)
        return made

    @staticmethod
    def of_opened(opened: Any) -> DeferredImage:
        """A file that Pillow decodes; what follows is computed by the core where it can."""
        made = DeferredImage()
        made._adopted, made._about = opened, About(None, opened)
        made._info, made.palette = opened.info, opened.palette
        made._mode, made._size = opened.mode, opened.size
        made.format, made.format_description = opened.format, opened.format_description
        return made

    # ---- what is known without pixels ----

    @property
    def info(self) -> dict[Any, Any]:
        """What the file says, read when asked for."""
        if self._info is None:
            opened = None if self._about is None else self._about.opened
            self._info = {} if opened is None else opened._copy_info()  # noqa: SLF001 (as copies do)
        return self._info

    @info.setter
    def info(self, info: dict[Any, Any]) -> None:
        self._info = info

    @property
    def chain(self) -> Chain | None:
        """How it is made, unless somebody has had its pixels as Pillow keeps them."""
        return self._chain

    @property
    def orientation(self) -> int | None:
        """The EXIF orientation of an untouched file; None if that has to be looked up."""
        chain = self._chain
        if chain is None or self.format is None or not isinstance(chain.source, JpegFile):
            return None
        return chain.source.orientation

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self.format is None or self._about is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._about.opened, name)

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
        if self._im is None and self._chain is not None:
            return _Access(self)
        self.im  # noqa: B018 (it is made)
        return super().load()

    def pixels(self) -> Pixels | None:
        """The pixels as an array that nobody may change; None for images of other modes."""
        if self._chain is None:
            return None
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
        gray = pixels[:, :, :1] if self._mode == "L" else pixels
        height, width = pixels.shape[:2]
        room = Room(_Blank(self._mode), height, width, CHANNELS[self._mode])
        copy_one(room.pixels, array_pixels(np.ascontiguousarray(gray)), 0, 0, False, False)
        self.im = room.finish()

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

    @property
    def __array_interface__(self) -> dict[str, Any]:
        pixels = self.pixels()
        if pixels is None:
            return super().__array_interface__
        shown = pixels[:, :, 0] if self._mode == "L" else pixels
        shown = np.ascontiguousarray(shown)
        self._shown = shown  # whoever uses the interface keeps this image, and it its memory
        address = shown.__array_interface__["data"][0]
        return {"shape": shown.shape, "typestr": "|u1", "version": 3, "data": (address, True)}

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
        if self._chain is not None and not (args or kwargs):
            if mode in ("RGB", self._mode):
                return self._with(self._chain, mode)
            if mode == "L":
                return self._with(self._chain.apply(Effect.GRAYSCALE), mode)
        return super().convert(mode, *args, **kwargs)

    def crop(self, box: Any = None) -> Image.Image:
        """Remember a crop that lies within the image."""
        if self._chain is None or box is None:
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
        is_plain = box is None and reducing_gap is None and number in _FILTERS
        is_size = all(isinstance(s, int) and 0 < s < _LARGEST_SIDE for s in (width, height))
        if not (is_plain and is_size) or (width, height) == self._size:
            return super().resize(size, resample, box, reducing_gap)
        if self._chain is not None:
            return self._with(self._chain.resize(height, width, int(number)))
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
            done = warp(self, effect[0], numbers, int(resample), fillcolor)
            if done is not None and len(numbers) == effect[1]:
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
        if self.format is None or self._about is None or self._im is not None:
            return super().draft(mode, size)
        adopted = self._about.open_again()
        found = adopted.draft(mode, size)
        if found is not None:
            self._chain, self._adopted = None, adopted
            self._mode, self._size = adopted.mode, adopted.size
        return found

    def _with(self, chain: Chain, mode: str = "") -> DeferredImage:
        made = DeferredImage.of_chain(chain, mode or self._mode, self._about)
        if self._info is not None:
            made.info = self._copy_info()
        return made

    # ---- what others make of it ----

    def plain(self) -> Image.Image:
        """Return it as an ordinary image."""
        made: Image.Image = Image.Image._new(self, self.im)  # noqa: SLF001 (as its methods do)
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DeferredImage):
            other = other.plain()
        return bool(self.plain() == other)

    __hash__ = None  # type: ignore[assignment]  # as Pillow's

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Be an ordinary image to whoever pickles or copies it."""
        return self.plain().__reduce_ex__(protocol)


class _Access:
    """What `load` returns: single pixels, from when one is asked for."""

    __slots__ = ("_access", "_image")

    def __init__(self, image: DeferredImage) -> None:
        self._image = image
        self._access: Any = None

    def _found(self) -> Any:
        if self._access is None:
            image = self._image
            image.im  # noqa: B018 (it is made)
            self._access = Image.Image.load(image)
        return self._access

    def __getitem__(self, place: Any) -> Any:
        return self._found()[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        self._found()[place] = value


class _Blank:
    """Stands for an image of a mode, where only memory is wanted."""

    __slots__ = ("mode",)

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def _new(self, memory: Any) -> Any:
        return memory


def _guarded(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of ours; what it raises is not for the user's code to swallow unseen."""
    try:
        return function(*arguments)
    except Exception as error:
        counts = counts_here()
        if counts is not None:
            counts.error = error
        raise
