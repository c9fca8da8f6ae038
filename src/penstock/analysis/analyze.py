"""`penstock.analyze`: measure a loader and a step, find what holds them up, think further."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any

from penstock.analysis.advice import advise
from penstock.analysis.batch_images import count_images
from penstock.analysis.cold import measure_first_epoch, measure_reads, tell_cold, what_if_cold
from penstock.analysis.devices import Device, StepDevice, open_device
from penstock.analysis.environment import describe_environment
from penstock.analysis.gather_facts import gather_facts, split_stall
from penstock.analysis.image_size import measure_sizes
from penstock.analysis.layers import measure_layers
from penstock.analysis.measure import (
    Effort,
    Measured,
    Say,
    StepAlone,
    core_counts,
    first_batch,
    measure_rates,
    measure_step,
    rate_of,
    run_pipeline,
)
from penstock.analysis.other_accelerators import check_faster
from penstock.analysis.other_forms import measure_other_forms
from penstock.analysis.other_models import measure_other_models
from penstock.analysis.other_work import read_cpu_seconds, share_of_others, tell_others
from penstock.analysis.predict import CoreModel, fit_cores, fit_overlap
from penstock.analysis.predict_checked import check_core_predictions, core_points, core_rates
from penstock.analysis.results import Analysis, LayerRate
from penstock.analysis.subject import open_subject
from penstock.analysis.sweep import Setting, Swept
from penstock.analysis.user_code import UserCode, code_of_caller
from penstock.analysis.utilisation import watch_device
from penstock.analysis.verdict import judge
from penstock.analysis.what_if import Model, what_ifs
from penstock.usable_cores import usable_cores

DEFAULT_DEVICE = "emulated:1000"


def analyze(
    loader: Iterable[Any],
    step: Callable[[Any], object] | None = None,
    *,
    device: str = DEFAULT_DEVICE,
    model: str = "resnet18",
    title: str | None = None,
    rounds: int | None = None,
    seconds: float | None = None,
    quick: bool = False,
    sweeps: bool = True,
    progress: Say | None = None,
    code: UserCode | None = None,
) -> Analysis:
    """Find out what an input pipeline costs a training, why, and what would change it.

    Args:
        loader: A penstock Loader or a torch DataLoader, of which copies are made with other numbers
            of workers; or anything that can be iterated again and again.
        step: Your training step, called with each batch. None trains on `device`.
        device: `cuda`, `mps` or `cpu` for real steps of `model`, or `emulated:RATE`, which takes
            RATE images a second without computing anything.
        model: A name that torchvision or timm knows, or `module:callable`.
        title: What to call the pipeline in a report.
        rounds: How often each figure is measured; the median counts.
        seconds: How long each run takes.
        quick: Fewer rounds and shorter runs, unless they are given.
        sweeps: Also measure fewer cores, layers of RandAugment, other image sizes, models,
            accelerators and forms of the data, and look for the slowest files. The verdict needs
            none of it.
        progress: Called with what is being measured.
        code: The code that makes the loader, so that advice can name the line to change; None
            looks at the code that calls.
    """
    say = progress or (lambda _: None)
    default = Effort.quick() if quick else Effort()
    effort = Effort(rounds or default.rounds, seconds or default.seconds)
    code = code or code_of_caller(loader)
    subject = open_subject(loader)
    target: Device = StepDevice(step) if step is not None else open_device(device, model)

    cpu_before = read_cpu_seconds()
    say("the step alone")
    alone = measure_step(target, first_batch(subject), effort)
    cores = usable_cores()
    # A data set that is loaded without workers may not bear to be sent to one.
    other_workers = cores if subject.workers not in {0, cores} else None
    counts = core_counts(cores) if sweeps else [cores]
    measured = measure_rates(
        subject, target, counts, effort, alone=alone, other_workers=other_workers, say=say
    )
    alone = measured.step_on(cores, alone)
    say("how busy the device is")
    step_s = count_images(alone.batch) / alone.rate.median
    with watch_device(target, step_s) as watched:
        steps = run_pipeline(subject, target, cores, effort).steps
    say("the cost of each op")
    facts = gather_facts(subject, target, alone, measured, effort)
    # How a pipeline scales shows best in the rounds that nobody else disturbed.
    best = {count: rate_of(runs).largest for count, runs in measured.pipeline.items()}
    fitted = Model(
        fit_cores(best).through(cores, facts.pipeline),
        alone.cpu_s,
        fit_overlap(core_points(alone, measured)),
        _with_workers(best, measured, subject.workers, cores),
        _fit_steps(measured, alone, cores),
    )
    finding = judge(facts)
    say("files, cold and cached")
    reads = measure_reads(subject.files())
    first_epoch = measure_first_epoch(subject, target, cores, effort)
    layers: tuple[LayerRate, ...] = ()
    slowest: tuple[tuple[str, float], ...] = ()
    swept = Swept()
    if sweeps:
        once = Effort(rounds=1, seconds=effort.seconds / 2)
        setting = Setting(subject, target, alone, fitted, cores, once, say)
        layers, swept = measure_layers(setting)
        swept.add(measure_sizes(setting))
        swept.add(measure_other_models(setting))
        swept.add(check_faster(setting, facts.pipeline))
        say("the same pipeline in other forms")
        swept.add(measure_other_forms(setting, loader))
        say("the slowest files")
        slowest = subject.slowest_files()
    changes = what_ifs(facts, fitted, swept.changes) + what_if_cold(facts, fitted, reads)
    return Analysis(
        title=title or subject.title,
        created=dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        environment=describe_environment(),
        device=target.name,
        is_emulated=target.is_emulated,
        batch_size=count_images(alone.batch),
        images=subject.images,
        verdict=finding.verdict,
        sentence=finding.sentence,
        evidence=(
            *tell_others(share_of_others(cpu_before, read_cpu_seconds())),
            *finding.evidence,
            *tell_cold(reads, first_epoch, alone.rate.median),
            *watched.notes,
            *swept.notes,
        ),
        synthetic=alone.rate,
        pipeline=core_rates(measured.pipeline, fitted.cores.rate, cores),
        end_to_end=core_rates(
            measured.end_to_end,
            lambda count: fitted.end_to_end(
                fitted.synthetic(count, alone.rate.median), fitted.cores.rate(count), count
            ),
            cores,
        ),
        stall=facts.stall,
        stall_parts=split_stall(facts),
        first_epoch=first_epoch,
        ops=facts.costs.as_op_costs() if facts.costs is not None else (),
        layers=layers,
        predictions=(*check_core_predictions(alone, measured), *swept.checks),
        what_ifs=changes,
        advice=advise(finding.verdict, facts, fitted, changes, code),
        utilisation=watched.utilisation,
        steps=steps,
        slowest_files=slowest,
    )


def _with_workers(
    best: dict[int, float], measured: Measured, workers: int, cores: int
) -> CoreModel | None:
    """Fit what the pipeline does with a worker for each core, where it has fewer."""
    if not measured.other_workers or workers > cores:
        return None
    return fit_cores(best | {cores: rate_of(measured.other_workers).largest})


def _fit_steps(measured: Measured, alone: StepAlone, cores: int) -> CoreModel | None:
    """Fit how a step scales that computes on these cores."""
    if not measured.steps:
        return None
    best = {
        count: max(step.rate.largest for step in steps) for count, steps in measured.steps.items()
    }
    return fit_cores(best).through(cores, alone.rate.median)
