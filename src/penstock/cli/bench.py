"""`penstock bench`: measure penstock and other libraries side by side, from a checkout."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from penstock.cli.shared import Verb
from penstock.errors import PenstockError

BENCHMARKS = Path("benchmarks") / "peer_process.py"  # what tells the folder from others of its name


def add_options(verb: argparse.ArgumentParser) -> None:
    """Take all arguments as they are, `--help` too: the benchmarks read them themselves."""
    verb.prefix_chars = "\0"  # so that nothing looks like an option of this parser
    verb.add_argument("arguments", nargs=argparse.REMAINDER)


def run(args: argparse.Namespace) -> int:
    """Run the benchmarks in a process of their own, which may import what is in the checkout."""
    checkout = find_checkout()
    paths = [str(checkout), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "benchmarks", *args.arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.call(command, env=environment)  # noqa: S603 (it is what the user asked for)


def find_checkout() -> Path:
    """Return the checkout that this package runs from, or else the one that is the current folder.

    The benchmarks and the pinned versions of other libraries are no part of a wheel.
    """
    here = Path(__file__).resolve().parents[3]
    for folder in (here, Path.cwd()):
        if (folder / BENCHMARKS).is_file() and (folder / "requirements" / "peers").is_dir():
            return folder
    raise PenstockError(
        "bench: the benchmarks are not part of an installed penstock. Run it in a checkout of "
        f"penstock's source, which has the folder benchmarks; {Path.cwd()} is none."
    )


VERBS = (
    Verb(
        "bench",
        "measure penstock and other libraries side by side (from a checkout)",
        "Measures penstock and its peers in turn, each in a process and an environment of its own.",
        add_options,
        run,
        json=False,
    ),
)
