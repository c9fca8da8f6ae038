"""Each planted bottleneck is found; `python -m tests.analysis.bottlenecks` counts how often."""

import sys

import pytest

from analysis.bottlenecks.__main__ import run_script, scripts
from penstock.usable_cores import usable_cores

NEED_CORES = {"too_few_workers", "interpreter_lock"}


@pytest.mark.quiet
@pytest.mark.skipif(sys.platform != "linux", reason="queueing for a core shows on Linux only")
@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.stem)
def test_bottleneck_is_named(script, torchvision):
    if script.stem in NEED_CORES and usable_cores() < 2:
        pytest.skip("needs two cores")
    done = run_script(script)

    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_nine():
    assert len(scripts()) == 9
