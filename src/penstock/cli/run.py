"""`penstock run`: run a training script, then say what its loaders cost it."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli.output import complain
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.analysis.found_loaders import FoundLoader
    from penstock.analysis.run_script import Outcome
    from penstock.analysis.watch_report import WatchReport

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 (has no public name)


def add_verb(verbs: Verbs, shared: argparse.ArgumentParser) -> None:
    """Add `run` to the verbs of the command line."""
    del shared  # here --json names a file: stdout is the script's
    verb = verbs.add_parser(
        "run",
        help="run a training script and say whether it waits for its data",
        description="Runs a PyTorch script without changes. When it ends, whether normally, by "
        "Ctrl-C or by a crash, a verdict for each of its loaders is printed to stderr; the exit "
        "code is that of the script.",
    )
    verb.add_argument("--json", type=Path, metavar="FILE", help="also write the result to FILE")
    verb.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT is a module's name")
    verb.add_argument("script", metavar="SCRIPT", help="the script, as for python")
    verb.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the script with its loaders timed; return its exit code."""
    from penstock.analysis.found_loaders import FoundLoaders
    from penstock.analysis.run_script import run_script, script_folder
    from penstock.analysis.script_end import ScriptEnd

    json_file = None if args.json is None else _checked(args.json)
    loaders = FoundLoaders(script_folder(args.script, is_module=args.is_module))
    loaders.watch_known_libraries()

    def tell(outcome: Outcome, seconds: float) -> None:
        with suppress(ValueError):  # the script may have closed it
            sys.stdout.flush()
        _print(args, outcome, seconds, loaders.found)
        if json_file is not None:
            _write(json_file, _to_dict(args, outcome, seconds, loaders.found))
        loaders.close()

    end = ScriptEnd(tell)
    end.outcome = run_script(args.script, args.arguments, is_module=args.is_module)
    return end.outcome.exit_code


def _checked(file: Path) -> Path:
    """Return where to write: checked before a script runs for days, which may change folder."""
    if not file.resolve().parent.is_dir():
        raise PenstockError(f"run: cannot write {file}: there is no such folder.")
    if file.is_dir():
        raise PenstockError(f"run: cannot write {file}: it is a folder. Name a file.")
    return file.resolve()


def _write(file: Path, result: dict[str, Any]) -> None:
    try:
        file.write_text(json.dumps(result) + "\n", "utf-8")
    except OSError as error:  # too late to end with an error: the exit code is the script's
        complain(f"cannot write {file}: {error.strerror}")


def _to_dict(
    args: argparse.Namespace, outcome: Outcome, seconds: float, found: list[FoundLoader]
) -> dict[str, Any]:
    return {
        "script": args.script,
        "arguments": args.arguments,
        "ended": outcome.ended,
        "exit_code": outcome.exit_code,
        "seconds": seconds,
        "loaders": [{"where": one.where, **one.report().to_dict()} for one in found],
    }


def _share(report: WatchReport) -> str:
    """Return the share waited that the verdict rests on."""
    from penstock.analysis.results import Verdict

    if not report.waits_ms:
        return "?"
    is_start_up = report.verdict is Verdict.START_UP
    return f"{report.waited_share if is_start_up else report.later_waited_share:.0%}"


def _ending(outcome: Outcome) -> str:
    if outcome.ended == "exited":
        return f"exited with code {outcome.exit_code}"
    by_signal = outcome.ended in {"interrupted", "terminated"}
    return f"was {outcome.ended}" if by_signal else outcome.ended


def _print(
    args: argparse.Namespace, outcome: Outcome, seconds: float, found: list[FoundLoader]
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from penstock.cli.next_step import ScriptObjects
    from penstock.printable import safe_console

    console = safe_console(stderr=True, highlight=False, markup=False)
    console.print(f"\npenstock: the script {_ending(outcome)} after {seconds:,.1f} s")
    if not found:
        console.print("It iterated over no DataLoader and no penstock Loader in this process.")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("", "verdict"):
        table.add_column(name)
    for name in ("waited", "images/s", "steps", "first batch"):
        table.add_column(name, justify="right")
    reports = [one.report() for one in found]
    objects = ScriptObjects(args.script, is_module=args.is_module)
    for number, report in enumerate(reports, start=1):
        rate, first_s = report.images_per_s, report.first_batch_s
        table.add_row(
            str(number),
            report.verdict.value,
            _share(report),
            "?" if rate is None else f"{rate:,.0f}",
            f"{report.steps:,}",
            "none" if first_s is None else f"{first_s:,.2f} s",
        )
    console.print(table)
    for number, (one, report) in enumerate(zip(found, reports, strict=True), start=1):
        where = "" if one.where is None else f", iterated over at {one.where}"
        console.print(f"{number}  {report.loader.describe()}{where}", soft_wrap=True)
        console.print(f"   {report.sentence}", soft_wrap=True)
        for line in report.inside_lines():
            console.print(f" {line}", soft_wrap=True)
        step = objects.next_step(one, report)
        if step is not None:
            console.print(f"   Next: {step}", soft_wrap=True)
