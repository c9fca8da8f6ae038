"""The same pipeline in other forms, measured on a sample: packed, native, less exact."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from penstock.analysis.advice import ACCELERATE, ACCELERATE_NEAR, ACCELERATE_PACKED, FAST, PACK
from penstock.analysis.measure import run_pipeline
from penstock.analysis.subject.penstock_subject import PenstockSubject
from penstock.analysis.subject.subject import Subject
from penstock.analysis.sweeps.sweep import Setting, Swept
from penstock.analysis.what_if import Change
from penstock.costs.plan_variants import like
from penstock.data.packed import PackedSource
from penstock.errors import PenstockError, TranslationError
from penstock.packing.pack import pack
from penstock.translation.accelerate import accelerate
from penstock.translation.transforms.lines import How, Line, Translation

FORMS = 3  # at most
_START_S = 0.3  # until a native loader is under way
_IMAGES_PACKED = 256
_FEWEST_PACKED = 16
_PACKING = 3.0  # times as long as loading, at most
_PACKING_SHARE = 0.3  # of the time that is left


def measure_other_forms(setting: Setting, loader: Any) -> Swept:
    """Measure the pipeline alone in each form; what cannot be made is noted with its reason."""
    swept = Swept()
    subject = setting.subject
    packed, tried = PACK, 0
    if subject.worker_kind == "processes":
        exact = _translated(loader, swept, strict=True)
        near = _translated(loader, swept, strict=False)
        native = exact or near
        if native is None:
            setting.budget.drop(FORMS)
            return swept
        if exact is not None:
            tried += _try(setting, swept, ACCELERATE, lambda: _rate(setting, exact))
        if near is not None and (note := what_differs(exact, near)):
            tried += _try(setting, swept, ACCELERATE_NEAR, lambda: _rate(setting, near), note)
        subject, packed = _sized(PenstockSubject(native), setting), ACCELERATE_PACKED
    if isinstance(subject, PenstockSubject):
        ours = subject
        if not isinstance(ours.loader.source, PackedSource) and ours.files():
            tried += _try(setting, swept, packed, lambda: _packed_rate(setting, ours))
        if ours is setting.subject:
            fast = ours.loader.replica(fidelity="fast")
            tried += _try(setting, swept, FAST, lambda: _rate(setting, fast))
    setting.budget.drop(FORMS - tried)
    return swept


def what_differs(exact: Any, near: Any) -> str:
    """Say what `strict=False` runs natively that an exact translation leaves in Python, or refuses.

    Nothing if that is nothing.
    """
    now: Translation = near.translation
    native = [line for line in now.lines if line.part == "transform" and line.how is How.NATIVE]
    if exact is None:
        changed = [line for line in native if line.note]
        return _listed(changed) or "pixels may differ by a level here and there"
    left = {line.theirs for line in exact.translation.python_steps}
    return _listed([line for line in native if line.theirs in left])


def _listed(lines: list[Line]) -> str:
    return "; ".join(f"{line.theirs.partition('(')[0]}, {line.note}" for line in lines)


def _translated(loader: Any, swept: Swept, *, strict: bool) -> Any:
    try:
        return accelerate(loader, strict=strict)
    except TranslationError as error:
        why = "; ".join(error.reasons)
    except PenstockError as error:
        why = str(error)
    if not strict:  # said once, with what not even that can do
        swept.notes.append(f"{ACCELERATE} could not be tried: {why}")
    return None


def _sized(subject: PenstockSubject, setting: Setting) -> PenstockSubject:
    """Return it with batches of the size that the loader was measured with."""
    size = setting.subject.batch_size
    return subject if subject.batch_size == size else subject.with_batch_size(size)


def _try(
    setting: Setting, swept: Swept, form: str, measure: Callable[[], float], note: str = ""
) -> int:
    """Measure a form, if there is time; return how many measurements that was."""
    # None of them takes longer than what it replaces, and most take far less.
    if not setting.budget.allows(form, min(setting.run_s, setting.effort.seconds + _START_S), 0):
        return 0
    setting.budget.begin(f"the same pipeline, {form}")
    try:
        swept.changes.append(Change(form, measure(), note=note))
    except PenstockError as error:  # this data or these transforms cannot take that form
        swept.notes.append(f"{form} could not be tried: {error}")
    return 1


def _rate(setting: Setting, loader: Any) -> float:
    subject: Subject = _sized(PenstockSubject(loader), setting)
    return run_pipeline(subject, None, setting.cores, setting.effort).images_per_s


def _packed_rate(setting: Setting, subject: PenstockSubject) -> float:
    files = list(subject.files())
    rate = setting.model.cores.rate(setting.cores) / _PACKING
    fitting = min(float(_IMAGES_PACKED), _PACKING_SHARE * setting.budget.left_s * rate)
    files = files[: max(_FEWEST_PACKED, int(fitting))]
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "sample.pen")
        pack(files, target, labels=[0] * len(files), on_error="skip", progress=False)
        return _rate(setting, like(subject.loader, target))
