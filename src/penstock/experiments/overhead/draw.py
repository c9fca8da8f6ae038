"""What the experiment found: claims, figures and tables, from the journal alone."""

from __future__ import annotations

from penstock.analysis.machine import WORTH_SAYING
from penstock.experiments.findings import Findings
from penstock.experiments.journal import Journal
from penstock.experiments.overhead.claims import judge_claims
from penstock.experiments.overhead.figures import draw_figures
from penstock.experiments.overhead.results import Results
from penstock.experiments.overhead.settings import BATCH_SIZE, CROP_PX, MAGNITUDE
from penstock.experiments.overhead.tables import make_tables

_QUESTION = (
    "What does the input pipeline cost a training with data augmentation, and when does the "
    'accelerator have to wait for it? The experiment of Lee, Lee and Chun, "Analysis of Input '
    'Pipeline Overhead for Training Image Classifiers with Data Augmentation", on this machine.'
)


def draw(journal: Journal) -> Findings:
    """Return everything that the report shows."""
    results = Results(journal)
    return Findings(
        title="Input pipeline overhead",
        question=_QUESTION,
        setting=_setting(results, journal),
        claims=judge_claims(results),
        pictures=draw_figures(results),
        tables=make_tables(results),
        notes=_notes(results),
    )


def _setting(results: Results, journal: Journal) -> list[str]:
    settings, photos = results.settings, results.photos
    measured = ", ".join(map(str, settings.measured_cores))
    lines = [
        (
            f"{photos['distinct']:,} distinct photos ({photos['origin']}; {photos['mean_bytes']:,} "
            "bytes each in the mean), which every epoch goes through many times; warm cache"
        ),
        (
            f"batches of {BATCH_SIZE}, float32: RandomResizedCrop({CROP_PX}), flip, augmentation "
            f"(magnitude {MAGNITUDE}), normalise"
        ),
        f"{journal.environment.get('CPU', 'a processor')}; cores measured by affinity: {measured}",
        (
            f"loaders alternate; rounds: {settings.rounds}, with {settings.seconds:g} s or some "
            "batches for each run"
        ),
    ]
    for target in results.targets:
        if target.is_emulated:
            rate = f"{target.rate:,.0f} images/s" if target.rate else ""
            many = f"; {target.gpus} of them" if target.gpus > 1 else ""
            lines.append(f"{target.label}: nothing is computed, {target.source or rate}{many}")
    return lines


def _notes(results: Results) -> list[str]:
    notes = [f"Not measured: {what}: {why}." for what, why in results.missing.items()]
    disturbed = [share for share in results.others if share >= WORTH_SAYING]
    if disturbed:
        notes.append(
            f"CAUTION: other programs used {WORTH_SAYING:.0%} of the cores or more, up to "
            f"{max(disturbed):.0%}, in {len(disturbed)} of {len(results.others)} measurements, "
            "each of them the least disturbed of some attempts; their rates are too low."
        )
    beyond = [cores for cores in results.cores if cores not in results.settings.measured_cores]
    if beyond:
        cores = ", ".join(map(str, beyond))
        notes.append(
            f"Not measured but predicted: {cores} cores. The rate of a loader is fitted as "
            "1 / (serial + parallel / cores), that of training as in docs/analysis.md."
        )
    if any(target.is_emulated for target in results.targets):
        notes.append(
            "An emulated accelerator is busy for the time that its rate says, without using the "
            "processor; a real one also needs some of it to start its work and to copy batches."
        )
    if any(target.computes_here for target in results.targets):
        notes.append(
            "On the processor itself, loading and training share the cores, so nothing can be "
            "hidden behind the step: these figures say little about accelerators."
        )
    return notes
