"""`penstock run` names each planted cause; `python -m tests.watching.run_causes` counts it."""

import sys

import pytest

from penstock.usable_cores import usable_cores
from watching.run_causes.__main__ import CAUSES, try_once


@pytest.mark.quiet
@pytest.mark.skipif(sys.platform != "linux", reason="queueing for a core shows on Linux only")
@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.script)
def test_cause_is_named(cause, torchvision):
    if usable_cores() < 2:
        pytest.skip("needs two cores")
    trial = try_once(cause, show=False)

    assert trial.right, trial.sentence


def test_there_are_six():
    assert len(CAUSES) == 6
