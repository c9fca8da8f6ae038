"""From what was measured to the facts that a verdict needs."""

from __future__ import annotations

from penstock.analysis.device.devices import Device, EmulatedDevice
from penstock.analysis.facts import Facts
from penstock.analysis.measure import Measured, StepAlone, rate_of
from penstock.analysis.subject.subject import Subject
from penstock.watching.loader_facts import count_images


def gather_facts(
    subject: Subject, device: Device, alone: StepAlone, measured: Measured, seconds: float
) -> Facts:
    """Measure what an image costs for some seconds; add the rates on all cores."""
    cores = max(measured.pipeline)
    costs = subject.costs(seconds)
    runs = measured.end_to_end[cores]
    images = count_images(alone.batch)
    first_work_s = 0.0 if costs is None else images * costs.total_s
    start_up_s = min(run.start_up_s for run in runs)
    short = [run.epoch_s for run in runs if run.is_short and run.epoch_s is not None]
    own, other = rate_of(measured.pipeline[cores]), None
    if measured.other_workers:
        other = rate_of(measured.other_workers)
    together = rate_of(runs)
    between = (alone.rate.least / together.largest, alone.rate.largest / together.least)
    copy = getattr(device, "seconds_to_copy", None)
    return Facts(
        batches=sum(run.batches for run in runs),
        synthetic=alone.rate.median,
        pipeline=own.median,
        end_to_end=together.median,
        cores=cores,
        workers=subject.workers,
        worker_kind=subject.worker_kind,
        costs=costs,
        other_workers=cores if other else None,
        other_pipeline=other.median if other else None,
        other_gain=other.largest / own.largest if other else None,
        other_spread=max(rate.largest / rate.least for rate in (own, other or own)),
        start_up_s=max(0.0, start_up_s - first_work_s),
        epoch_s=min(short, default=None),
        copy_s=copy(alone.batch) / images if copy is not None else 0.0,
        step_cores=alone.cores,
        computes_here=alone.computes_here,
        emulated_rate=device.images_per_s if isinstance(device, EmulatedDevice) else None,
        instant_between=between if len(runs) > 1 else None,
        keeps_workers=subject.keeps_workers,
    )


def split_stall(facts: Facts) -> dict[str, float]:
    """Split the stall by what the pipeline spends its time on."""
    if facts.costs is None:
        return {}
    seconds = {
        "fetch": facts.costs.of("read"),
        "prepare": facts.costs.cpu_s,
        "transfer": facts.copy_s,
    }
    total_s = sum(seconds.values()) or 1.0
    return {name: facts.stall * part / total_s for name, part in seconds.items()}
