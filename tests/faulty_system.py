"""Child processes in which threads cannot be started, or files cannot be opened or read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

PRELUDE = """
import ctypes, errno, os, sys, threading, time
_system = ctypes.CDLL(None)
def allow_threads(count):
    ctypes.c_int.in_dll(_system, "faulty_threads_left").value = count
def fail(path, *, opening=0, reading=0):
    (ctypes.c_char * 256).in_dll(_system, "faulty_path").value = os.fsencode(path)
    ctypes.c_int.in_dll(_system, "faulty_open_errno").value = opening
    ctypes.c_int.in_dll(_system, "faulty_read_errno").value = reading
def tasks():
    return set(os.listdir("/proc/self/task"))
def left_running(before):
    # A thread that was joined may take a moment longer to vanish from /proc.
    for _ in range(500):
        if not tasks() - before:
            return False
        time.sleep(0.01)
    return True
"""

RunFaulty = Callable[..., str]


@pytest.fixture(scope="session")
def run_faulty(tmp_path_factory: pytest.TempPathFactory) -> RunFaulty:
    """Return a function that runs a script on a system that fails as it says; gives its stdout.

    The script has `allow_threads(count)`, `fail(path, opening=errno, reading=errno)` and
    `left_running(tasks())`.
    """
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler to make a faulty system with, or not Linux")
    library = tmp_path_factory.mktemp("faulty") / "faulty_system.so"
    source = Path(__file__).with_suffix(".c")
    made = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr

    def run(script: str, *, code: int = 0, **variables: str) -> str:
        environment = {**os.environ, "LD_PRELOAD": str(library), **variables}
        # NumPy's own threads would take from those that are allowed.
        environment.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(script)],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    return run
