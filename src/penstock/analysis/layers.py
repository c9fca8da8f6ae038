"""The sweep over layers of RandAugment."""

from __future__ import annotations

from dataclasses import replace

from penstock.analysis.devices import Device
from penstock.analysis.measure import Effort, Say, StepAlone, rate_of, run_pipeline
from penstock.analysis.results import LayerRate, Prediction
from penstock.analysis.subject import Subject
from penstock.analysis.what_if import Model
from penstock.errors import PenstockError

LAYERS = (0, 1, 2, 3)


def measure_layers(
    subject: Subject,
    device: Device,
    alone: StepAlone,
    model: Model,
    cores: int,
    effort: Effort,
    say: Say,
) -> tuple[tuple[LayerRate, ...], tuple[Prediction, ...]]:
    """Measure pipeline and end to end with 0 to 3 layers, and check the prediction of each.

    Nothing comes back for a pipeline whose RandAugment cannot be changed from outside.
    """
    once = replace(effort, rounds=1)
    rates, checks = [], []
    for layers in LAYERS:
        other = _with_layers(subject, layers)
        if other is None:
            return (), ()
        say(f"{layers} layers of RandAugment")
        pipeline = rate_of([run_pipeline(other, None, cores, once)])
        end_to_end = rate_of([run_pipeline(other, device, cores, once)])
        rates.append(LayerRate(layers, pipeline, end_to_end, is_measured=True))
        predicted = model.end_to_end(alone.rate.median, pipeline.median, cores)
        checks.append(Prediction(f"{layers} layers", predicted, end_to_end.median))
    return tuple(rates), tuple(checks)


def _with_layers(subject: Subject, layers: int) -> Subject | None:
    try:
        return subject.with_layers(layers)
    except PenstockError:
        return None
