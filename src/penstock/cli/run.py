"""`penstock run`: run a training script, then say what its loaders cost it."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO

from penstock.cli.in_script.sitecustomize import PREFIX, own_stderr, print_last
from penstock.cli.shared import Verb
from penstock.errors import PenstockError
from penstock.printable import MOST_PER_LINE, printable, safe_console

if TYPE_CHECKING:
    from penstock.cli.run_ranks import Result
    from penstock.watching.report import WatchReport
    from penstock.watching.script import Outcome, ScriptLoader


LAUNCHERS = {"torch.distributed.run", "torch.distributed.launch"}  # start a process per rank
TORCHRUN = "torchrun"
COERCED = {"C.UTF-8", "C.utf8", "UTF-8"}  # what Python sets LC_CTYPE to


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    # --json names a file here: stdout is the script's.
    verb.add_argument("--json", type=Path, metavar="FILE", help="also write the result to FILE")
    verb.add_argument(
        "--trace",
        type=Path,
        metavar="FILE",
        help="also write waits, steps and stages to FILE, for chrome://tracing or Perfetto",
    )
    verb.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT is a module's name")
    verb.add_argument("script", metavar="SCRIPT", help="the script, as for python; - is stdin")
    verb.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")


def run(args: argparse.Namespace) -> int:
    """Become a Python that runs the script, with `in_script` watching it."""
    if args.script == TORCHRUN and not args.is_module and not os.path.exists(TORCHRUN):
        args.script = shutil.which(TORCHRUN) or TORCHRUN
    if not args.is_module and args.script != "-" and not os.path.exists(args.script):
        raise PenstockError(f"run: there is no script {args.script!r}. Check the path.")
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise PenstockError(
            "run: this Python was started with -E, -I or -S, which keeps penstock out of the "
            "script as well. Start it without these options."
        )
    command = [sys.executable, *_options_of_python(), *(["-m"] if args.is_module else [])]
    command += [args.script, *args.arguments]
    environment = _environment(args)
    try:
        return _become(command, environment)
    except OSError as error:
        raise PenstockError(f"run: cannot start {command[0]!r}: {error.strerror}.") from error


def _become(command: list[str], environment: dict[str, str]) -> int:
    """Replace this process by another, so that its id, its signals and its end are the other's."""
    if sys.platform != "win32":
        os.execve(command[0], command, environment)  # noqa: S606 (it is what the user asked for)
    import signal
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the script's
    return subprocess.call(command, env=environment)  # noqa: S603 (it is what the user asked for)


def _options_of_python() -> list[str]:
    """Return what stood before our name on the command line, as in `python -O -m penstock...`."""
    ours = len(sys.orig_argv) - len(sys.argv)  # where our name is
    if sys.argv[0] == "-c" or sys.orig_argv[ours + 1 :] != sys.argv[1:]:
        return []  # another program called us
    options = sys.orig_argv[1:ours]
    is_module = getattr(sys.modules["__main__"], "__spec__", None) is not None
    if is_module and options:
        last = options.pop().removesuffix("m")  # of -m, or -um
        options += [last] if last != "-" else []
    return options


def _environment(args: argparse.Namespace) -> dict[str, str]:
    """Return the variables with which Python finds `in_script`, which takes them away again."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "in_script")
    if os.pathsep in folder:
        raise PenstockError(
            f"run: penstock is installed in {folder}, and Python finds nothing in folders with "
            f"{os.pathsep!r} in their path. Install it elsewhere."
        )
    environment = dict(os.environ)
    _forget_coerced_locale(environment)
    scripts_path = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = f"{folder}{os.pathsep}{scripts_path}" if scripts_path else folder
    if scripts_path is not None:
        environment[f"{PREFIX}PYTHONPATH"] = scripts_path
    environment[f"{PREFIX}SCRIPT"] = args.script
    environment[f"{PREFIX}IS_MODULE"] = "yes" if args.is_module else ""
    environment[f"{PREFIX}COUNT"] = str(len(args.arguments))
    environment[f"{PREFIX}FOLDER"] = _script_folder(args)
    environment[f"{PREFIX}JSON"] = "" if args.json is None else str(_checked(args.json))
    environment[f"{PREFIX}TRACE"] = "" if args.trace is None else str(_checked(args.trace))
    if _is_launcher(args):
        environment[f"{PREFIX}RANKS_OF"] = secrets.token_hex(8)
    return environment


def _is_launcher(args: argparse.Namespace) -> bool:
    """Tell whether the script is torchrun: then the scripts that it starts are watched, not it."""
    if args.is_module:
        return bool(args.script in LAUNCHERS)
    return bool(os.path.basename(args.script) == TORCHRUN)


def _forget_coerced_locale(environment: dict[str, str]) -> None:
    """Undo what Python does where no language is set (PEP 538), or the next one would not do it."""
    is_asked_for = "utf8" in sys._xoptions or environment.get("PYTHONUTF8")  # noqa: SLF001
    if sys.flags.utf8_mode and not is_asked_for and environment.get("LC_CTYPE") in COERCED:
        environment["LC_CTYPE"] = "C"


def _script_folder(args: argparse.Namespace) -> str:
    """Return where the script's own files are."""
    if args.is_module or args.script == "-":
        try:
            return os.getcwd()
        except OSError:  # it was removed
            return os.sep
    script: str = os.path.realpath(args.script)
    return script if os.path.isdir(script) else os.path.dirname(script)


class WatchedScript:
    """A script that runs, in its own process: from when it imports a library with loaders."""

    def __init__(self, asked: Mapping[str, str], started_s: float) -> None:
        from penstock.cli.run_ranks import find_rank
        from penstock.watching.script import ScriptEnd, ScriptLoaders
        from penstock.watching.trace import Trace

        main = sys.modules.get("__main__")
        self.name = asked["SCRIPT"]
        self.is_module = bool(asked["IS_MODULE"])
        self.arguments = sys.orig_argv[-int(asked["COUNT"]) :] if int(asked["COUNT"]) else []
        self.file: str | None = getattr(main, "__file__", None)  # no longer known at the end
        self._json_file = Path(asked["JSON"]) if asked["JSON"] else None
        self._rank = find_rank(os.environ, asked.get("RANKS_OF", ""))
        self._trace_file = Path(asked["TRACE"]) if asked["TRACE"] else None
        self._trace = Trace(self.name) if self._trace_file is not None else None
        self._started_s = started_s
        self._end = ScriptEnd(self._tell)
        self._loaders = ScriptLoaders(
            asked["FOLDER"], on_find=self._end.be_prepared, trace=self._trace
        )

    def watch(self, library: ModuleType) -> None:
        """Time the loaders of a library that was just imported."""
        self._loaders.watch_library(library)

    def end(self, ended: str) -> None:
        """Say what was seen, if nobody has yet."""
        from penstock.watching.script import Outcome

        self._end.speak(Outcome.seen_by_python(ended))

    def _tell(self, outcome: Outcome) -> None:
        seconds, found = time.perf_counter() - self._started_s, self._loaders.found
        from penstock.watching.script import later_sigterm

        for name in ("stdout", "stderr"):
            with suppress(Exception):  # the script may have closed it, or put in anything at all
                getattr(sys, name).flush()
        with later_sigterm() if self._rank is not None else nullcontext():
            try:
                together = self._put_together(outcome, seconds, found)
            except OSError:  # then each rank speaks for itself
                together = None
            if together is None or together:
                self._write_trace(together)
                self._print_and_write(outcome, seconds, found, together)
        self._loaders.close()

    def _put_together(
        self, outcome: Outcome, seconds: float, found: list[ScriptLoader]
    ) -> Sequence[Result] | None:
        """Return what all ranks found; none if another one speaks; None if there is one process."""
        if self._rank is None:
            return None
        from penstock.cli.next_step import ScriptObjects
        from penstock.cli.run_ranks import hand_in
        from penstock.watching.ranks import mean_step

        result = _to_dict(self, outcome, seconds, found) | {
            "rank": self._rank.number,
            "ending": _ending(outcome),
        }
        if self._trace is not None:
            self._loaders.finish_trace()
            result["trace"] = self._trace.events(f"rank {self._rank.number}")
        objects = ScriptObjects(self.name, self.file, is_module=self.is_module)
        for loader, one in zip(result["loaders"], found, strict=True):
            report = one.report()
            loader["mean_step"] = mean_step(one.times)
            loader["described"] = report.loader.describe()
            loader["inside_lines"] = report.inside_lines()
            loader["next"] = objects.next_step(one, report)
        return hand_in(self._rank, result) or ()

    def _print_and_write(
        self,
        outcome: Outcome,
        seconds: float,
        found: list[ScriptLoader],
        together: Sequence[Result] | None,
    ) -> None:
        from penstock.cli.run_ranks import print_together, together_as_dict

        stderr = own_stderr()
        if stderr is not None:
            with suppress(OSError), stderr:
                if together is not None and self._rank is not None:
                    print_together(together, self._rank, stderr)
                else:
                    _print(self, outcome, seconds, found, stderr)
        if self._json_file is not None:
            alone = _to_dict(self, outcome, seconds, found) if together is None else {}
            _write(self._json_file, alone or together_as_dict(together or ()))

    def _write_trace(self, together: Sequence[Result] | None) -> None:
        if self._trace is None or self._trace_file is None:
            return
        from penstock.watching.trace import write_events

        if together is None:
            self._loaders.finish_trace()
            events = self._trace.events()
        else:
            events = [event for result in together for event in result.pop("trace", ())]
        try:
            write_events(self._trace_file, events)
        except PenstockError as error:  # too late to end with an error
            print_last(f"penstock: {printable(str(error), MOST_PER_LINE)}\n")


def _checked(file: Path) -> Path:
    """Return where to write: checked before a script runs for days, which may change folder."""
    if not file.resolve().parent.is_dir():
        raise PenstockError(f"run: cannot write {file}: the folder does not exist. Make it first.")
    if file.is_dir():
        raise PenstockError(f"run: cannot write {file}: it is a folder. Name a file.")
    return file.resolve()


def _write(file: Path, result: dict[str, Any]) -> None:
    try:
        file.write_text(json.dumps(result) + "\n", "utf-8")
    except OSError as error:  # too late to end with an error: the exit code is the script's
        told = printable(f"penstock: cannot write {file}: {error.strerror}", MOST_PER_LINE)
        print_last(f"{told}\n")


def _to_dict(
    script: WatchedScript, outcome: Outcome, seconds: float, found: list[ScriptLoader]
) -> dict[str, Any]:
    return {
        "script": script.name,
        "arguments": script.arguments,
        "ended": outcome.ended,
        "exit_code": outcome.exit_code,
        "seconds": seconds,
        "loaders": [{"where": one.where, **one.report().to_dict()} for one in found],
    }


def _share(report: WatchReport) -> str:
    """Return the share waited that the verdict rests on."""
    from penstock.results.records import Verdict

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
    script: WatchedScript,
    outcome: Outcome,
    seconds: float,
    found: list[ScriptLoader],
    stderr: TextIO,
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from penstock.cli.next_step import ScriptObjects

    console = safe_console(file=stderr, highlight=False, markup=False)
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
    objects = ScriptObjects(script.name, script.file, is_module=script.is_module)
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


VERBS = (
    Verb(
        "run",
        "run a training script and say whether it waits for its data",
        "Runs a PyTorch script without changes, just as python does. When it ends, "
        "whether normally, by Ctrl-C or by a crash, a verdict for each of its loaders is printed "
        "to stderr; the exit code is that of the script.",
        add_options,
        run,
        json=False,
    ),
)
