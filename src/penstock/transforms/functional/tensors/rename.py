"""Kernels that differ from another one in name only: those on videos, and some on masks."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def renamed(kernel: Callable[P, R], kind: str) -> Callable[P, R]:
    """`resize_image(image, ...)` as `resize_video(video, ...)`, at no cost when it is called."""
    original = cast("FunctionType", kernel)
    code = original.__code__
    name = original.__name__.removesuffix("_image") + f"_{kind}"
    first = code.co_varnames[0]
    variables = (kind, *code.co_varnames[1:])
    cells = tuple(kind if cell == first else cell for cell in code.co_cellvars)
    copy = FunctionType(
        code.replace(co_varnames=variables, co_cellvars=cells, co_name=name),
        original.__globals__,
        name,
        original.__defaults__,
    )
    annotations = list(original.__annotations__.items())
    copy.__annotations__ = {kind: annotations[0][1], **dict(annotations[1:])}
    copy.__qualname__ = name
    copy.__doc__ = original.__doc__
    copy.__kwdefaults__ = original.__kwdefaults__
    return cast("Callable[P, R]", copy)
