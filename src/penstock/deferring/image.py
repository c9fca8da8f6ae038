"""A Pillow image to everybody, which remembers what is done with it.

Crops, resizes, mirrors and some filters are remembered. What they lead to is computed when the
batch is whole, or when somebody needs pixels.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from PIL import Image

from penstock._core import Effect, copy_one
from penstock.deferring.chain import Chain
from penstock.deferring.filters import blur_numbers
from penstock.deferring.pixel_image import PixelImage
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.functional.native.geometry import resized, warp
from penstock.transforms.functional.native.memory import CHANNELS, array_pixels, run_effect
from penstock.transforms.functional.native.memory import pixels_of as stored_pixels

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


def _is_box(box: Any) -> bool:
    is_four = isinstance(box, (tuple, list)) and len(box) == _SIDES
    return is_four and all(isinstance(side, (int, float)) and isfinite(side) for side in box)
