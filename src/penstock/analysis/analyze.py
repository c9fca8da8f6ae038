"""`penstock.analyze`: measure a loader and a step, find what limits them and what would help."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from penstock.analysis.advice import advise
from penstock.analysis.budget import QUICK_S, USUAL_S, Budget, Progress, rough_plan
from penstock.analysis.cold_cache import (
    measure_first_epoch,
    measure_reads,
    tell_cold_cache,
    what_if_cold_cache,
)
from penstock.analysis.core_counts import CoreCounts, check_layers, choose_cores
from penstock.analysis.device.devices import TorchDevice, choose_device
from penstock.analysis.machine import (
    CpuSeconds,
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
from penstock.analysis.sweeps.stores import STORES, measure_stores
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.user_code import UserCode, code_of_caller
from penstock.analysis.verdict import judge, split_stall
from penstock.analysis.what_if import FASTER, what_ifs
from penstock.costs.slow_files import SlowFiles
from penstock.errors import PenstockError
from penstock.progress import shown_measurements
from penstock.results.records import CoreRate, LayerRate, Verdict
from penstock.watching.loader_facts import count_images
from penstock.watching.trace import traced_to

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
    cores: Sequence[int] | None = None,
    layers: Sequence[int] | None = None,
    progress: Progress | bool | None = None,
    code: UserCode | None = None,
    effort: Effort | None = None,
    trace: str | PathLike[str] | None = None,
) -> Analysis:
    """Find out what an input pipeline costs a training, why, and what would change it.

    Args:
        loader: A penstock Loader or a torch DataLoader, of which copies are made with other numbers
            of workers; or anything that can be iterated again and again.
        step: Your training step, called with each batch. None trains on `device`.
        device: `cuda`, `mps` or `cpu` for real steps of `model`, or `emulated:RATE`, which takes
            RATE images per second without computing anything, or a known accelerator such as
            `emulated:a100/resnet50`. None takes the GPU that torch finds here; if there is none,
            an accelerator that takes 1,000 images per second is assumed, and the result says so.
        model: A name that torchvision or timm knows, or `module:callable`.
        title: What to call the pipeline in a report.
        seconds: How long all of it may take; what there is no time for is left out, and named in
            `left_out`. None is a minute.
        quick: Ten seconds, unless `seconds` are given.
        sweeps: Also measure fewer cores, layers of RandAugment, other image sizes, models,
            accelerators and forms of the data, and look for the slowest files. The verdict needs
            none of it.
        cores: Measure on these numbers of cores, by affinity, even if that takes longer than
            `seconds`; those that this machine lacks are predicted. The verdict is of the largest
            that it has. None measures 1, 2, 4, ... up to all.
        layers: Measure with these numbers of RandAugment layers, even if that takes longer. None
            measures 0 to 3, if there is time.
        progress: True shows a bar on stderr. Or a function that is called with what is being
            measured, its number, and how many are planned.
        code: The code that makes the loader, so that advice can name the line to change; None
            looks at the code that calls.
        effort: How often and for how long each rate is measured, instead of what fits into
            `seconds`.
        trace: A file for chrome://tracing or Perfetto, with every wait and step that was measured.
    """
    code = code or code_of_caller(loader)
    wanted = choose_cores(cores, is_swept=sweeps)
    asked_layers = None if layers is None else check_layers(layers)
    default_s = math.inf if effort is not None else QUICK_S if quick else USUAL_S
    swept = len(LAYERS) + ALTERNATIVES + ORDERS + STORES + SIZES + 1 if sweeps else 0
    with ExitStack() as open_for_long:
        open_for_long.enter_context(traced_to(None if trace is None else fspath(trace)))
        tell = open_for_long.enter_context(_telling(progress))
        budget = Budget(seconds or default_s, tell, rough_plan(len(wanted.measured), swept))
        subject = open_subject(loader)
        target, notes = choose_device(step, device, model)
        cpu_before = read_cpu_seconds()
        was_found = step is None and device is None
        begun = begin(
            subject, target, notes, budget, effort, wanted, was_found=was_found, sweeps=sweeps
        )
        budget.planned = budget.begun + count_planned(begun) + 1
        budget.planned += _count_sweeps(begun) if sweeps else 0
        budget.planned += len(asked_layers or (LAYERS if sweeps else ()))
        found = _measure(
            loader, begun, budget, cpu_before, wanted, asked_layers, code, sweeps=sweeps
        )
        budget.end()
    return replace(found, title=title) if title else found


def _telling(progress: Progress | bool | None) -> AbstractContextManager[Progress]:
    """Return what is told of each measurement: the caller's own function, a bar, or nobody."""
    if isinstance(progress, bool) or progress is None:
        return shown_measurements() if progress else nullcontext(lambda *_: None)
    return nullcontext(progress)


def _measure(
    loader: Iterable[Any],
    begun: Begun,
    budget: Budget,
    cpu_before: CpuSeconds | None,
    wanted: CoreCounts,
    asked_layers: Sequence[int] | None,
    code: UserCode | None,
    *,
    sweeps: bool,
) -> Analysis:
    """Measure all that is planned, and judge it."""
    rates = measure_all(begun, budget)
    facts = rates.facts
    finding = judge(facts)

    context = _sweep_context(begun, rates, budget)
    swept_layers: tuple[LayerRate, ...] = ()
    if asked_layers is not None:
        swept_layers = measure_augmentation_layers(context, asked_layers, whatever_it_takes=True)
    if sweeps:
        measure_alternatives(context, loader)  # advice rests on these
        measure_orders(context, facts)
        measure_stores(context, facts.costs)
    swept = context.results
    budget.begin("files, cold and cached")
    reads = measure_reads(begun.subject.files())
    first_epoch = None
    if context.allows("a first epoch", runs=2, measurements=0):
        first_epoch = measure_first_epoch(
            begun.subject, begun.device, rates.cores, context.effort, budget
        )
    slowest: SlowFiles = ()
    if sweeps:
        check_faster(context, facts.pipeline)
        if asked_layers is None:
            swept_layers = measure_augmentation_layers(context, LAYERS)
        slowest = _sweep_others(context, rates)
    others = competing_load(cpu_before, read_cpu_seconds())
    thought = what_ifs(facts, rates.model, swept.changes)
    thought += what_if_cold_cache(facts, rates.model, reads)
    is_scaling_known = rates.model.knows_scaling
    found = Analysis(
        title=begun.title,
        created=dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        environment=describe_environment(),
        device=begun.device.name,
        is_emulated=begun.device.is_emulated,
        batch_size=count_images(rates.alone.batch),
        images=begun.subject.images,
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
        fresh=rates.fresh,
        pipeline=core_rates(
            rates.measured.pipeline,
            rates.model.cores.rate if is_scaling_known else None,
            rates.cores,
            wanted.predicted,
        ),
        end_to_end=core_rates(
            rates.measured.end_to_end,
            rates.end_to_end if is_scaling_known else None,
            rates.cores,
            wanted.predicted,
        ),
        stall=facts.stall,
        stall_parts=split_stall(facts),
        first_epoch=first_epoch,
        ops=facts.costs.as_op_costs() if facts.costs is not None else (),
        layers=swept_layers,
        predictions=(*check_core_predictions(rates.alone, rates.measured), *swept.checks),
        what_ifs=thought,
        advice=advise(finding.verdict, facts, rates.model, thought, code),
        utilisation=rates.utilisation,
        steps=rates.last.steps,
        slowest_files=slowest,
        assumption=facts.assumption,
        left_out=tuple(budget.left_out),
        store=None if facts.costs is None else facts.costs.store,
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
    return ALTERNATIVES + ORDERS + STORES + faster + SIZES + models + 1


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


def _sweep_others(context: SweepContext, rates: Rates) -> SlowFiles:
    """Measure what nobody asked for in particular, as far as there is time."""
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
    return slowest
