"""Run the demo's loaders in turn and collect what they did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib import metadata

from penstock._version import __version__
from penstock.analysis.cores import available_cores
from penstock.cli.demo_loaders import Pass, PenstockSide, TorchvisionSide, Work
from penstock.cli.demo_report import PENSTOCK, TORCHVISION, Report, Row
from penstock.cli.loader_process import LoaderProcess, MissingLoaderError
from penstock.progress import ProgressBar

SIDES: Mapping[str, Callable[[Work], object]] = {
    PENSTOCK: PenstockSide,
    TORCHVISION: TorchvisionSide,
}
INSTALL_HINT = "pip install torch torchvision"


def measure(
    work: Work,
    *,
    passes: int,
    compare: int,
    sides: Mapping[str, Callable[[Work], object]] = SIDES,
) -> Report:
    """Time `passes` passes of each side on one core and on all, alternating; compare some images.

    Where torchvision is missing only penstock is timed, with a note.
    """
    core_counts = sorted({1, available_cores()})
    report = Report(work, passes)
    with ExitStack() as stack:
        ours = LoaderProcess(PENSTOCK, sides[PENSTOCK], work)
        running = {PENSTOCK: stack.enter_context(ours)}
        try:
            theirs = LoaderProcess(TORCHVISION, sides[TORCHVISION], work)
            running[TORCHVISION] = stack.enter_context(theirs)
        except MissingLoaderError as error:
            report.notes.append(f"Not compared: {error}. To compare: {INSTALL_HINT}")
        report.rows += _rows(_alternate(running, core_counts, passes))
        if TORCHVISION in running:
            equal, compared = running[TORCHVISION].call("count_identical", compare)
            report.identical, report.compared = equal, compared
    return report


Results = dict[tuple[str, int], list[Pass]]


def _alternate(
    running: Mapping[str, LoaderProcess], core_counts: list[int], passes: int
) -> Results:
    """Run every side on every number of cores, round by round; round 0 builds and warms up."""
    results: Results = {(label, cores): [] for cores in core_counts for label in running}
    total = (passes + 1) * len(results)
    with ProgressBar("measuring", total=total, unit="passes", quiet_for_s=0, rate=False) as bar:
        for _ in range(passes + 1):
            for (label, cores), done in results.items():
                many = "1 core" if cores == 1 else f"{cores} cores"
                bar.advance(0, title=f"{label} on {many}")
                done.append(running[label].call("run_pass", cores))
                bar.advance()
    return results


def _rows(results: Results) -> list[Row]:
    rows = []
    for (label, cores), (first, *timed) in results.items():
        rates = tuple(done.images_per_s for done in timed)
        reference = results.get((TORCHVISION, cores))
        ratios = reference and tuple(
            rate / theirs.images_per_s for rate, theirs in zip(rates, reference[1:], strict=True)
        )
        rows.append(Row(label, _version(label), cores, rates, ratios or None, first.first_batch_s))
    return rows


def _version(label: str) -> str:
    if label == PENSTOCK:
        return __version__
    try:
        return metadata.version(label)
    except metadata.PackageNotFoundError:
        return ""
