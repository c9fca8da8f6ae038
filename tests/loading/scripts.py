"""Scripts that use a loader and end, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

BEGINNING = """
import os, threading
from penstock import Loader, LoaderError, PenstockError
from penstock import transforms as T

def expect_refusals(*attempts):
    for attempt in attempts:
        try:
            attempt()
        except LoaderError as error:
            assert "after a fork" in str(error)
        else:
            os._exit(9)

folder = {folder!r}
loader = Loader(folder, batch_size=2, transform=T.RandomResizedCrop(48), output="numpy")
"""


def run_script(folder: Path, body: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Run `body` with a `loader` over `folder`; its lines may be indented."""
    script = BEGINNING.format(folder=str(folder)) + textwrap.dedent(body)
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
