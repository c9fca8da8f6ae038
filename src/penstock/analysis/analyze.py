"""`penstock.analyze`: measure a loader and a step, find what limits them and what would help."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from penstock.analysis.advice import advise
from penstock.analysis.budget import QUICK_S, USUAL_S, Budget, Progress
from penstock.analysis.cold_cache import (
    measure_first_epoch,
    measure_reads,
    tell_cold_cache,
    what_if_cold_cache,
)
from penstock.analysis.device.devices import TorchDevice, choose_device
from penstock.analysis.machine import (
    busy_banner,
    caution_of_competing_load,
    competing_load,
    describe_environment,
    read_cpu_seconds,
)
from penstock.analysis.measure import Effort
from penstock.analysis.rate_model import check_core_predictions, core_rates
from penstock.analysis.rates import Begun, Rates, begin, count_planned, measure_all
from penstock.analysis.result import Analysis
from penstock.analysis.subject.subject import open_subject
from penstock.analysis.sweeps.alternatives import ALTERNATIVES, measure_alternatives
from penstock.analysis.sweeps.orders import ORDERS, measure_orders
from penstock.analysis.sweeps.pipeline_changes import (
    LAYERS,
    SIZES,
    measure_augmentation_layers,
    measure_sizes,
)
from penstock.analysis.sweeps.step_changes import MODELS, check_faster, measure_other_models
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.user_code import UserCode, code_of_caller
from penstock.analysis.verdict import judge, split_stall
from penstock.analysis.what_if import FASTER, what_ifs
from penstock.costs.slow_files import SlowFiles
from penstock.errors import PenstockError
from penstock.results.records import CoreRate, LayerRate, Verdict
from penstock.watching.loader_facts import count_images

_FILES_LOADED = 192  # about as many images are loaded to find the slowest


def analyze(
    loader: Iterable[Any],
    step: Callable[[Any], object] | None = None,
    *,
    device: str | None = None,
    model: str = "resnet18",
    title: str | None = None,
    seconds: float | None = None,
    quick: bool = False,
    sweeps: bool = True,
    progress: Progress | None = None,
    code: UserCode | None = None,
    effort: Effort | None = None,
) -> Analysis:
    """Find out what an input pipeline costs a training, why, and what would change it.

    Args:
        loader: A penstock Loader or a torch DataLoader, of which copies are made with other numbers
            of workers; or anything that can be iterated again and again.
        step: Your training step, called with each batch. None trains on `device`.
        device: `cuda`, `mps` or `cpu` for real steps of `model`, or `emulated:RATE`, which takes
            RATE images per second without computing anything. None takes the GPU that torch finds
            here; if there is none, an accelerator that takes 1,000 images per second is assumed,
            and the result says so.
        model: A name that torchvision or timm knows, or `module:callable`.
        title: What to call the pipeline in a report.
        seconds: How long all of it may take; what there is no time for is left out, and named in
            `left_out`. None is a minute.
        quick: Ten seconds, unless `seconds` are given.
        sweeps: Also measure fewer cores, layers of RandAugment, other image sizes, models,
            accelerators and forms of the data, and look for the slowest files. The verdict needs
            none of it.
        progress: Called with what is being measured, its number, and how many are planned.
        code: The code that makes the loader, so that advice can name the line to change; None
            looks at the code that calls.
        effort: How often and for how long each rate is measured, instead of what fits into
            `seconds`.
    """
    default_s = math.inf if effort is not None else QUICK_S if quick else USUAL_S
    budget = Budget(seconds or default_s, progress or (lambda *_: None))
    code = code or code_of_caller(loader)
    subject = open_subject(loader)
    target, notes = choose_device(step, device, model)
    cpu_before = read_cpu_seconds()
    was_found = step is None and device is None
    begun = begin(subject, target, notes, budget, effort, was_found=was_found, sweeps=sweeps)
    budget.planned = budget.begun + count_planned(begun) + 1
    budget.planned += _count_sweeps(begun) if sweeps else 0
    rates = measure_all(begun, budget)
    facts = rates.facts
    finding = judge(facts)

    context = _sweep_context(begun, rates, budget)
    if sweeps:
        measure_alternatives(context, loader)  # advice rests on these
        measure_orders(context, facts)
    swept = context.results
    budget.begin("files, cold and cached")
    reads = measure_reads(begun.subject.files())
    first_epoch = None
    if context.allows("a first epoch", runs=2, measurements=0):
        first_epoch = measure_first_epoch(
            begun.subject, begun.device, rates.cores, context.effort, budget
        )
    layers, slowest = _sweep(context, rates) if sweeps else ((), ())
    others = competing_load(cpu_before, read_cpu_seconds())
    thought = what_ifs(facts, rates.model, swept.changes)
    thought += what_if_cold_cache(facts, rates.model, reads)
    is_scaling_known = rates.model.knows_scaling
    found = Analysis(
        title=title or subject.title,
        created=dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        environment=describe_environment(),
        device=begun.device.name,
        is_emulated=begun.device.is_emulated,
        batch_size=count_images(rates.alone.batch),
        images=subject.images,
        verdict=finding.verdict,
        sentence=finding.sentence,
        evidence=(
            *caution_of_competing_load(others),
            *finding.evidence,
            *begun.notes,
            *rates.notes,
            *tell_cold_cache(reads, first_epoch, rates.alone.rate.median, facts.assumption),
            *swept.notes,
        ),
        synthetic=rates.alone.rate,
        pipeline=core_rates(
            rates.measured.pipeline,
            rates.model.cores.rate if is_scaling_known else None,
            rates.cores,
        ),
        end_to_end=core_rates(
            rates.measured.end_to_end, rates.end_to_end if is_scaling_known else None, rates.cores
        ),
        stall=facts.stall,
        stall_parts=split_stall(facts),
        first_epoch=first_epoch,
        ops=facts.costs.as_op_costs() if facts.costs is not None else (),
        layers=layers,
        predictions=(*check_core_predictions(rates.alone, rates.measured), *swept.checks),
        what_ifs=thought,
        advice=advise(finding.verdict, facts, rates.model, thought, code),
        utilisation=rates.utilisation,
        steps=rates.last.steps,
        slowest_files=slowest,
        assumption=facts.assumption,
        left_out=tuple(budget.left_out),
    )
    banner = busy_banner(others)
    if not banner and rates.contradiction:
        banner = f"No verdict: {rates.contradiction}."
    return without_conclusions(found, banner) if banner else found


def without_conclusions(found: Analysis, banner: str) -> Analysis:
    """Return an analysis whose rates are doubtful: no verdict, and nothing that rests on them."""
    return replace(
        found,
        verdict=Verdict.NONE,
        sentence=banner,
        banner=banner,
        pipeline=found.pipeline and _on_most_cores(found.pipeline),
        end_to_end=found.end_to_end and _on_most_cores(found.end_to_end),
        stall=None,
        stall_parts={},
        first_epoch=None,
        layers=(),
        predictions=(),
        what_ifs=(),
        advice=(),
        utilisation=None,
        steps=None,
    )


def _on_most_cores(rates: tuple[CoreRate, ...]) -> tuple[CoreRate, ...]:
    return tuple([rate for rate in rates if rate.is_measured][-1:])


def _count_sweeps(begun: Begun) -> int:
    models = MODELS if isinstance(begun.device, TorchDevice) else 0
    faster = len(FASTER) if begun.device.is_emulated else 0
    return ALTERNATIVES + ORDERS + faster + len(LAYERS) + SIZES + models + 1


def _sweep_context(begun: Begun, rates: Rates, budget: Budget) -> SweepContext:
    once = Effort(rounds=1, seconds=begun.plan.effort.seconds / 2)
    return SweepContext(
        begun.subject,
        begun.device,
        rates.alone,
        rates.model,
        rates.cores,
        once,
        budget,
        begun.run_s(once),
    )


def _sweep(context: SweepContext, rates: Rates) -> tuple[tuple[LayerRate, ...], SlowFiles]:
    """Measure changes as far as there is time."""
    check_faster(context, rates.facts.pipeline)
    layers = measure_augmentation_layers(context)
    measure_sizes(context)
    measure_other_models(context)
    slowest: SlowFiles = ()
    one_by_one_s = _FILES_LOADED * rates.cores / rates.facts.pipeline
    if context.budget.allows("the slowest files", one_by_one_s):
        context.budget.begin("the slowest files")
        try:
            slowest = context.subject.slowest_files()
        except PenstockError as error:  # a file that the loader itself leaves out
            context.results.notes.append(f"the slowest files could not be looked for: {error}")
    return layers, slowest
