"""`penstock experiment NAME`: a study's experiment on this machine, with its figures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from penstock.cli.experiment.formats import FORMATS
from penstock.cli.experiment.learning import LEARNING
from penstock.cli.experiment.libraries import LIBRARIES
from penstock.cli.experiment.overhead import OVERHEAD
from penstock.cli.experiment.study import Study
from penstock.cli.shared import Verb, tell

STUDIES: tuple[Study, ...] = (OVERHEAD, LIBRARIES, FORMATS, LEARNING)


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add a command for each experiment."""
    names: Any = verb.add_subparsers(dest="study", metavar="NAME", title="experiments")
    names.required = True
    for study in STUDIES:
        options = names.add_parser(study.name, help=study.help, description=study.description)
        study.add_options(options)
        options.add_argument(
            "--quick", action="store_true", help="take some minutes; figures are less precise"
        )
        options.add_argument(
            "--out",
            type=Path,
            metavar="FOLDER",
            help="where results, figures and report go (default: penstock-NAME here)",
        )
        options.add_argument(
            "--fresh", action="store_true", help="forget what was measured before in that folder"
        )
        options.add_argument(
            "--redraw",
            action="store_true",
            help="measure nothing: draw tables and figures again from results.json",
        )
        options.add_argument("--json", action="store_true", help="print the findings as JSON")
        options.set_defaults(chosen_study=study)


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, write the report, and print the findings."""
    from penstock.experiments.experiment import redraw
    from penstock.experiments.experiment import run as run_experiment
    from penstock.experiments.journal import FILE_NAME
    from penstock.experiments.pages import REPORT_NAME

    study: Study = args.chosen_study
    folder = args.out or Path(f"penstock-{study.name}")
    if args.redraw:
        findings = redraw(study.name, study.draw, folder)
    else:
        findings = run_experiment(study.make(args), folder, fresh=args.fresh)
    files = {"report": str(folder / REPORT_NAME), "results": str(folder / FILE_NAME)}
    told = [*findings.lines(), "", f"report: {files['report']}", f"results: {files['results']}"]
    tell(args, findings.to_dict() | files, told)
    return 0


VERBS = (
    Verb(
        "experiment",
        "re-run a study's experiment on this machine and draw its figures",
        "Measures what a study measured, on this machine, and judges its claims. What was "
        "measured is kept as it is made: after Ctrl-C the same command goes on.",
        add_options,
        run,
        json=False,
    ),
)
