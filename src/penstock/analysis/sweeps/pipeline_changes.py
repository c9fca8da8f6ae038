"""The pipeline with something changed: layers of RandAugment, and the size of images.

Every op that sets a size sets another one, in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.analysis.device.devices import Device, EmulatedDevice
from penstock.analysis.measure import (
    Effort,
    StepAlone,
    first_batch,
    measure_step,
    rate_of,
    run_pipeline,
)
from penstock.analysis.subject.subject import Subject
from penstock.analysis.sweeps.sweep import SweepContext, SweepResults
from penstock.analysis.what_if import Change
from penstock.errors import AnalysisError, PenstockError
from penstock.results.records import LayerRate, Prediction

LAYERS = (0, 1, 2, 3)
_HEIGHTS_PX = (64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 448, 512)
_EACH_WAY = 2
SIZES = 2 * _EACH_WAY  # at most
_STEP_EFFORT = Effort(rounds=1, seconds=0.5)


def measure_augmentation_layers(
    context: SweepContext,
) -> tuple[tuple[LayerRate, ...], SweepResults]:
    """Measure pipeline and end to end with 0 to 3 layers, and check the prediction of each.

    Nothing comes back for a pipeline whose RandAugment cannot be changed from outside.
    """
    rates: list[LayerRate] = []
    swept = SweepResults()
    synthetic, cores = context.alone.rate.median, context.cores
    for done, layers in enumerate(LAYERS):
        what = f"{layers} layer{'' if layers == 1 else 's'} of RandAugment"
        left = len(LAYERS) - done
        try:
            other = context.subject.with_layers(layers)
            if other is None:
                context.budget.drop(left)
                break
            if not context.allows(f"{layers} and more layers of RandAugment", 2, left):
                break
            context.budget.begin(what)
            pipeline = rate_of([run_pipeline(other, None, cores, context.effort)])
            end_to_end = rate_of([run_pipeline(other, context.device, cores, context.effort)])
        except PenstockError as error:
            swept.notes.append(f"{what} could not be tried: {error}")
            break
        rates.append(LayerRate(layers, pipeline, end_to_end, is_measured=True))
        swept.changes.append(Change(what, pipeline.median))
        predicted = context.model.end_to_end(synthetic, pipeline.median, cores)
        swept.checks.append(Prediction(what, predicted, end_to_end.median))
    return tuple(rates), swept


def measure_sizes(context: SweepContext) -> SweepResults:
    """Measure the pipeline at smaller and larger sizes, and check one prediction end to end."""
    swept = SweepResults()
    height = image_height_px(context.alone.batch)
    heights = [] if height is None else heights_near(height)
    context.budget.drop(SIZES - len(heights))
    for done, height_px in enumerate(heights):
        factor = height_px / (height or height_px)
        try:
            other = context.subject.with_size(factor)
            if other is None:
                context.budget.drop(len(heights) - done)
                break
            if not context.allows(f"images {height_px} pixels high", 2, 1):
                continue
            context.budget.begin(f"images {height_px} pixels high")
            _measure_size(context, other, f"images {height_px} pixels high", factor, swept)
        except PenstockError as error:  # such as a crop that is larger than an image
            swept.notes.append(f"images {height_px} pixels high could not be tried: {error}")
    return swept


def _measure_size(
    context: SweepContext, other: Subject, what: str, factor: float, swept: SweepResults
) -> None:
    pipeline = run_pipeline(other, None, context.cores, context.effort).images_per_s
    device = _device_for(context.device, factor)
    if device is None:
        synthetic, step_cpu_s = context.alone.rate.median / factor**2, context.alone.cpu_s
    else:
        alone = _step_alone(device, first_batch(other))
        synthetic, step_cpu_s = alone.rate.median, alone.cpu_s
    is_assumed = device is None or device.is_emulated
    told = f"{what} (a step in proportion to pixels is assumed)" if is_assumed else what
    swept.changes.append(Change(told, pipeline, synthetic, step_cpu_s))
    if device is not None and not swept.checks:
        measured = run_pipeline(other, device, context.cores, context.effort).images_per_s
        predicted = context.model.end_to_end(synthetic, pipeline, context.cores, step_cpu_s)
        swept.checks.append(Prediction(what, predicted, measured))


def _step_alone(device: Device, batch: Any) -> StepAlone:
    try:
        return measure_step(device, batch, _STEP_EFFORT)
    except (AssertionError, RuntimeError, ValueError) as error:
        raise AnalysisError(f"the model does not take them ({error}).") from error


def _device_for(device: Device, factor: float) -> Device | None:
    """Return what trains on images of another size; None for a step that may not bear them."""
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
