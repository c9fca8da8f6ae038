"""The same pipeline in other forms, measured on a sample: packed, native, less exact."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import penstock
from penstock.analysis.advice import ACCELERATE, ACCELERATE_NEAR, ACCELERATE_PACKED, FAST, PACK
from penstock.analysis.like_loader import like
from penstock.analysis.measure import run_pipeline
from penstock.analysis.penstock_subject import PenstockSubject
from penstock.analysis.subject import Subject
from penstock.analysis.sweep import Setting, Swept
from penstock.analysis.what_if import Change
from penstock.errors import PenstockError, TranslationError
from penstock.loading.packed_source import PackedSource

_IMAGES_PACKED = 256


def measure_other_forms(setting: Setting, loader: Any) -> Swept:
    """Measure the pipeline alone in each form; what cannot be made is noted with its reason."""
    swept = Swept()
    subject = setting.subject
    packed = PACK
    if subject.worker_kind == "processes":
        native = _accelerated(loader, swept)
        _try_near(setting, loader, native, swept)
        if native is None:
            return swept
        _try(swept, ACCELERATE, lambda: _rate(setting, native))
        subject, packed = native, ACCELERATE_PACKED
    if not isinstance(subject, PenstockSubject):
        return swept
    ours = subject
    if not isinstance(ours.loader.source, PackedSource) and ours.files():
        _try(swept, packed, lambda: _packed_rate(setting, ours))
    if ours is setting.subject:
        fast = ours.loader.replica
        _try(swept, FAST, lambda: _rate(setting, PenstockSubject(fast(fidelity="fast"))))
    return swept


def _try(swept: Swept, form: str, measure: Callable[[], float]) -> None:
    try:
        swept.changes.append(Change(form, measure()))
    except PenstockError as error:  # this data or these transforms cannot take that form
        swept.notes.append(f"{form} could not be tried: {error}")


def _rate(setting: Setting, subject: Subject) -> float:
    return run_pipeline(subject, None, setting.cores, setting.effort).images_per_s


def _accelerated(loader: Any, swept: Swept) -> PenstockSubject | None:
    try:
        return PenstockSubject(penstock.accelerate(loader))
    except TranslationError as error:
        swept.notes.append(f"{ACCELERATE} could not be tried: {'; '.join(error.reasons)}")
    except PenstockError as error:
        swept.notes.append(f"{ACCELERATE} could not be tried: {error}")
    return None


def _try_near(setting: Setting, loader: Any, exact: PenstockSubject | None, swept: Swept) -> None:
    """Measure with ours in the place of what they are near to, if there is any of that."""
    if exact is not None and not any(line.near for line in exact.loader.translation.lines):
        return
    try:
        near = PenstockSubject(penstock.accelerate(loader, strict=False))
    except PenstockError:  # refused all the same, for reasons that are noted already
        return
    _try(swept, ACCELERATE_NEAR, lambda: _rate(setting, near))


def _packed_rate(setting: Setting, subject: PenstockSubject) -> float:
    files = list(subject.files())[:_IMAGES_PACKED]
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "sample.pen")
        penstock.pack(files, target, labels=[0] * len(files), on_error="skip", progress=False)
        return _rate(setting, PenstockSubject(like(subject.loader, target)))
