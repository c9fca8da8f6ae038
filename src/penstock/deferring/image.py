"""A Pillow image to everybody, which remembers what is done with it.

Crops, resizes, mirrors and some filters are remembered. What they lead to is computed when the
batch is whole, or when somebody needs pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from penstock._core import Effect, copy_one
from penstock.deferring.canvases import BLACK, LARGEST_PX, corner_in, seen_in
from penstock.deferring.chain import Chain
from penstock.deferring.filters import blur_numbers
from penstock.deferring.pixel_image import PixelImage
from penstock.deferring.resizing import is_box, read_resize, thumbnail_of
from penstock.transforms.functional.native.geometry import resized, warp
from penstock.transforms.functional.native.memory import CHANNELS, array_pixels, run_effect
from penstock.transforms.functional.native.memory import pixels_of as stored_pixels

_MIRRORS = {
    Image.Transpose.FLIP_LEFT_RIGHT: (True, False),
    Image.Transpose.FLIP_TOP_BOTTOM: (False, True),
    Image.Transpose.ROTATE_180: (True, True),
}
_TURNS = {  # rows become columns; whether their order, and that of columns, is turned round
    Image.Transpose.TRANSPOSE: (False, False),
    Image.Transpose.ROTATE_90: (False, True),
    Image.Transpose.ROTATE_270: (True, False),
    Image.Transpose.TRANSVERSE: (True, True),
}
_MODES = {1: "L", 3: "RGB"}
_OF_COLOURS = (Effect.SATURATION, Effect.HUE, Effect.PERMUTE_CHANNELS)
_WARPS: dict[int, tuple[Effect, int]] = {
    Image.Transform.AFFINE: (Effect.AFFINE, 6),
    Image.Transform.PERSPECTIVE: (Effect.PERSPECTIVE, 8),
}
_WITH_PALETTE = frozenset({"L", "LA", "P", "PA"})  # at least after it is put


class DeferredImage(PixelImage):
    """An image that remembers steps as long as it is a chain."""

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
        """Remember a crop; what lies outside of the image is black."""
        if self._chain is None or not is_box(box):
            return super().crop(box)
        left, top, right, bottom = (int(round(side)) for side in box)  # noqa: RUF046 (of NumPy's)
        width, height = self._size
        if 0 <= left < right <= width and 0 <= top < bottom <= height:
            return self._with(self._chain.crop(top, left, bottom - top, right - left))
        wanted = (bottom - top, right - left)
        is_small = wanted[0] * wanted[1] <= LARGEST_PX  # of more, Pillow warns
        seen = seen_in(self._chain, -top, -left, wanted, BLACK) if is_small else None
        return super().crop(box) if seen is None else self._with(seen)

    def paste(self, im: Any, box: Any = None, mask: Any = None) -> None:
        """Remember what is put into an image of one colour."""
        corner = corner_in(im.size, box) if type(im) is DeferredImage and mask is None else None
        canvas = self._canvas
        if canvas is None or corner is None or im.mode not in CHANNELS:
            super().paste(im, box, mask)
            return
        im.load()
        chain = im.convert(self._mode).as_chain()
        left, top = corner
        seen = seen_in(chain, top, left, self._size[::-1], canvas.colour)
        if seen is None:
            return  # it lies outside
        self._chain, self._adopted, self._canvas = seen, None, None

    def resize(
        self, size: Any, resample: Any = None, box: Any = None, reducing_gap: Any = None
    ) -> Image.Image:
        """Remember a resize, also of a part."""
        wanted = read_resize(self._size, size, resample, box, reducing_gap)
        if wanted is None or (wanted.box is None and (wanted.width, wanted.height) == self._size):
            return super().resize(size, resample, box, reducing_gap)
        height, width, number, part = wanted
        if self._chain is not None and part is not None:
            return self._with(self._chain.resize_box(height, width, number, part))
        if self._chain is not None:
            return self._with(self._chain.resize(height, width, number))
        done = None
        if self.mode in CHANNELS:
            whole = (0, 0, self._size[1], self._size[0])
            done = resized(self, whole, (height, width), number, part)
        return super().resize(size, resample, box, reducing_gap) if done is None else done

    def thumbnail(self, size: Any, *args: Any, **kwargs: Any) -> None:
        """Remember that this image becomes smaller."""
        if self._chain is None:
            super().thumbnail(size, *args, **kwargs)
            return
        made: Any = thumbnail_of(self, size, *args, **kwargs)
        if made is not None:
            self._become(made)

    def _become(self, made: DeferredImage) -> None:
        """Have the pixels of another image of the same file."""
        if made.chain is None:
            self.im = made.im
        else:
            self._chain, self._adopted = made.chain, None
        self._mode, self._size = made.mode, made.size
        self._is_loaded = True

    def transpose(self, method: Any) -> Image.Image:
        """Remember a mirror or a turn."""
        if self._chain is None:
            return super().transpose(method)
        if method in _MIRRORS:
            horizontal, vertical = _MIRRORS[method]
            return self._with(self._chain.flip(horizontal=horizontal, vertical=vertical))
        if method in _TURNS:
            return self._with(self._chain.turn(*_TURNS[method]))
        return super().transpose(method)

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

    def filter(self, filter: Any) -> Image.Image:
        """Have the core do Pillow's own blurs."""
        numbers = blur_numbers(filter) if self.mode in CHANNELS else None
        if numbers is None:
            return super().filter(filter)
        if not any(numbers[:2]):
            return self.copy()
        blurred: Image.Image = run_effect(self, Effect.BOX_BLUR, *numbers)
        return blurred

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
        if self._chain is not None and self._keeps_size(mode, size):
            is_first, self._is_drafted = not self._is_drafted, True
            return (self._mode, (0, 0, *map(float, self._size))) if is_first else None
        if self._is_drafted:
            return None  # there is one chance
        adopted = self._adopted or self._about.open_again()
        found = adopted.draft(mode, size)
        if found is not None:
            self._chain, self._adopted = None, adopted
            self._mode, self._size = adopted.mode, adopted.size
        return found

    def _keeps_size(self, mode: Any, size: Any) -> bool:
        """Whether a JPEG is decoded as it is, since half of it would be too small."""
        if mode not in (None, "RGB", self._mode):
            return False
        if size is None:
            return True
        is_pair = isinstance(size, (tuple, list)) and len(size) == 2
        if not is_pair or not all(isinstance(side, int) and side > 0 for side in size):
            return False
        return bool(min(self._size[0] // size[0], self._size[1] // size[1]) < 2)

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
