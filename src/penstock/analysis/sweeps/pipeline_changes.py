"""The pipeline with something changed: layers of RandAugment, and the size of images.

Every op that sets a size sets another one, in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.analysis.device.devices import Device, EmulatedDevice
from penstock.analysis.measure import Effort, StepAlone, first_batch, measure_step
from penstock.analysis.subject.subject import Subject
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.what_if import Change
from penstock.errors import AnalysisError, PenstockError
from penstock.results.records import LayerRate, Rate

LAYERS = (0, 1, 2, 3)
_HEIGHTS_PX = (64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 448, 512)
_EACH_WAY = 2
SIZES = 2 * _EACH_WAY  # at most
_NO_PLACE = "this loader's transforms cannot be changed from outside"
_STEP_EFFORT = Effort(rounds=1, seconds=0.5)


def measure_augmentation_layers(
    context: SweepContext, wanted: Sequence[int], *, whatever_it_takes: bool = False
) -> tuple[LayerRate, ...]:
    """Measure pipeline and end to end with these layers, and check the prediction of each.

    Nothing comes back for a pipeline whose RandAugment cannot be changed from outside.
    """
    rates: list[LayerRate] = []
    for done, layers in enumerate(wanted):
        what = f"{layers} layer{'' if layers == 1 else 's'} of RandAugment"
        left = len(wanted) - done
        try:
            other = context.subject.with_layers(layers)
            if other is None:
                context.budget.drop(left)
                if whatever_it_takes:
                    context.results.note("layers of RandAugment", _NO_PLACE)
                break
            more = f"{layers} and more layers of RandAugment"
            if not whatever_it_takes and not context.allows(more, 2, left):
                break
            context.budget.begin(what)
            pipeline, end_to_end = context.run(other), context.run(other, context.device)
        except PenstockError as error:
            context.results.note(what, error)
            break
        rates.append(LayerRate(layers, Rate.of(pipeline), Rate.of(end_to_end), is_measured=True))
        context.results.changes.append(Change(what, pipeline))
        context.check(what, end_to_end, pipeline=pipeline)
    return tuple(rates)


def measure_sizes(context: SweepContext) -> None:
    """Measure the pipeline at smaller and larger sizes, and check one prediction end to end."""
    height = image_height_px(context.alone.batch)
    heights = [] if height is None else heights_near(height)
    context.budget.drop(SIZES - len(heights))
    is_checked = False
    for done, height_px in enumerate(heights):
        what = f"images {height_px} pixels high"
        factor = height_px / (height or height_px)
        try:
            other = context.subject.with_size(factor)
            if other is None:
                context.budget.drop(len(heights) - done)
                break
            if not context.allows(what, 2, 1):
                continue
            context.budget.begin(what)
            is_checked |= _measure_size(context, other, what, factor, check=not is_checked)
        except PenstockError as error:  # such as a crop that is larger than an image
            context.results.note(what, error)


def _measure_size(
    context: SweepContext, other: Subject, what: str, factor: float, *, check: bool
) -> bool:
    """Measure one size; tell whether its prediction was checked, as far as that is wanted."""
    pipeline = context.run(other)
    device = _device_for(context.device, factor)
    if device is None:
        synthetic, step_cpu_s = context.alone.rate.median / factor**2, context.alone.cpu_s
    else:
        alone = _step_alone(device, first_batch(other))
        synthetic, step_cpu_s = alone.rate.median, alone.cpu_s
    is_assumed = device is None or device.is_emulated
    told = f"{what} (a step in proportion to pixels is assumed)" if is_assumed else what
    context.results.changes.append(Change(told, pipeline, synthetic, step_cpu_s))
    if device is None or not check:
        return False
    measured = context.run(other, device)
    context.check(what, measured, synthetic=synthetic, pipeline=pipeline, step_cpu_s=step_cpu_s)
    return True


def _step_alone(device: Device, batch: Any) -> StepAlone:
    try:
        return measure_step(device, batch, _STEP_EFFORT)
    except (AssertionError, RuntimeError, ValueError) as error:
        raise AnalysisError(f"the model does not take them ({error}).") from error


def _device_for(device: Device, factor: float) -> Device | None:
    """Return what trains on images of another size; None for a step that may not accept them."""
    if isinstance(device, EmulatedDevice):
        return EmulatedDevice(device.images_per_s / factor**2)
    return device if device.takes_any_size else None


def heights_near(height_px: int) -> list[int]:
    """Return usual heights, the nearest below and above."""
    below = [one for one in _HEIGHTS_PX if one < height_px][-_EACH_WAY:]
    above = [one for one in _HEIGHTS_PX if one > height_px][:_EACH_WAY]
    return below + above


def image_height_px(batch: Any) -> int | None:
    """Return the height of the images in a batch; None if they are no array of one size."""
    images = batch
    while isinstance(images, (Sequence, dict)) and not isinstance(images, str) and images:
        images = next(iter(images.values())) if isinstance(images, dict) else images[0]
    shape: tuple[int, ...] = tuple(getattr(images, "shape", ()))
    if len(shape) != 4:
        return None
    return int(shape[2] if shape[1] in {1, 3} else shape[1])
