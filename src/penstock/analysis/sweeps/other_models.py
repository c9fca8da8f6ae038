"""Other models on the same device: how fast each one trains."""

from __future__ import annotations

import time
from typing import Any

from penstock.analysis.device.torch_device import TorchDevice
from penstock.analysis.sweeps.sweep import Setting, Swept
from penstock.analysis.what_if import Change
from penstock.errors import AnalysisError
from penstock.watching.loader_facts import count_images

# From small to large; the same networks under the names of both libraries.
_TORCHVISION = ("mobilenet_v3_small", "resnet18", "resnet50")
_TIMM = ("mobilenetv3_small_100", "resnet18", "resnet50")
_CPU_IMAGES = 8  # a batch that a CPU trains on in a second or two
_CPU_STEPS, _GPU_STEPS = 1, 10
MODELS = 2


def measure_other_models(setting: Setting) -> Swept:
    """Measure a few steps of two other models; an emulated device and a user's step have none."""
    swept = Swept()
    device = setting.device
    if not isinstance(device, TorchDevice):
        return swept
    names = _TIMM if device.library == "timm" else _TORCHVISION
    for name in [one for one in names if one != device.model_name][:MODELS]:
        # Larger ones take several times as long; two steps of a few images are made.
        steps_s = 8 * _CPU_IMAGES / setting.alone.rate.median
        if not setting.budget.allows(f"{name} as the model", steps_s):
            continue
        setting.budget.begin(f"the step of {name}")
        try:
            swept.changes.append(_measure(device.name, name, setting.alone.batch))
        except AnalysisError as error:
            swept.notes.append(f"{name} could not be tried: {error}")
    return swept


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
    return [part[:count] for part in batch] if isinstance(batch, (tuple, list)) else batch[:count]
