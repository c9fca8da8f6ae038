"""The same pipeline in other forms, measured on a sample: packed, native, less exact."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import penstock
from penstock.analysis.advice import ACCELERATE, FAST, PACK
from penstock.analysis.measure import Effort, run_pipeline
from penstock.analysis.penstock_subject import PenstockSubject
from penstock.analysis.subject import Subject, open_subject
from penstock.errors import PenstockError
from penstock.loading.loader import Loader
from penstock.loading.packed_source import PackedSource
from penstock.transforms.values import ToDtype

_IMAGES_PACKED = 256


def measure_other_forms(
    loader: Any, subject: Subject, cores: int, effort: Effort
) -> dict[str, float]:
    """Return rates of the pipeline alone by what was changed; what cannot be made is left out."""
    forms: dict[str, Callable[[], float]] = {}
    if isinstance(subject, PenstockSubject):
        if not isinstance(subject.loader.source, PackedSource) and subject.files():
            forms[PACK] = lambda: _packed_rate(subject, cores, effort)
        forms[FAST] = lambda: _fast_rate(subject, cores, effort)
    elif subject.worker_kind == "processes" and hasattr(penstock, "accelerate"):
        forms[ACCELERATE] = lambda: _accelerated_rate(loader, cores, effort)
    rates = {}
    for change, measure in forms.items():
        try:
            rates[change] = measure()
        except PenstockError:  # this data or these transforms cannot take that form
            continue
    return rates


def _packed_rate(subject: PenstockSubject, cores: int, effort: Effort) -> float:
    files = list(subject.files())[:_IMAGES_PACKED]
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "sample.pen")
        penstock.pack(files, target, labels=[0] * len(files), on_error="skip", progress=False)
        plan = subject.loader.plan
        name = plan.final.element.name.lower()
        ends_as_ours = None if name == "uint8" else ToDtype(name, scale=True)
        packed = Loader(
            target,
            batch_size=subject.batch_size,
            transform=ends_as_ours,
            threads=subject.workers,
            targets="labels",
        )
        sample = PenstockSubject(packed.replica(plan=plan))
        return run_pipeline(sample, None, cores, effort).images_per_s


def _fast_rate(subject: PenstockSubject, cores: int, effort: Effort) -> float:
    fast = PenstockSubject(subject.loader.replica(fidelity="fast"))
    return run_pipeline(fast, None, cores, effort).images_per_s


def _accelerated_rate(loader: Any, cores: int, effort: Effort) -> float:
    native = open_subject(penstock.accelerate(loader))
    return run_pipeline(native, None, cores, effort).images_per_s
