"""The end of a pipeline, reduced to one pass over the pixels.

ToDtype, ToTensor and Normalize in the orders that make sense come to
(x * scale / divisor - mean) / std * gain in float32, each operation rounded, then one rounding to
the element type: what torchvision computes, bit for bit, or Albumentations, which multiplies by a
gain instead of dividing by std. Orders that would round in between are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from penstock.errors import TransformError
from penstock.transforms.values import Element, FinalOp, Normalize, PerChannel, ToDtype, ToTensor

_TO_UNIT_RANGE = float(np.float32(1.0 / 255.0))


@dataclass(frozen=True, slots=True)
class FinalSpec:
    """(x * scale / divisor - mean) / std * gain in float32, then cast; uint8 stays as it is."""

    element: Element = Element.UINT8
    scale: float = 1.0
    mean: PerChannel = (0.0, 0.0, 0.0)
    std: PerChannel = (1.0, 1.0, 1.0)
    divisor: float = 1.0
    gain: PerChannel = (1.0, 1.0, 1.0)


def reduce_final(steps: Iterable[tuple[int, FinalOp]]) -> FinalSpec:
    """Fold the last ops of a pipeline, each with its number (from 0) in what the user wrote."""
    spec = FinalSpec()
    normalised = False
    for position, op in steps:
        where = f"{type(op).__name__} (step {position + 1})"
        if isinstance(op, ToDtype):
            spec = _cast(where, spec, op)
        elif isinstance(op, ToTensor):
            spec = _divide(where, spec)
        elif normalised:
            raise TransformError(
                f"{where}: the image is normalised already. Combine the two into one Normalize."
            )
        else:
            spec = _normalise(where, spec, op)
            normalised = True
    return spec


def _cast(where: str, spec: FinalSpec, op: ToDtype) -> FinalSpec:
    if op.element == spec.element:
        return spec
    if spec.element == Element.UINT8:
        return replace(spec, element=op.element, scale=_TO_UNIT_RANGE if op.scale else 1.0)
    if spec.element == Element.FLOAT32 and op.element != Element.UINT8:
        return replace(spec, element=op.element)
    raise TransformError(
        f"{where}: the image is {spec.element.name.lower()} here and cannot become "
        f"{op.element.name.lower()}. Keep only the last ToDtype."
    )


def _divide(where: str, spec: FinalSpec) -> FinalSpec:
    if spec.element != Element.UINT8:
        raise TransformError(
            f"{where}: the image is {spec.element.name.lower()} here already. Leave out one of the "
            "two."
        )
    return FinalSpec(Element.FLOAT32, divisor=255.0)


def _normalise(where: str, spec: FinalSpec, op: Normalize) -> FinalSpec:
    if op.flavor == "albumentations":
        return _normalise_levels(where, spec, op)
    if spec.element == Element.UINT8:
        spec = FinalSpec(Element.FLOAT32, _TO_UNIT_RANGE)
    elif spec.element != Element.FLOAT32:
        name = spec.element.name.lower()
        raise TransformError(
            f"{where}: the image is {name} here, which would round every step of the "
            f'calculation. Put ToDtype("{name}") after Normalize.'
        )
    return replace(spec, mean=op.channel_mean, std=op.channel_std)


def _normalise_levels(where: str, spec: FinalSpec, op: Normalize) -> FinalSpec:
    """Mean and deviation times 255, for values that are still 0..255."""
    if spec.element != Element.UINT8:
        raise TransformError(
            f'{where}: flavor "albumentations" takes a uint8 image, and it is '
            f"{spec.element.name.lower()} here. Leave out what comes before, or the flavor."
        )
    levels = np.float32(255)
    mean = np.array(op.channel_mean, np.float32) * levels
    gain = np.reciprocal(np.array(op.channel_std, np.float32) * levels)
    return FinalSpec(Element.FLOAT32, mean=_per_channel(mean), gain=_per_channel(gain))


def _per_channel(numbers: npt.NDArray[np.float32]) -> PerChannel:
    red, green, blue = numbers.tolist()
    return red, green, blue
