"""Each planted bottleneck is found; `python -m tests.analysis.bottlenecks` counts how often."""

import sys

import pytest

from analysis.bottlenecks.__main__ import run_script, scripts
from penstock.analysis.cores import available_cores

ATTEMPTS = 3  # other work on the machine may hide a bottleneck; it cannot make one up thrice
NEED_CORES = {"too_few_workers", "interpreter_lock"}


@pytest.mark.skipif(sys.platform != "linux", reason="queueing for a core shows on Linux only")
@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.stem)
def test_bottleneck_is_named(script, torchvision):
    if script.stem in NEED_CORES and available_cores() < 2:
        pytest.skip("needs two cores")
    for _ in range(ATTEMPTS):
        done = run_script(script)
        if done.returncode == 0:
            return
    pytest.fail(done.stdout + done.stderr)


def test_there_are_nine():
    assert len(scripts()) == 9
