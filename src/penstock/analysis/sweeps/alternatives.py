"""Alternatives to the pipeline as it is, measured on a sample: packed, native, less exact."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from penstock.analysis.advice import ACCELERATE, ACCELERATE_NEAR, ACCELERATE_PACKED, FAST, PACK
from penstock.analysis.subject.subject import PenstockSubject
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.what_if import Change
from penstock.costs.plan_variants import like
from penstock.data.packed import PackedSource
from penstock.errors import PenstockError, TranslationError
from penstock.packing.pack import pack
from penstock.translation.accelerate import accelerate
from penstock.translation.transforms.lines import How, Line, Translation

ALTERNATIVES = 3  # at most
_START_S = 0.3  # until a native loader is under way
_IMAGES_PACKED = 256
_FEWEST_PACKED = 16
_PACKING = 3.0  # times as long as loading, at most
_PACKING_SHARE = 0.3  # of the time that is left


def measure_alternatives(context: SweepContext, loader: Any) -> None:
    """Measure the pipeline alone in each form; what cannot be made is noted with its reason."""
    subject = context.subject
    packed, tried = PACK, 0
    if subject.worker_kind == "processes":
        exact = _translated(loader, context, strict=True)
        near = _translated(loader, context, strict=False)
        native = exact or near
        if native is None:
            context.budget.drop(ALTERNATIVES)
            return
        if exact is not None:
            tried += _try(context, ACCELERATE, lambda: _rate(context, exact))
        if near is not None and (note := what_differs(exact, near)):
            tried += _try(context, ACCELERATE_NEAR, lambda: _rate(context, near), note)
        subject, packed = _sized(PenstockSubject(native), context), ACCELERATE_PACKED
    if isinstance(subject, PenstockSubject):
        ours = subject
        if not isinstance(ours.loader.source, PackedSource) and ours.files():
            tried += _try(context, packed, lambda: _packed_rate(context, ours))
        if ours is context.subject:
            fast = ours.loader.replica(fidelity="fast")
            tried += _try(context, FAST, lambda: _rate(context, fast))
    context.budget.drop(ALTERNATIVES - tried)


def what_differs(exact: Any, near: Any) -> str:
    """Say what `strict=False` runs natively that an exact translation leaves in Python, or refuses.

    An empty text if there is no such transform.
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


def _translated(loader: Any, context: SweepContext, *, strict: bool) -> Any:
    try:
        return accelerate(loader, way="read", strict=strict)
    except TranslationError as error:
        why = "; ".join(error.reasons)
    except PenstockError as error:
        why = str(error)
    if not strict:  # noted once, with the reasons that remain without strict
        context.results.note(ACCELERATE, why)
    return None


def _sized(subject: PenstockSubject, context: SweepContext) -> PenstockSubject:
    """Return it with batches of the size that the loader was measured with."""
    size = context.subject.batch_size
    return subject if subject.batch_size == size else subject.with_batch_size(size)


def _try(context: SweepContext, form: str, measure: Callable[[], float], note: str = "") -> int:
    """Measure a form, if there is time; return how many measurements that was."""
    # None of them takes longer than what it replaces, and most take far less.
    if not context.budget.allows(form, min(context.run_s, context.effort.seconds + _START_S), 0):
        return 0
    context.budget.begin(f"the same pipeline, {form}")
    try:
        context.results.changes.append(Change(form, measure(), note=note))
    except PenstockError as error:  # this data or these transforms cannot take that form
        context.results.note(form, error)
    return 1


def _rate(context: SweepContext, loader: Any) -> float:
    return context.run(_sized(PenstockSubject(loader), context))


def _packed_rate(context: SweepContext, subject: PenstockSubject) -> float:
    files = list(subject.files())
    rate = context.model.cores.rate(context.cores) / _PACKING
    fitting = min(float(_IMAGES_PACKED), _PACKING_SHARE * context.budget.left_s * rate)
    files = files[: max(_FEWEST_PACKED, int(fitting))]
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "sample.pen")
        pack(files, target, labels=[0] * len(files), on_error="skip", progress=False)
        return _rate(context, like(subject.loader, target))
