"""The environment in which tests start scripts of users."""

import os
from pathlib import Path

import pytest

from penstock.demo.torchvision_import import import_torchvision


def environment_for(script: Path) -> dict[str, str]:
    """Return an environment in which `script` can import torchvision; skip where it cannot."""
    if "torchvision" in script.read_text(encoding="utf-8"):
        try:
            import_torchvision()
        except ImportError as error:
            pytest.skip(f"torchvision cannot be imported: {error}")
    # One thread of torch's: its own and the workers' would fight for few cores.
    return os.environ | {"OMP_NUM_THREADS": "1"}
