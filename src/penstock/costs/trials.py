"""What a calibration runs: programs that together have every unit of work, in different shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from penstock._core import Effect, Element, PadMode
from penstock.geometry import Ints, Sizes
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.effects import same_effect
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove
from penstock.transforms.values import IMAGENET_MEAN, IMAGENET_STD, FinalSpec, Layout

MakeMove = Callable[[Sizes], Move]

_BYTES = FinalSpec()
_FLOATS = FinalSpec(Element.FLOAT32, 1 / 255, IMAGENET_MEAN, IMAGENET_STD)
_HALVES = FinalSpec(Element.FLOAT16, 1 / 255, IMAGENET_MEAN, IMAGENET_STD)
_BRAIN_HALVES = FinalSpec(Element.BFLOAT16, 1 / 255, IMAGENET_MEAN, IMAGENET_STD)

_PIXELS = ("small pixels", "medium pixels", "large pixels")
_ENCODED = ("4:4:4", "4:2:0", "gray", "large 4:2:0")


@dataclass(frozen=True, slots=True)
class Trial:
    """Moves on some pictures, and what they end in."""

    pictures: str  # their name
    moves: tuple[MakeMove, ...] = ()
    final: FinalSpec = _BYTES
    layout: Layout = "chw"
    dct_scale: int = 1
    vertical_first: bool = False


def all_trials() -> Iterator[Trial]:
    """Every trial, in the order in which they are run."""
    yield from _final_passes()
    yield from _steps()
    yield from _resizes()
    yield from _decodes()
    yield from _effects()
    yield from _warps()


def _final_passes() -> Iterator[Trial]:
    for pictures in _PIXELS:
        for final in (_BYTES, _FLOATS):
            yield Trial(pictures, final=final)
            yield Trial(pictures, final=final, layout="hwc")
    for final in (_HALVES, _BRAIN_HALVES):
        yield Trial("medium pixels", final=final)


def _steps() -> Iterator[Trial]:
    for pictures in _PIXELS:
        yield Trial(pictures, (_crop(0.5), _flip))
        yield Trial(pictures, (_flip, _crop(0.9), _nothing, _flip))
        yield Trial(pictures, (_pad(PadMode.CONSTANT),))
        yield Trial(pictures, (_pad(PadMode.REFLECT), _crop(0.5)))
        yield Trial(pictures, (_flip, _pad(PadMode.CONSTANT), _flip))
        yield Trial(pictures, (_pad(PadMode.CONSTANT, 1.0), _resize("bilinear", 0.3)))
        # Two steps, and an effect that does nothing on their result.
        yield Trial(pictures, (_flip, _nothing, _flip, _nothing, _flip, _nothing))


def _resizes() -> Iterator[Trial]:
    for filter_name in ("bilinear", "bicubic", "lanczos"):
        yield Trial("medium pixels", (_resize(filter_name, 0.5),), _FLOATS)
        yield Trial("medium pixels", (_resize(filter_name, 0.21, 0.35),))
        yield Trial("small pixels", (_resize(filter_name, 3.0),))
        yield Trial("large pixels", (_resize(filter_name, 0.12),))
        yield Trial("medium pixels", (_resize(filter_name, 0.4, 0.6),), vertical_first=True)
        yield Trial("large pixels", (_resize(filter_name, 0.15),), vertical_first=True)
    yield Trial("medium pixels", (_resize("bilinear", 1.0, 0.4),))
    yield Trial("medium pixels", (_resize("bilinear", 0.4, 1.0),))
    yield Trial("medium pixels", (_resize("bilinear", 2.0), _crop(0.4)))
    yield Trial("medium pixels", (_resize("nearest", 0.5),))
    yield Trial("medium pixels", (_resize("box", 0.5),))
    yield Trial("medium pixels", (_resize("hamming", 0.5),))
    yield Trial("small pixels", (_resize("bilinear", 0.5),))
    yield Trial("small pixels", (_resize("bicubic", 0.5),))


def _decodes() -> Iterator[Trial]:
    for storage in ("jpeg", "tiles"):
        for sampling in _ENCODED:
            pictures = f"{storage} {sampling}"
            yield Trial(pictures)
            yield Trial(pictures, (_crop(0.5),))
            yield Trial(pictures, (_crop(0.25, place=0.1),))
            for scale, share in ((2, 0.25), (4, 0.12), (8, 0.06)):
                yield Trial(pictures, (_resize("bilinear", share),), dct_scale=scale)
        yield Trial(f"{storage} small")
        yield Trial(f"{storage} small", (_crop(0.5),))
    for sampling in ("4:4:4", "4:2:0", "large 4:2:0"):
        yield Trial(f"progressive {sampling}")
        yield Trial(f"progressive {sampling}", (_crop(0.3, place=0.1),))


def _effects() -> Iterator[Trial]:
    key = {"key": (1.0, 2.0)}
    alone: list[tuple[Effect, dict[str, Any]]] = [
        (Effect.BRIGHTNESS, {"factor": 1.3}),
        (Effect.CONTRAST, {"factor": 1.3}),
        (Effect.AUTOCONTRAST, {}),
        (Effect.EQUALIZE, {}),
        (Effect.SATURATION, {"factor": 1.3}),
        (Effect.HUE, {"factor": 0.1}),
        (Effect.GRAYSCALE, {}),
        (Effect.SHARPNESS, {"factor": 1.5}),
        (Effect.GAUSSIAN_NOISE, {"mean": 0.0, "sigma": 0.1, "clip": 1.0, **key}),
    ]
    for pictures in _PIXELS:
        for kind, parameters in alone:
            yield Trial(pictures, (_flip, _effect(kind, **parameters)))
        for side in (3, 5, 13, 23):
            yield Trial(pictures, (_blur(side),))
    brighter = _effect(Effect.BRIGHTNESS, factor=1.2)
    later = _brighten_later
    for pictures in ("small pixels", "medium pixels"):
        yield Trial(pictures, (later, _effect(Effect.CONTRAST, factor=1.2)))
        yield Trial(pictures, (later, _effect(Effect.AUTOCONTRAST)))
        yield Trial(pictures, (later, later, later, later, brighter))
        # Several times the same, so that what it costs is more than what a trial errs by.
        yield Trial(pictures, (brighter,) * 4)
        yield Trial(pictures, (_effect(Effect.CONTRAST, factor=1.2),) * 4)
        yield Trial(pictures, (later, _effect(Effect.CONTRAST, factor=1.2)) * 3)
        yield Trial(pictures, (_effect(Effect.AUTOCONTRAST),) * 4)
        for by_noise in (0.0, 1.0):
            yield Trial(pictures, (_erase(by_noise=by_noise),))
        yield Trial(pictures, _mix(brighter, _effect(Effect.INVERT)))
        yield Trial(pictures, _mix(_effect(Effect.SATURATION, factor=1.2), _nothing))


def _warps() -> Iterator[Trial]:
    for pictures in _PIXELS:
        for filter_name in ("nearest", "bilinear", "bicubic"):
            yield Trial(pictures, (_rotate(15, filter_name),))
            if pictures != "large pixels":
                yield Trial(pictures, (_tilt(filter_name),))
                yield Trial(pictures, (_elastic(filter_name, 3.0),))
        yield Trial(pictures, (_shear,))  # on the way into the batch
        yield Trial(pictures, (_nothing, _shear))
        yield Trial(pictures, (_rotate(15, "bilinear", rounded=1.0),))
    yield Trial("large pixels", (_rotate(75, "bilinear"),))
    yield Trial("large pixels", (_tilt("bilinear"),))
    yield Trial("medium pixels", (_rotate(75, "nearest"),))
    yield Trial("medium pixels", (_elastic("bilinear", 8.0),))


def _share(sizes: Ints, share: float) -> Ints:
    return np.maximum(1, np.round(sizes * share)).astype(np.int64)


def _crop(share: float, place: float = 0.5) -> MakeMove:
    def make(sizes: Sizes) -> Move:
        height, width = _share(sizes.height, share), _share(sizes.width, share)
        top = ((sizes.height - height) * place).astype(np.int64)
        left = ((sizes.width - width) * place).astype(np.int64)
        return CropMove(top, left, height, width)

    return make


def _resize(filter_name: str, share: float, share_of_width: float | None = None) -> MakeMove:
    number = InterpolationMode(filter_name).pillow_filter

    def make(sizes: Sizes) -> Move:
        width = _share(sizes.width, share if share_of_width is None else share_of_width)
        return ResizeMove(_share(sizes.height, share), width, number)

    return make


def _flip(sizes: Sizes) -> Move:
    both = np.ones(len(sizes), dtype=np.bool_)
    return FlipMove(both, ~both)


def _pad(mode: PadMode, share: float = 0.1) -> MakeMove:
    def make(sizes: Sizes) -> Move:
        border = _share(sizes.width, share)
        return PadMove(border, border, border, border, mode, (1, 2, 3))

    return make


def _effect(effect: Effect, **parameters: Any) -> MakeMove:
    return lambda sizes: same_effect(effect, sizes, **parameters)


def _brighten_later(sizes: Sizes) -> Move:
    """A table that the next effect goes on from."""
    return replace(same_effect(Effect.BRIGHTNESS, sizes, factor=1.2), tables_wait=True)


def _nothing(sizes: Sizes) -> Move:
    """An effect that takes the image out of the fused pass, as any does, and no more."""
    box = {"top": 0.0, "left": 0.0, "height": 0.0, "width": 0.0}
    return same_effect(Effect.ERASE, sizes, **box, value=(0.0, 0.0, 0.0), by_noise=0.0)


def _erase(*, by_noise: float) -> MakeMove:
    def make(sizes: Sizes) -> Move:
        box: dict[str, Any] = {"height": sizes.height // 2, "width": sizes.width // 2}
        given: dict[str, Any] = {"value": (1, 2, 3), "by_noise": by_noise, "key": (1.0, 2.0)}
        return same_effect(Effect.ERASE, sizes, top=3.0, left=4.0, **box, **given)

    return make


def _blur(side: int) -> MakeMove:
    kernel = {"kernel_width": float(side), "kernel_height": float(side)}
    sigmas = {"sigma_across": side / 6, "sigma_down": side / 6}
    return _effect(Effect.GAUSSIAN_BLUR, **kernel, **sigmas)


def _mix(*branches: MakeMove) -> tuple[MakeMove, ...]:
    moves: list[MakeMove] = [_effect(Effect.MIX_BEGIN, weight=0.4)]
    for branch in branches:
        moves += [branch, _effect(Effect.MIX_ADD, weight=0.3)]
    return (*moves, _effect(Effect.MIX_END))


def _rotate(degrees: float, filter_name: str, *, rounded: float = 0.0) -> MakeMove:
    number = InterpolationMode(filter_name).pillow_filter
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))

    def make(sizes: Sizes) -> Move:
        x, y = sizes.width / 2, sizes.height / 2
        matrix = [cosine, sine, x - cosine * x - sine * y, -sine, cosine, y + sine * x - cosine * y]
        how: dict[str, Any] = {"filter": number, "fill": 0, "rounded": rounded}
        return same_effect(Effect.AFFINE, sizes, matrix=matrix, **how)

    return make


def _shear(sizes: Sizes) -> Move:
    matrix = (1.0, 0.2, -5.0, 0.0, 1.0, 0.0)
    return same_effect(Effect.AFFINE, sizes, matrix=matrix, filter=0, fill=0)


def _tilt(filter_name: str) -> MakeMove:
    number = InterpolationMode(filter_name).pillow_filter

    def make(sizes: Sizes) -> Move:
        depth = 0.1 / sizes.width
        matrix: list[Any] = [1.05, 0.08, -3.0, 0.04, 1.1, -2.0, depth, depth]
        return same_effect(Effect.PERSPECTIVE, sizes, matrix=matrix, filter=number, fill=0)

    return make


def _elastic(filter_name: str, sigma: float) -> MakeMove:
    number = InterpolationMode(filter_name).pillow_filter
    field = {"alpha_across": 50.0, "alpha_down": 50.0, "sigma_across": sigma, "sigma_down": sigma}
    return _effect(Effect.ELASTIC, **field, filter=number, fill=0, key=(1.0, 2.0))
