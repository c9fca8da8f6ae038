"""Calls in a Dataset's code that make arrays of images, or give them to Albumentations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from penstock.translation.tracing.array_steps import AsArray, ReadByOpenCV
from penstock.translation.tracing.values import (
    Column,
    Named,
    Picture,
    UnfollowableError,
    Value,
    known,
)
from penstock.translation.transforms.identify import imported, is_of_albumentations

_COLOR_SWAP = 4  # OpenCV's number for both BGR to RGB and RGB to BGR
_COLOR_READ = 1  # OpenCV's number for reading in colour


def call_on_array(
    function: Any, arguments: list[Value], named: dict[str, Value]
) -> Picture | Named | None:
    """Return what a call gives that makes or takes arrays; None if it is no such call."""
    if is_of_albumentations(function):
        return _augment(function, arguments, named)
    given = [*arguments, *named.values()]
    cv2 = imported("cv2")
    first = given[0] if given else None
    if isinstance(first, Picture) and (function is np.array or function is np.asarray):
        return _as_array(first, given[1:])
    if cv2 is not None and function is cv2.imread and isinstance(first, Column):
        return _read_by_opencv(first, given[1:])
    if cv2 is not None and function is cv2.cvtColor and isinstance(first, Picture):
        return _swap_colours(first, given[1:])
    return None


def makes_array(picture: Picture, earlier: Picture) -> bool:
    """Whether an image became an array between two points of the code."""
    return any(isinstance(step, AsArray) for step in picture.steps[len(earlier.steps) :])


def _augment(transform: Any, arguments: list[Value], named: dict[str, Value]) -> Named:
    if arguments:
        raise UnfollowableError("Albumentations takes arguments by name: transform(image=image)")
    beside = ", ".join(sorted(set(named) - {"image"}))
    if beside:
        raise UnfollowableError(f"Albumentations is given {beside}; known is image= alone")
    image = named.get("image")
    if not isinstance(image, Picture):
        raise UnfollowableError("Albumentations is given something other than the sample's image")
    return Named({"image": replace(image, steps=(*image.steps, transform))})


def _as_array(picture: Picture, options: list[Value]) -> Picture:
    kinds = [known(option, "the dtype of an array") for option in options]
    if len(kinds) > 1 or any(not _is_bytes(kind) for kind in kinds):
        raise UnfollowableError("an array of an image is made with more than dtype=np.uint8")
    return replace(picture, steps=(*picture.steps, AsArray()))


def _is_bytes(dtype: Any) -> bool:
    try:
        return bool(np.dtype(dtype) == np.uint8)
    except TypeError:
        return False


def _read_by_opencv(path: Column, options: list[Value]) -> Picture:
    if [known(option, "the flags of cv2.imread") for option in options] not in ([], [_COLOR_READ]):
        raise UnfollowableError("cv2.imread is known with cv2.IMREAD_COLOR, or without flags")
    return Picture(path, modes=("RGB",), steps=(ReadByOpenCV(blue_first=True),))


def _swap_colours(picture: Picture, options: list[Value]) -> Picture:
    codes = [known(option, "the code of cv2.cvtColor") for option in options]
    if picture.steps != (ReadByOpenCV(blue_first=True),) or codes != [_COLOR_SWAP]:
        raise UnfollowableError(
            "cv2.cvtColor is known as cv2.COLOR_BGR2RGB right behind cv2.imread"
        )
    return replace(picture, steps=(ReadByOpenCV(blue_first=False),))
