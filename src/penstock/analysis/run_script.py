"""Run somebody's script in this process, as `python script.py ...` would."""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from types import ModuleType, TracebackType
from typing import Any

from penstock.errors import PenstockError

EXIT_CRASHED = 1
EXIT_INTERRUPTED = 130  # as shells report a program that Ctrl-C ended
NOT_THE_SCRIPTS = {__file__, runpy.__file__, "<frozen runpy>"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a script ended."""

    ended: str  # "finished", "exited", "crashed", "interrupted" or "terminated"
    exit_code: int


def script_folder(script: str, *, is_module: bool) -> str:
    """Return where the script's own files are; raise if there is no such script."""
    if is_module:
        package = script.partition(".")[0]
        if PathFinder.find_spec(package, [os.getcwd(), *sys.path]) is None:
            raise PenstockError(
                f"run: there is no module {package!r} here or among those installed. "
                "Start from the folder that holds it."
            )
        return os.getcwd()
    if not os.path.isfile(script):
        raise PenstockError(f"run: there is no script {script!r}. Check the path.")
    return os.path.dirname(os.path.abspath(script))


def run_script(script: str, arguments: Sequence[str], *, is_module: bool) -> Outcome:
    """Run a script, or a module by name, to its end, whatever that is.

    A crash is shown the way Python shows it, without our part of the traceback.
    """
    folder = script_folder(script, is_module=is_module)
    # Both stay: threads and exit functions of the script outlive its last line.
    sys.argv = [script, *arguments]
    if not getattr(sys.flags, "safe_path", False):  # else Python put nothing there (from 3.11 on)
        sys.path[0] = folder
    try:
        if is_module:
            _keep_as_main(runpy.run_module(script, run_name="__main__", alter_sys=True))
        else:
            _run_file(script)
    except SystemExit as exit_:
        return Outcome("exited", _exit_code(exit_))
    except BaseException as error:  # noqa: BLE001 (Python itself would end here too)
        error.__traceback__ = _scripts_part(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            return Outcome("interrupted", EXIT_INTERRUPTED)
        return Outcome("crashed", EXIT_CRASHED)
    return Outcome("finished", 0)


def _keep_as_main(names: dict[str, Any]) -> None:
    """Leave a module's objects where those of a script are, for whoever asks what it made."""
    main = ModuleType("__main__")
    main.__dict__.update(names)
    sys.modules["__main__"] = main


def _run_file(script: str) -> None:
    """Execute a file as `__main__`, which it stays: functions it left for exit may look there."""
    file = os.path.abspath(script)
    with io.open_code(file) as source:
        code = compile(source.read(), file, "exec")
    main = ModuleType("__main__")
    main.__file__ = file
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    exec(code, main.__dict__)  # noqa: S102 (it is what the user asked for)


def _exit_code(exit_: SystemExit) -> int:
    """Return the code; anything that is no number is a message for stderr, as in Python."""
    if exit_.code is None:
        return 0
    if isinstance(exit_.code, int):
        return exit_.code
    sys.stderr.write(f"{exit_.code}\n")
    return EXIT_CRASHED


def _scripts_part(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_frame.f_code.co_filename in NOT_THE_SCRIPTS:
        traceback = traceback.tb_next
    return traceback
