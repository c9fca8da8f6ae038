"""How the pixels of an image come to be that nobody has computed yet.

Whoever needs them gets them: all of Pillow, and the libraries around it, reach them by the
attribute `im`, by `tobytes` or by the array interface.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PIL import Image

from penstock.deferring.canvases import Canvas
from penstock.deferring.carry_out import pixels_of
from penstock.deferring.chain import Chain, Pixels
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.file_image import About, FileImage
from penstock.deferring.pixel_access import Access, kept_by_pillow

if TYPE_CHECKING:
    from typing_extensions import Self

_OURS = frozenset(
    {
        *("_im", "_mode", "_size", "palette", "_info", "_readonly"),  # known to every image
        *("_chain", "_adopted", "_about", "_canvas", "_is_file", "_is_loaded", "_is_drafted"),
    }
)


class PixelImage(FileImage):
    """An image of mode RGB or L that is a chain, until somebody needs its pixels.

    After that it is what Pillow makes of it, and of any mode.
    """

    @classmethod
    def of_chain(cls, chain: Chain, mode: str, about: About | None) -> Self:
        """An image that is not computed yet; `about` the file it comes from."""
        made = cls()
        made._chain, made._about, made._info = chain, about, None
        made._mode, made._size = mode, (chain.width, chain.height)
        return made

    @classmethod
    def of_file(cls, chain: Chain, mode: str, about: About, filename: str | bytes) -> Self:
        """The image of a JPEG, as it is when it has just been opened."""
        made = cls.of_chain(chain, mode, about)
        made._is_file = True  # noqa: SLF001 (it is one of these)
        made.format, made.format_description = "JPEG", "JPEG (ISO 10918)"
        made.filename = filename
        return made

    @classmethod
    def of_opened(cls, opened: Any) -> Self:
        """A file that Pillow decodes; what follows is computed by the core where it can."""
        made = cls()
        made._is_file = True
        made._adopted, made._about = opened, About(None, opened)
        made._info, made.palette = opened.info, opened.palette
        made._mode, made._size = opened.mode, opened.size
        made.format, made.format_description = opened.format, opened.format_description
        made.filename = opened.filename
        return made

    @classmethod
    def of_canvas(cls, canvas: Canvas) -> Self:
        """An image of one colour."""
        made = cls()
        made._canvas, made._adopted = canvas, canvas.image
        made._info = canvas.image.info
        made._mode, made._size = canvas.image.mode, canvas.image.size
        return made

    @property
    def chain(self) -> Chain | None:
        """How it is made, unless somebody has had its pixels as Pillow keeps them."""
        return self._chain

    @property
    def im(self) -> Any:
        """The pixels as Pillow keeps them, computed now at the latest."""
        if self._im is None:
            self._make()
        return super().im

    @im.setter
    def im(self, im: Any) -> None:
        self._im = im
        self._chain = self._adopted = self._canvas = None

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

    def _new(self, im: Any) -> Self:
        """Return another image with these pixels; Pillow's methods end in it."""
        made = self._of_pillow(im, self._about)
        if im.mode in ("P", "PA"):
            made.palette = super()._new(im).palette
        if self._info is not None or self._about is None:
            made.info = self._copy_info()
        return made

    @classmethod
    def _of_pillow(cls, im: Any, about: About | None) -> Self:
        made = cls()
        made.im = im
        made._mode, made._size = im.mode, im.size
        made._about, made._info = about, None
        return made

    def close(self) -> None:
        """Let go of it."""
        self._chain = self._adopted = self._canvas = None
        super().close()

    def tobytes(self, encoder_name: str = "raw", *args: Any) -> bytes:
        """Return the pixels, as Pillow packs them."""
        if encoder_name == "raw" and not args and (pixels := self.pixels()) is not None:
            return (pixels[:, :, 0] if self._mode == "L" else pixels).tobytes()
        return super().tobytes(encoder_name, *args)

    def plain(self) -> Image.Image:
        """Return it as an ordinary image, with what its user has added to it."""
        made: Image.Image = Image.Image._new(self, self.im)  # noqa: SLF001 (as its methods do)
        vars(made).update({name: one for name, one in vars(self).items() if name not in _OURS})
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PixelImage):
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


def _guarded(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of ours; what it raises is not for the user's code to swallow unseen."""
    try:
        return function(*arguments)
    except Exception as error:
        counts = counts_here()
        if counts is not None:
            counts.error = error
        raise
