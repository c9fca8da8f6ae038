"""Moves on one image, as the loader's core does them: the last part of a call with a key.

What moves whole pixels is done by the functions on images. Effects, and the final pass over values,
run in the core itself: its noise, blurs and warps are its own, to the bit. Neighbouring effects run
together, since some of them (AugMix) belong together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from penstock._core import (
    FINISHED,
    BatchBuffer,
    Effect,
    Element,
    Engine,
    EnginePart,
    Format,
    Programs,
    Status,
    StepColumn,
)
from penstock.errors import CoreError, TransformError
from penstock.geometry import Size, Sizes
from penstock.transforms import functional as F
from penstock.transforms.arguments import mode_name
from penstock.transforms.effects import WARPS, EffectMove, no_numbers, write_parameters
from penstock.transforms.inputs import plain, wrap_like
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove, out_sizes
from penstock.transforms.torch_draws import get_torch
from penstock.transforms.values import FinalSpec

Numbers = npt.NDArray[Any]

_NO_RESIZE = -1
_NEAREST = 0
_MOST_SECONDS = 600.0
_STORED = {Element.UINT8: np.uint8, Element.FLOAT16: np.float16, Element.FLOAT32: np.float32}


def apply_moves(image: Image.Image, moves: Iterable[Move]) -> Image.Image:
    """An RGB image after the moves that were drawn for it; each has a single row."""
    waiting: list[EffectMove] = []
    for move in moves:
        if isinstance(move, EffectMove):
            waiting.append(move)
            continue
        image = _move_whole(_run_effects(image, waiting), move)
        waiting = []
    return _run_effects(image, waiting)


def apply_to_mask(mask: Any, moves: Iterable[Move], where: str) -> Any:
    """A mask after the moves of its image, as the loader moves masks: the nearest pixel counts.

    Three planes at a time are taken for the red, green and blue of an image.
    """
    planes = plain(mask).reshape(-1, *mask.shape[-2:]).cpu().numpy()
    small = planes.astype(np.uint8)
    if not np.array_equal(small, planes):
        raise TransformError(
            f"{where}: a mask in a call with a key has whole numbers from 0 to 255. "
            "Call without a key, or give others."
        )
    changed = list(_mask_moves(moves))
    if not changed or not len(planes):
        return _empty_mask(mask, changed) if changed else mask
    results = []
    for first in range(0, len(small), 3):
        some = small[first : first + 3]
        image = np.zeros((*planes.shape[1:], 3), dtype=np.uint8)
        image[:, :, : len(some)] = some.transpose(1, 2, 0)
        done = np.asarray(apply_moves(Image.fromarray(image), changed))
        results += [done[:, :, channel] for channel in range(len(some))]
    moved = np.stack(results).reshape(*mask.shape[:-2], *results[0].shape)
    tensor = get_torch().from_numpy(np.ascontiguousarray(moved)).to(mask.dtype).to(mask.device)
    return wrap_like(tensor, mask)


def _empty_mask(mask: Any, moves: Sequence[Move]) -> Any:
    """A mask of no planes, in the size that it would have."""
    sizes = Sizes(np.array([mask.shape[-2]]), np.array([mask.shape[-1]]))
    after = out_sizes(moves, sizes)[0]
    return wrap_like(plain(mask).new_zeros((*mask.shape[:-2], after.height, after.width)), mask)


def _mask_moves(moves: Iterable[Move]) -> Iterator[Move]:
    """What happens to a mask when the moves happen to its image; colours do not matter to it."""
    mixing = False
    for move in moves:
        match move:
            case PadMove():
                yield replace(move, fill=(0, 0, 0))
            case ResizeMove():
                yield replace(move, filter=_NEAREST)
            case EffectMove():
                effect = Effect(move.effect[0])
                mixing = (mixing or effect == Effect.MIX_BEGIN) and effect != Effect.MIX_END
                if effect in WARPS and not mixing:
                    numbers = move.numbers.copy()
                    write_parameters(effect, numbers, filter=_NEAREST, fill=0)
                    yield replace(move, numbers=numbers)
            case _:
                yield move


def _move_whole(image: Image.Image, move: Move) -> Image.Image:
    """An image after a move of its pixels."""
    moved: Image.Image = image
    match move:
        case PadMove():
            borders = [int(side[0]) for side in (move.left, move.top, move.right, move.bottom)]
            if any(borders):
                mode = move.mode.name.lower()
                moved = F.pad(image, padding=borders, fill=list(move.fill), padding_mode=mode)
        case CropMove():
            top, left = int(move.top[0]), int(move.left[0])
            moved = F.crop(image, top, left, int(move.height[0]), int(move.width[0]))
        case ResizeMove():
            size = [int(move.height[0]), int(move.width[0])]
            moved = F.resize(image, size, interpolation=mode_name(int(move.filter)))
        case FlipMove():
            moved = F.horizontal_flip(moved) if move.horizontal[0] else moved
            moved = F.vertical_flip(moved) if move.vertical[0] else moved
    return moved


def run_final(image: Image.Image, spec: FinalSpec, finishing: Sequence[EffectMove]) -> Numbers:
    """The finished values of an image, channels first; bfloat16 comes as its bits in uint16."""
    stored = np.empty((3, image.height, image.width), _STORED.get(spec.element, np.uint16))
    layout = Format(spec.element, "chw", spec.scale, spec.mean, spec.std, spec.divisor, spec.gain)
    programs = _programs(_size_of(image), (), finishing)
    buffer = BatchBuffer.borrow(stored.reshape(-1).view(np.uint8))
    part = _begin(image)
    part.run(_FIRST, programs, buffer, np.zeros(1, dtype=np.int64), layout)
    _wait(part)
    return stored


def _run_effects(image: Image.Image, moves: Sequence[EffectMove]) -> Image.Image:
    acting = [move for move in moves if move.acts[0]]
    if not acting:
        return image
    last = acting[-1]
    result = np.empty((int(last.height[0]), int(last.width[0]), 3), dtype=np.uint8)
    part = _begin(image)
    part.run_to_arrays(_FIRST, _programs(_size_of(image), acting, ()), [result])
    _wait(part)
    return Image.fromarray(result)


_FIRST = np.zeros(1, dtype=np.int32)


def _programs(
    size: Size, effects: Sequence[EffectMove], finishing: Sequence[EffectMove]
) -> Programs:
    """A step that changes nothing, then effects, then those on the finished image."""
    step = np.zeros((1, 1, len(StepColumn)), dtype=np.int32)
    for column in (StepColumn.CROP_HEIGHT, StepColumn.RESIZE_HEIGHT, StepColumn.WINDOW_HEIGHT):
        step[..., column] = size.height
    for column in (StepColumn.CROP_WIDTH, StepColumn.RESIZE_WIDTH, StepColumn.WINDOW_WIDTH):
        step[..., column] = size.width
    step[..., StepColumn.FILTER] = _NO_RESIZE
    step[..., StepColumn.DCT_SCALE] = 1
    places = [(move, 0) for move in effects]
    places += [(move, FINISHED) for move in finishing if move.acts[0]]
    heads = [(move.effect[0], after, move.height[0], move.width[0], 0, 0) for move, after in places]
    numbers = [move.numbers[0] for move, _ in places]
    return Programs(
        step,
        np.ones(1, dtype=np.int32),
        np.array(heads, dtype=np.int32).reshape(-1, 6),
        np.array(numbers) if numbers else no_numbers(0),
        np.array([len(places)], dtype=np.int32),
    )


def _size_of(image: Image.Image) -> Size:
    return Size(image.height, image.width)


def _begin(image: Image.Image) -> EnginePart:
    part = _engine(os.getpid()).begin(0, 1)
    part.set_pixels(0, np.asarray(image))
    return part


def _wait(part: EnginePart) -> None:
    if not part.wait(_MOST_SECONDS):
        raise CoreError(f"The core has not finished an image within {_MOST_SECONDS:.0f} seconds.")
    if part.status[0] != Status.OK:
        raise CoreError(f"The core could not work on an image: {part.message(0)}")


@lru_cache(maxsize=2)
def _engine(process: int) -> Engine:
    """One thread for calls; a forked process has none of its parent's, so it starts its own."""
    del process
    return Engine(1, 1)
