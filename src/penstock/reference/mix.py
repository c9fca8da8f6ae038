"""The oracle for mixing: what the core does to a batch, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.geometry import Ints
from penstock.reference.pipeline import bfloat16_bits
from penstock.transforms.batch_op import Mixing, MixKind
from penstock.transforms.values import Element, Layout

Values = npt.NDArray[np.float32]


def mix_reference(
    images: npt.NDArray[Any], slots: Ints, mixing: Mixing, element: Element, layout: Layout
) -> None:
    """Mix the images in `slots` in place; bfloat16 comes as its bits."""
    before = images[slots]
    for row, slot in enumerate(slots.tolist()):
        partner = before[mixing.partner[row]]
        if mixing.kind[row] == MixKind.BLEND:
            own = _round(_widen(before[row], element) * mixing.own[row], element)
            other = _round(_widen(partner, element) * mixing.other[row], element)
            images[slot] = _narrow(own + other, element).view(images.dtype)
        elif mixing.kind[row] == MixKind.PASTE:
            top, left, height, width = mixing.box[row].tolist()
            box: tuple[slice, ...] = (slice(top, top + height), slice(left, left + width))
            if layout == "chw":
                box = (slice(None), *box)
            images[slot][box] = partner[box]


def _round(values: Values, element: Element) -> Values:
    """As if every step of the calculation were stored."""
    return _widen(_narrow(values, element), element)


def _widen(stored: npt.NDArray[Any], element: Element) -> Values:
    if element == Element.BFLOAT16:
        return (stored.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)


def _narrow(values: Values, element: Element) -> npt.NDArray[Any]:
    if element == Element.BFLOAT16:
        return bfloat16_bits(values)
    return values.astype(np.float16) if element == Element.FLOAT16 else values
