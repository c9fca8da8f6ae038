"""Other steps beside the same pipeline: faster accelerators, and other models on the same device.

A real accelerator cannot be made faster; for an emulated one, what was predicted can be checked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from penstock.analysis.device.devices import EmulatedDevice, TorchDevice
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.what_if import FASTER, Change, faster_accelerator
from penstock.errors import AnalysisError
from penstock.watching.loader_facts import count_images, is_list_of_images

# From small to large; the same networks under the names of both libraries.
_TORCHVISION = ("mobilenet_v3_small", "resnet18", "resnet50")
_DETECTORS = ("ssdlite320_mobilenet_v3_large", "ssd300_vgg16")
_TIMM = ("mobilenetv3_small_100", "resnet18", "resnet50")
_CPU_IMAGES = 8  # a batch that a CPU trains on in a second or two
_CPU_STEPS, _GPU_STEPS = 1, 10
MODELS = 2


def check_faster(context: SweepContext, pipeline: float) -> None:
    """Run the pipeline against faster emulated devices; a real one cannot be made faster."""
    if not isinstance(context.device, EmulatedDevice):
        return
    for times in FASTER:
        what = faster_accelerator(times, context.device.images_per_s)
        if not context.allows(what, runs=1, measurements=1):
            continue
        context.budget.begin(what)
        rate = context.run(context.subject, EmulatedDevice(context.device.images_per_s * times))
        faster = context.alone.rate.median * times
        context.check(what, rate, synthetic=faster, pipeline=pipeline)


def measure_other_models(context: SweepContext) -> None:
    """Measure a few steps of two other models; an emulated device and a user's step have none."""
    device = context.device
    if not isinstance(device, TorchDevice):
        return
    names: Sequence[str] = _TIMM if device.library == "timm" else _TORCHVISION
    names = _DETECTORS if device.detects else names
    others = [one for one in names if one != device.model_name][:MODELS]
    context.budget.drop(MODELS - len(others))
    for name in others:
        # Larger ones take several times as long; two steps of a few images are made.
        steps_s = 8 * _CPU_IMAGES / context.alone.rate.median
        if not context.budget.allows(f"{name} as the model", steps_s):
            continue
        context.budget.begin(f"the step of {name}")
        try:
            context.results.changes.append(_measure(device.name, name, context.alone.batch))
        except AnalysisError as error:
            context.results.note(name, error)


def _measure(device_name: str, model: str, batch: Any) -> Change:
    device = TorchDevice(device_name, model)
    is_cpu = device_name.partition(":")[0] == "cpu"
    if is_cpu:
        batch = _first_images(batch, _CPU_IMAGES)
    device.submit(batch)
    device.synchronise()
    steps = _CPU_STEPS if is_cpu else _GPU_STEPS
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    for _ in range(steps):
        device.submit(batch)
    device.synchronise()
    images = steps * count_images(batch)
    seconds, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    return Change(f"{model} as the model", synthetic=images / seconds, step_cpu_s=cpu_s / images)


def _first_images(batch: Any, count: int) -> Any:
    if isinstance(batch, (tuple, list)) and not is_list_of_images(batch):
        return [part[:count] for part in batch]
    return batch[:count]
