"""Files that OpenCV reads, decoded by the core: arrays have to be there at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import cv2
import numpy as np

from penstock.deferring.carry_out import pixels_of
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here
from penstock.deferring.opening import as_jpeg, read_bytes
from penstock.deferring.same_decoder import opencv_decodes_as_pillow

Function = Callable[..., Any]

_UPRIGHT = 1


def wrap_opencv() -> dict[Function, Function]:
    """Return wrappers for the functions that decode files, where both decode alike."""
    if not opencv_decodes_as_pillow(cv2):
        return {}
    return {
        cv2.imread: _wrap(cv2.imread, read_bytes, arguments=(1, 2)),
        cv2.imdecode: _wrap(cv2.imdecode, _bytes_of, arguments=(2,)),
    }


def _wrap(
    original: Function,
    read: Callable[[Any], tuple[bytes | None, str]],
    arguments: tuple[int, ...],
) -> Function:
    """A function that decodes, where it has one of these numbers of arguments."""

    @wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        is_known = counts_here() is not None and len(args) in arguments and not kwargs
        done = _decode(read, *args) if is_known else None
        return original(*args, **kwargs) if done is None else done

    return wrapper


def _decode(
    read: Callable[[Any], tuple[bytes | None, str]], given: Any, flags: Any = cv2.IMREAD_COLOR
) -> Any:
    counts = counts_here()
    data, name = read(given) if flags == cv2.IMREAD_COLOR else (None, "")
    found = None if data is None or counts is None else as_jpeg(data, name, counts, by_pillow=False)
    if found is None or found[0].orientation != _UPRIGHT:
        return None
    try:
        pixels = pixels_of(Chain.of_file(found[0]))
    except Exception:  # noqa: BLE001 (the user's code must not take it for the file's fault)
        return None  # OpenCV says what it thinks of it
    return cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)


def _bytes_of(given: Any) -> tuple[bytes | None, str]:
    is_bytes = isinstance(given, np.ndarray) and given.dtype == np.uint8
    return (given.tobytes() if is_bytes else None), "bytes"
