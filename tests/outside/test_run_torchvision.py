"""torchvision's own tests as a judge, where its source is at hand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(source):
    command = [sys.executable, "-m", "tests.outside.run_torchvision", "--source", str(source)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_torchvisions_tests_pass(torchvision):
    source = os.environ.get("PENSTOCK_TORCHVISION_SOURCE")
    if source is None:
        pytest.skip("no torchvision source: set PENSTOCK_TORCHVISION_SOURCE to its folder")

    ran = run(source)

    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-5000:]
    assert "     0 failed" in ran.stdout


def test_a_folder_without_the_tests_is_an_error(tmp_path):
    ran = run(tmp_path)

    assert ran.returncode == 2
    assert "test_transforms_v2.py" in ran.stdout
