"""Pixels as Pillow keeps them, and single ones of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from penstock._core import copy_one
from penstock.deferring.chain import Pixels
from penstock.transforms.functional.native.memory import CHANNELS, Room, array_pixels


class Access:
    """What `load` returns: single pixels, from when one is asked for."""

    __slots__ = ("_access", "_image")

    def __init__(self, image: Image.Image) -> None:
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


def kept_by_pillow(pixels: Pixels, mode: str) -> Any:
    """Return a copy of pixels in Pillow's own memory, of mode RGB or L."""
    shown = pixels[:, :, :1] if mode == "L" else pixels
    height, width = pixels.shape[:2]
    room = Room(_Blank(mode), height, width, CHANNELS[mode])
    copy_one(room.pixels, array_pixels(np.ascontiguousarray(shown)), 0, 0, False, False)
    return room.finish()


class _Blank:
    """Stands for an image of a mode, where only memory is wanted."""

    __slots__ = ("mode",)

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def _new(self, memory: Any) -> Any:
        return memory
