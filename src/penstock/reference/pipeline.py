"""The oracle: what a plan means, spelled out in Pillow and NumPy, one image and one move at a time.

Slow and plain on purpose. Whatever the core produces is compared with this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from penstock._core import Effect, Element, MixKind, PadMode, StepColumn
from penstock.geometry import Ints, Size, Sizes
from penstock.planner.lower import NO_RESIZE
from penstock.planner.plan import Plan
from penstock.planner.rules.measured import rows_to_measure, with_means
from penstock.reference.effects import Mix, apply_effect, erased_values
from penstock.transforms.batch_op import Mixing
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove
from penstock.transforms.values import FinalSpec, Layout

Values = npt.NDArray[np.float32]


def run_reference(
    plan: Plan, image: Image.Image, *, seed: int, epoch: int, sample: int, layout: Layout = "chw"
) -> npt.NDArray[Any]:
    """The finished pixels of one sample; bfloat16 comes as its bits in uint16."""
    samples = np.array([sample], dtype=np.int64)
    for segment in plan.segments:
        sizes = Sizes(np.array([image.height]), np.array([image.width]))
        image = run_moves(image, segment.sample(seed, epoch, samples, sizes), row=0)
        image = segment.call_python(image, seed=seed, epoch=epoch, sample=sample)
    finished = finish(image, plan.final, layout)
    sizes = Sizes(np.array([image.height]), np.array([image.width]))
    for move in plan.segments[-1].sample_finishing(seed, epoch, samples, sizes):
        erase_finished(finished, move, 0, layout)
    return finished


def run_views_reference(
    plan: Plan, image: Image.Image, *, seed: int, epoch: int, sample: int, layout: Layout = "chw"
) -> list[npt.NDArray[Any]]:
    """All views of one sample, each made from the image on its own."""
    return [
        run_reference(view, image, seed=seed, epoch=epoch, sample=sample, layout=layout)
        for view in plan.views
    ]


def run_moves(image: Image.Image, moves: Iterable[Move], row: int) -> Image.Image:
    """Do what the moves say for the sample in `row`."""
    mix, read = Mix(), image
    for move in moves:
        match move:
            case PadMove():
                borders = (move.left, move.top, move.right, move.bottom)
                image = _pad(image, _ints(borders, row), move.mode, move.fill)
            case CropMove():
                image = _crop(image, *_ints((move.top, move.left, move.height, move.width), row))
            case ResizeMove():
                height, width = _ints((move.height, move.width), row)
                image = image.resize((width, height), move.filter)
            case FlipMove():
                image = _flip(image, bool(move.horizontal[row]), bool(move.vertical[row]))
            case EffectMove():
                image = _apply_effect(image, _measured(read, move, row), row, mix)
    return image


def _measured(read: Image.Image, move: EffectMove, row: int) -> EffectMove:
    """The effect, with the mean that a plan has left open."""
    rows = rows_to_measure(move)
    if not rows[row]:
        return move
    small = run_moves(read, move.measured_on or (), row)
    mean = float(np.asarray(small.convert("L"), dtype=np.float64).mean())
    return with_means(move, rows, np.full(int(rows.sum()), mean))


def run_steps_reference(table_row: npt.NDArray[np.int32], image: Image.Image) -> Image.Image:
    """Do the lowered steps (steps, columns) of one sample.

    Pillow chooses the order of a resize's passes itself, so that column is not read.
    """
    for step in table_row.tolist():
        if step[StepColumn.GRAY]:
            image = image.convert("L").convert("RGB")
        fill = step[StepColumn.PAD_FILL]
        colour = (fill & 255, fill >> 8 & 255, fill >> 16)
        borders = step[StepColumn.PAD_LEFT : StepColumn.PAD_BOTTOM + 1]
        image = _pad(image, borders, PadMode(step[StepColumn.PAD_MODE]), colour)
        image = _crop(image, *step[StepColumn.CROP_TOP : StepColumn.CROP_WIDTH + 1])
        if step[StepColumn.FILTER] != NO_RESIZE:
            size = (step[StepColumn.RESIZE_WIDTH], step[StepColumn.RESIZE_HEIGHT])
            image = image.resize(size, step[StepColumn.FILTER])
        image = _crop(image, *step[StepColumn.WINDOW_TOP : StepColumn.WINDOW_WIDTH + 1])
        horizontal, vertical = step[StepColumn.FLIP_HORIZONTAL], step[StepColumn.FLIP_VERTICAL]
        image = _flip(image, bool(horizontal), bool(vertical))
    return image


def finish(image: Image.Image, spec: FinalSpec, layout: Layout = "chw") -> npt.NDArray[Any]:
    """The final pass: values, element type and layout."""
    return finish_pixels(np.asarray(image.convert("RGB")), spec, layout)


def finish_pixels(
    pixels: npt.NDArray[np.uint8], spec: FinalSpec, layout: Layout = "chw"
) -> npt.NDArray[Any]:
    """The final pass over an array of height x width x 3."""
    finished = pixels.copy() if spec.element == Element.UINT8 else _finish_values(pixels, spec)
    return finished if layout == "hwc" else np.ascontiguousarray(finished.transpose(2, 0, 1))


def erase_finished(
    finished: npt.NDArray[Any], move: EffectMove, row: int, layout: Layout = "chw"
) -> None:
    """Erase a rectangle of a finished image by values rounded to its element type."""
    if move.effect[row] == Effect.NONE:
        return
    parameters = move.parameters(row)
    top, left = int(parameters.pop("top")), int(parameters.pop("left"))
    values: npt.NDArray[Any] = erased_values(**parameters).astype(np.float32)
    height, width = values.shape[1:]
    if finished.dtype == np.uint16:
        values = bfloat16_bits(np.ascontiguousarray(values))
    elif finished.dtype == np.uint8:
        values = values.astype(np.int64) & 255
    if layout == "chw":
        finished[:, top : top + height, left : left + width] = values
    else:
        finished[top : top + height, left : left + width] = values.transpose(1, 2, 0)


def mix_reference(
    images: npt.NDArray[Any], slots: Ints, mixing: Mixing, element: Element, layout: Layout
) -> None:
    """Mix the images in `slots` in place; bfloat16 comes as its bits."""
    before = images[slots]
    for row, slot in enumerate(slots.tolist()):
        partner = before[mixing.partner[row]]
        if mixing.kind[row] == MixKind.BLEND:
            own = _stored(_widen(before[row], element) * mixing.own[row], element)
            other = _stored(_widen(partner, element) * mixing.other[row], element)
            images[slot] = _narrow(own + other, element).view(images.dtype)
        elif mixing.kind[row] == MixKind.PASTE:
            top, left, height, width = mixing.box[row].tolist()
            box: tuple[slice, ...] = (slice(top, top + height), slice(left, left + width))
            if layout == "chw":
                box = (slice(None), *box)
            images[slot][box] = partner[box]


def _finish_values(pixels: npt.NDArray[np.uint8], spec: FinalSpec) -> npt.NDArray[Any]:
    mean, std = np.array(spec.mean, np.float32), np.array(spec.std, np.float32)
    scaled = pixels.astype(np.float32) * np.float32(spec.scale) / np.float32(spec.divisor)
    values: npt.NDArray[np.float32] = (scaled - mean) / std * np.array(spec.gain, np.float32)
    if spec.element == Element.FLOAT16:
        return values.astype(np.float16)
    if spec.element == Element.BFLOAT16:
        return bfloat16_bits(values)
    return values


def bfloat16_bits(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """The upper half of a float32, rounded to nearest even."""
    bits = values.view(np.uint32)
    is_odd = bits >> 16 & 1
    return ((bits + 0x7FFF + is_odd) >> 16).astype(np.uint16)


def _apply_effect(image: Image.Image, move: EffectMove, row: int, mix: Mix) -> Image.Image:
    effect = Effect(move.effect[row])
    parameters = move.parameters(row)
    if effect in Mix.EFFECTS:
        return Image.fromarray(mix.apply(np.asarray(image), effect, **parameters))
    size = Size(int(move.height[row]), int(move.width[row]))
    return apply_effect(image, effect, parameters, size)


def _pad(
    image: Image.Image, borders: list[int], mode: PadMode, colour: tuple[int, int, int]
) -> Image.Image:
    if not any(borders):
        return image
    if mode == PadMode.CONSTANT:
        return ImageOps.expand(image, tuple(borders), colour)
    left, top, right, bottom = borders
    widths = ((top, bottom), (left, right), (0, 0))
    numpy_mode: Any = mode.name.lower()
    return Image.fromarray(np.pad(np.asarray(image), widths, numpy_mode))


def _crop(image: Image.Image, top: int, left: int, height: int, width: int) -> Image.Image:
    return image.crop((left, top, left + width, top + height))


def _flip(image: Image.Image, horizontal: bool, vertical: bool) -> Image.Image:
    if horizontal:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if vertical:
        image = image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    return image


def _ints(columns: Iterable[npt.NDArray[np.int64]], row: int) -> list[int]:
    return [int(column[row]) for column in columns]


def _stored(values: Values, element: Element) -> Values:
    """Round values to `element`, as torch does after every step of a calculation."""
    return _widen(_narrow(values, element), element)


def _widen(stored: npt.NDArray[Any], element: Element) -> Values:
    if element == Element.BFLOAT16:
        return (stored.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)


def _narrow(values: Values, element: Element) -> npt.NDArray[Any]:
    if element == Element.BFLOAT16:
        return bfloat16_bits(values)
    return values.astype(np.float16) if element == Element.FLOAT16 else values
