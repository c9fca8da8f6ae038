"""Others who use the cores are noticed."""

import os

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
