"""What OpenCV asks of images that are not decoded yet.

Reading a file gives an array that remembers what is done with it. OpenCV's functions are in C and
want memory: those that only move pixels, and resizes whose bits are known, are remembered instead;
all others get ordinary arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from types import BuiltinFunctionType
from typing import Any

import cv2
import numpy as np

from penstock.deferring.array import DeferredArray
from penstock.deferring.array_base import settled
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here
from penstock.deferring.opencv_changes import CHANGES
from penstock.deferring.opening import FileBytes, as_jpeg, read_bytes
from penstock.deferring.same_decoder import (
    opencv_decodes_as_pillow,
    opencv_decodes_gray_as_pillow,
)
from penstock.deferring.values import levels_as

Function = Callable[..., Any]

# How an image lies in the file, as EXIF counts: mirrored left to right, top to bottom.
_MIRRORS = {1: (False, False), 2: (True, False), 3: (True, True), 4: (False, True)}
# Or on its side: whether the order of rows, and that of columns, is turned round.
_TURNS = {5: (False, False), 6: (True, False), 7: (True, True), 8: (False, True)}
_AS_IT_LIES = cv2.IMREAD_IGNORE_ORIENTATION
_RGB = getattr(cv2, "IMREAD_COLOR_RGB", cv2.IMREAD_COLOR)
_known: set[int] = set()  # what flags are remembered


def wrap_opencv() -> dict[Function, Function]:
    """Wrappers for all functions of OpenCV's."""
    kinds: list[int] = []
    if opencv_decodes_as_pillow(cv2):
        kinds = [cv2.IMREAD_COLOR, _RGB]
        _known.add(cv2.IMREAD_UNCHANGED)
        if opencv_decodes_gray_as_pillow(cv2):
            kinds.append(cv2.IMREAD_GRAYSCALE)
    _known.update(kind | how for kind in kinds for how in (0, _AS_IT_LIES))
    found: dict[Any, Function] = {
        one: _with_arrays(one) for one in vars(cv2).values() if isinstance(one, BuiltinFunctionType)
    }
    for name, change in CHANGES.items():
        original = getattr(cv2, name)
        found[original] = _remembering(found[original], change)
    if _known:
        found[cv2.imread] = _wrap_reading(found[cv2.imread])
        found[cv2.imdecode] = _wrap_decoding(found[cv2.imdecode])
    return found


def _with_arrays(original: Function) -> Function:
    """A function that gets ordinary arrays, also in lists."""

    @wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if any(type(one) in _LOOKED_INTO for one in args):
            args = settled(args)
        if kwargs:
            kwargs = settled(kwargs)
        return original(*args, **kwargs)

    return wrapper


_LOOKED_INTO = (DeferredArray, tuple, list)


def _remembering(otherwise: Function, change: Function) -> Function:
    """A function of an image; `change` returns None for what is not remembered."""

    @wraps(otherwise)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is DeferredArray and args[0].is_open:
            done = change(*args, **kwargs)
            if done is not None:
                return done
        return otherwise(*args, **kwargs)

    return wrapper


# ---- files ----


def _wrap_reading(original: Function) -> Function:
    @wraps(original)
    def imread(*args: Any, **kwargs: Any) -> Any:
        done = _read(*args, **kwargs) if counts_here() is not None else None
        return original(*args, **kwargs) if done is None else done

    return imread


def _read(filename: Any = None, flags: Any = cv2.IMREAD_COLOR, **others: Any) -> Any:
    if others or not isinstance(filename, (str, os.PathLike)) or flags not in _known:
        return None
    read = read_bytes(filename)
    return None if read is None else _opened(read, flags)


def _wrap_decoding(original: Function) -> Function:
    @wraps(original)
    def imdecode(*args: Any, **kwargs: Any) -> Any:
        done = _decode(*args, **kwargs) if counts_here() is not None else None
        return original(*args, **kwargs) if done is None else done

    return imdecode


def _decode(buf: Any = None, flags: Any = None, **others: Any) -> Any:
    is_known = type(buf) is np.ndarray and buf.dtype == np.uint8 and buf.ndim == 1
    if others or not is_known or flags not in _known:
        return None
    return _opened(FileBytes(buf.tobytes(), "bytes"), flags)


def _opened(read: FileBytes, flags: int) -> DeferredArray | None:
    """The image of a JPEG; None if OpenCV has to decode it."""
    counts = counts_here()
    if counts is not None and not counts.are_arrays_taken:
        counts.ordinary["an array, for code that refuses those that wait"] += 1
        return None
    found = None if counts is None else as_jpeg(read, counts, by_pillow=False)
    if found is None:
        return None
    file, mode = found
    is_unchanged = flags == cv2.IMREAD_UNCHANGED
    is_upright = is_unchanged or bool(flags & _AS_IT_LIES)
    orientation = 1 if is_upright else file.orientation
    kind = flags if is_unchanged else flags & ~_AS_IT_LIES
    is_gray = kind == cv2.IMREAD_GRAYSCALE or (is_unchanged and mode == "L")
    file.luma_alone = is_gray and mode != "L"
    chain = Chain.of_file(file)
    if orientation in _TURNS:
        chain = chain.turn(*_TURNS[orientation])
    else:
        horizontal, vertical = _MIRRORS.get(orientation, (False, False))
        chain = chain.flip(horizontal=horizontal, vertical=vertical)
    if is_gray:
        return DeferredArray.of_chain(chain, levels_as(1), axes="hw")
    is_rgb = kind == _RGB and kind != cv2.IMREAD_COLOR
    return DeferredArray.of_chain(chain, levels_as(3), blue_first=not is_rgb)
