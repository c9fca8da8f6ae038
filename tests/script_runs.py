"""Scripts of users, started with `penstock run` and without."""

import signal
import subprocess
import sys

import pytest

from scripts_environment import environment_for

LOOP = """
import os, sys, threading, time
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.zeros(40, 3, 4, 4)), batch_size=4)
for number, (images,) in enumerate(loader):
    {body}
"""


def command(*arguments):
    """Return the command that runs a script under penstock."""
    return [sys.executable, "-m", "penstock.cli.main", "run", *map(str, arguments)]


def run(script, *arguments, options=()):
    """Run a script under penstock."""
    return _finish(command(*options, script, *arguments), script)


def plain(script, *arguments):
    """Run a script as Python does."""
    return _finish([sys.executable, str(script), *arguments], script)


def start(script, *options):
    """Start a script under penstock, in a group of processes of its own, as a terminal would."""
    pytest.importorskip("torch")
    return subprocess.Popen(
        command(*options, script),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment_for(script),
        start_new_session=True,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 (it takes no lock)
    )


def _heed_interrupts():
    """Undo what shells do to jobs in the background, and those to their children: ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _finish(arguments, script):
    pytest.importorskip("torch")
    return subprocess.run(
        arguments,
        cwd=script.parent,
        env=environment_for(script),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
