"""Faster accelerators: where they are emulated, what was predicted of them can be checked."""

from __future__ import annotations

from penstock.analysis.device.devices import EmulatedDevice
from penstock.analysis.measure import run_pipeline
from penstock.analysis.sweeps.sweep import Setting, Swept
from penstock.analysis.what_if import FASTER, faster_accelerator
from penstock.results.records import Prediction


def check_faster(setting: Setting, pipeline: float) -> Swept:
    """Run the pipeline against faster emulated devices; a real one cannot be made faster."""
    swept = Swept()
    if not isinstance(setting.device, EmulatedDevice):
        return swept
    for times in FASTER:
        what = faster_accelerator(times, setting.device.images_per_s)
        if not setting.allows(what, runs=1, measurements=1):
            continue
        setting.budget.begin(what)
        device = EmulatedDevice(setting.device.images_per_s * times)
        run = run_pipeline(setting.subject, device, setting.cores, setting.effort)
        predicted = setting.model.end_to_end(
            setting.alone.rate.median * times, pipeline, setting.cores
        )
        swept.checks.append(Prediction(what, predicted, run.images_per_s))
    return swept
