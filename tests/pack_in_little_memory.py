"""Runs `penstock pack` with different arguments, each in a process that has little memory.

Takes the arguments of each by name, as JSON, and answers with exit code, errors and peak.
"""

import json
import os
import resource
import sys
import tempfile
from pathlib import Path

import h5py  # noqa: F401 (all that may be needed is there before memory is short)
import lmdb  # noqa: F401
import pyarrow.parquet
import yaml  # noqa: F401

import penstock.packing.pack  # noqa: F401
from penstock.cli.main import main

MOST_BYTES = 500 << 20  # beyond what the process has when it begins
DEADLY = 70


def pack(arguments, errors):
    """Never returns."""
    os.dup2(errors.fileno(), 1)
    os.dup2(errors.fileno(), 2)
    pyarrow.set_cpu_count(1)
    status = Path("/proc/self/status").read_text()
    has = int(status.partition("VmData:")[2].split()[0]) << 10
    # Maps of files do not count, which only take what is looked at.
    resource.setrlimit(resource.RLIMIT_DATA, (has + MOST_BYTES, has + MOST_BYTES))
    code = DEADLY
    try:
        code = main(["pack", "--threads", "2", *arguments])
    finally:
        sys.stderr.flush()
        os._exit(code)


answers = {}
for name, arguments in json.load(sys.stdin).items():
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            pack(arguments, errors)
        _, status = os.waitpid(child, 0)
        errors.seek(0)
        answers[name] = os.waitstatus_to_exitcode(status), errors.read().decode()
json.dump(answers, sys.stdout)
