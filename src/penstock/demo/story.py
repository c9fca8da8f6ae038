"""The demo, part by part: a plain pipeline analysed, packed, and analysed again."""

from __future__ import annotations

import math
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.analysis.measure import Effort
from penstock.demo.loaders import (
    Work,
    folder_loader,
    packed_loader,
    pillow_loader,
    torchvision_loader,
)
from penstock.demo.passes import TimedLoader, measure_passes
from penstock.demo.result import STARVING, Packing, Result
from penstock.demo.torchvision_import import import_torchvision
from penstock.progress import ProgressBar
from penstock.usable_cores import usable_cores

if TYPE_CHECKING:
    from penstock.results.records import Analysis

IMAGES_COMPARED = 64
INSTALL_HINT = "pip install torch torchvision"


@dataclass(frozen=True, slots=True)
class Length:
    """How long the demo measures."""

    effort: Effort
    passes: int
    sweeps: bool  # of the packed file; a report shows those of the later analysis alone


USUAL = Length(Effort(rounds=3, seconds=0.8), passes=4, sweeps=True)  # 90 s on two cores
QUICK = Length(Effort(rounds=2, seconds=0.5), passes=2, sweeps=False)  # half of that


@dataclass(frozen=True, slots=True)
class Plain:
    """The pipeline that the demo starts from."""

    label: str
    title: str
    build: Callable[[Work, int], Any]
    has_torchvision: bool


def tell_story(folder: str, batch_size: int, length: Length) -> Result:
    """Measure everything that the demo tells."""
    plain, notes = _choose_plain()
    with tempfile.TemporaryDirectory(prefix="penstock-demo-") as temporary:
        work = Work(folder, os.path.join(temporary, "photos.pen"), batch_size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # our user need not see what other packages warn about
            plain_rate, before = _analyze_plain(plain, work, length.effort)
        packing = _pack(work)
        after = _analyze(
            "the packed file",
            packed_loader(work, usable_cores()),
            title="penstock.Loader, packed file",
            device=before.device,
            effort=length.effort,
            sweeps=length.sweeps,
        )
        rows = measure_passes(work, _sides(plain), length.passes)
        from penstock.demo.loaders import count_identical

        identical, compared = count_identical(
            work, IMAGES_COMPARED, has_torchvision=plain.has_torchvision
        )
    return Result(
        work=work,
        plain=plain.label,
        plain_rate=plain_rate,
        before=before,
        packing=packing,
        after=after,
        passes=length.passes,
        rows=rows,
        identical=identical,
        compared=compared,
        notes=notes,
    )


def _choose_plain() -> tuple[Plain, list[str]]:
    try:
        _, torchvision = import_torchvision()
    except ImportError as error:
        note = (
            f"torchvision cannot be imported ({error}), so Pillow in penstock's threads is the "
            f"plain pipeline here. To compare with torchvision: {INSTALL_HINT}"
        )
        title = 'penstock.Loader(backend="pillow"), folder of JPEGs'
        return Plain("penstock, Pillow", title, pillow_loader, has_torchvision=False), [note]
    label = f"torchvision {torchvision.__version__.partition('+')[0]}"
    title = "torchvision ImageFolder + DataLoader, folder of JPEGs"
    return Plain(label, title, torchvision_loader, has_torchvision=True), []


def _analyze_plain(plain: Plain, work: Work, effort: Effort) -> tuple[float, Analysis]:
    """Return the rate of the plain pipeline alone, and its analysis with a faster accelerator."""
    from penstock.analysis.measure import rate_of, run_pipeline
    from penstock.analysis.subject.subject import open_subject

    cores = usable_cores()
    loader = plain.build(work, cores)
    subject = open_subject(loader)
    runs = []
    title = "how fast the plain pipeline is"
    with ProgressBar(title, total=effort.rounds, quiet_for_s=0, rate=False) as bar:
        for _ in range(effort.rounds):
            bar.advance(0)  # so that it can be seen from the beginning
            runs.append(run_pipeline(subject, None, cores, effort))
            bar.advance()
    rate = rate_of(runs).median
    device = f"emulated:{starving_rate(rate)}"
    what = "the plain pipeline"
    return rate, _analyze(
        what, loader, title=plain.title, device=device, effort=effort, sweeps=False
    )


def starving_rate(plain_rate: float) -> int:
    """Return an accelerator's images per second at which a pipeline of this rate starves it.

    Two digits are kept: it is a choice, not a measurement.
    """
    wanted = STARVING * plain_rate
    digits = max(0, math.floor(math.log10(wanted)) - 1)
    return max(1, int(round(wanted, -digits)))


def _analyze(
    what: str, loader: Any, *, title: str, device: str, effort: Effort, sweeps: bool
) -> Analysis:
    from penstock.analysis.analyze import analyze

    with ProgressBar(f"analyzing {what}", total=1, quiet_for_s=0, rate=False) as bar:

        def tell(measuring: str, number: int, planned: int) -> None:
            bar.begin(f"analyzing {what}: {measuring}", number, planned)

        return analyze(
            loader,
            device=device,
            title=title,
            effort=effort,
            sweeps=sweeps,
            progress=tell,
        )


def _pack(work: Work) -> Packing:
    from penstock.packing.pack import pack

    began_s = time.perf_counter()
    packed = pack(work.folder, work.packed)
    return Packing(
        images=packed.samples,
        original_bytes=packed.original_bytes,
        packed_bytes=packed.bytes,
        seconds=time.perf_counter() - began_s,
    )


def _sides(plain: Plain) -> dict[str, Callable[[Work], object]]:
    return {
        plain.label: partial(TimedLoader, plain.build),
        "penstock, folder": partial(TimedLoader, folder_loader),
        "penstock, packed": partial(TimedLoader, packed_loader),
    }
