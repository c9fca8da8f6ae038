"""What an experiment is: tasks that measure, and findings that are drawn from measurements alone.

Each task has a key and returns what JSON can hold. The runner does the tasks whose keys the
journal lacks, in order, so an experiment that takes rounds lists its tasks round by round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.analysis.machine import (
    busy_banner,
    caution_of_competing_load,
    competing_load,
    read_cpu_seconds,
)
from penstock.errors import AnalysisError, OutputError
from penstock.experiments.findings import Findings
from penstock.experiments.journal import FILE_NAME, Journal, open_journal, read_journal
from penstock.experiments.pages import write_pages
from penstock.printable import printable
from penstock.progress import ProgressBar
from penstock.report.vega import chart_script

FAILED = "failed"  # in the place of a measurement: why there is none


@dataclass(frozen=True, slots=True)
class Task:
    """One measurement; an `UnavailableError` of it is kept as the reason why it is missing."""

    key: str
    title: str  # for the progress bar
    measure: Callable[[], Any]


class UnavailableError(Exception):
    """Something that a task compares is not installed or cannot run here; says why."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment with its settings, ready to run."""

    name: str
    settings: Mapping[str, Any]  # all that decides what is measured; in JSON's types
    environment: Mapping[str, str]
    tasks: Callable[[], Sequence[Task]]  # may prepare data; called once, before measuring
    draw: Callable[[Journal], Findings]  # from the journal alone, complete or not
    close: Callable[[], None] = lambda: None  # frees what tasks hold, however measuring ended
    takes_times: bool = True  # so that other programs on the machine matter


def run(experiment: Experiment, folder: Path, *, fresh: bool = False) -> Findings:
    """Measure what is missing, then write tables, figures and the report; return the findings."""
    path = _prepared(folder)
    journal = open_journal(
        path,
        Journal(experiment.name, experiment.settings, experiment.environment),
        fresh=fresh,
    )
    tasks = experiment.tasks()
    keys = [task.key for task in tasks]
    if len(set(keys)) != len(keys):
        raise AssertionError(f"{experiment.name}: two tasks have one key")
    before = read_cpu_seconds()
    with (
        closing(experiment),
        ProgressBar(experiment.name, total=len(tasks), unit="tasks", rate=False) as bar,
    ):
        for number, task in enumerate(tasks, 1):
            if task.key in journal.measurements:
                continue
            bar.begin(printable(task.title), number, len(tasks))
            journal.keep(task.key, _measured(task), path)
        bar.advance(len(tasks) - bar.done)
    load = competing_load(before, read_cpu_seconds()) if experiment.takes_times else None
    cautions = (*filter(None, [busy_banner(load)]), *caution_of_competing_load(load))
    findings = experiment.draw(journal).with_notes(*cautions)
    write_pages(findings, journal, folder)
    return findings


def redraw(name: str, draw: Callable[[Journal], Findings], folder: Path) -> Findings:
    """Write tables, figures and the report again from what was measured before."""
    journal = read_journal(folder / FILE_NAME, name)
    findings = draw(journal)
    write_pages(findings, journal, folder)
    return findings


def reason_missing(value: Any) -> str | None:
    """Return why a measurement is missing; None if it is there."""
    return str(value[FAILED]) if isinstance(value, dict) and FAILED in value else None


def _measured(task: Task) -> Any:
    try:
        return task.measure()
    except UnavailableError as error:
        return {FAILED: str(error)}


def _prepared(folder: Path) -> Path:
    """Return where the results go; raise before measuring if they could not be written or drawn."""
    chart_script()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be made: {error.strerror}. Name another folder with --out."
        ) from error
    if not folder.is_dir():
        raise AnalysisError(f"{folder}: not a folder. Name another one with --out.")
    return folder / FILE_NAME
