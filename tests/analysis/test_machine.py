"""Others who use the cores are noticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.analysis.machine import (
    CpuSeconds,
    busy_banner,
    caution_of_competing_load,
    competing_load,
    read_cpu_seconds,
    sum_cores,
)

STAT = """\
cpu  9 9 9 9 9 9 9 9 9 9
cpu0 100 10 20 800 30 5 5 30 100 10
cpu1 50 0 50 900 0 0 0 0 0 0
cpu2 900 0 0 100 0 0 0 0 0 0
intr 1 2 3
"""


def test_cores_of_ours_are_summed_and_guests_not_counted_twice():
    assert sum_cores(STAT.splitlines(), {0, 1}, 100) == pytest.approx((2.7, 20.0))


def test_what_is_not_ours_is_others():
    before = CpuSeconds(everybody=10.0, ours=4.0, passed=100.0)
    after = CpuSeconds(everybody=18.0, ours=7.0, passed=120.0)

    assert competing_load(before, after) == pytest.approx(0.25)


def test_beyond_a_quota_others_take_nothing_from_us():
    """Two of eight cores are ours: others may use six without our noticing."""
    before = CpuSeconds(everybody=0.0, ours=0.0, passed=0.0, ours_to_use=0.25)
    busy = CpuSeconds(everybody=70.0, ours=10.0, passed=80.0, ours_to_use=0.25)
    busier = CpuSeconds(everybody=80.0, ours=10.0, passed=80.0, ours_to_use=0.25)

    assert competing_load(before, busy) == 0.0
    assert competing_load(before, busier) == pytest.approx(0.5)


@pytest.mark.parametrize("after", [None, CpuSeconds(10.0, 4.0, 100.0)])
def test_nothing_is_told_where_nothing_is_known(after):
    share = competing_load(CpuSeconds(10.0, 4.0, 100.0), after)

    assert share is None
    assert caution_of_competing_load(share) == ()


def test_clocks_that_tick_apart_give_no_negative_share():
    before, after = CpuSeconds(10.0, 4.0, 100.0), CpuSeconds(11.0, 5.2, 102.0)

    assert competing_load(before, after) == 0.0


def test_much_other_work_is_told():
    assert "15% of the cores" in caution_of_competing_load(0.15)[0]
    assert caution_of_competing_load(0.05) == ()


def test_on_a_busy_machine_there_is_one_banner_and_nothing_else():
    assert "other programs used 48% of the cores" in busy_banner(0.48)
    assert caution_of_competing_load(0.48) == ()
    assert busy_banner(0.15) == busy_banner(None) == ""


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="the system shows no counters")
def test_this_system_is_read():
    assert read_cpu_seconds().passed > 0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_children_that_still_run_are_not_others():
    """As a DataLoader's workers are, and a server that processes are forked from."""
    burn = "import time\nwhile time.process_time() < 0.4: pass\nprint(flush=True)\ninput()"
    before = read_cpu_seconds()
    with subprocess.Popen(
        [sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        while_it_runs = read_cpu_seconds()
        child.communicate("\n")
    afterwards = read_cpu_seconds()

    assert while_it_runs.ours - before.ours >= 0.35
    assert afterwards.ours >= while_it_runs.ours
