"""A step and a loader on the same cores: told from CPU times alone."""

import pytest

from penstock.watching.shared_cores import CpuUse, Range

# A small network on two cores: its loader takes 40 % of their time.
CONTENDED = CpuUse(
    cores=2, wall_s=3.5e-3, loading_s=2.8e-3, step_s=4.2e-3, step_cores=1.4, queued_s=2.2e-3
)


def changed(**changes):
    fields = {name: getattr(CONTENDED, name) for name in CONTENDED.__slots__}
    return CpuUse(**(fields | changes))


def test_shares():
    assert CONTENDED.busy == pytest.approx(1.0)
    assert CONTENDED.loading_share == pytest.approx(0.4)
    assert CONTENDED.is_contended


@pytest.mark.parametrize(
    "changes",
    [
        {"step_cores": 0.2},  # it starts work on a GPU
        {"wall_s": 7e-3, "queued_s": 0.0},  # half of the cores' time is left
        {"loading_s": 0.2e-3, "wall_s": 2.2e-3},  # there is little to gain
    ],
)
def test_no_contention(changes):
    assert not changed(**changes).is_contended


def test_threads_that_queue_show_that_others_use_the_cores():
    use = changed(wall_s=10e-3, queued_s=8e-3)

    assert use.is_contended
    assert not use.is_busy


def test_a_cheaper_loader_speeds_the_step_up():
    gain = CONTENDED.gain_of_cheaper_loading()

    assert 1.3 < gain.low < gain.high < 3.0
    assert gain.high > 7.0 / (2.8 / 5 + 4.2)  # with all of the step's CPU time as it is now


def test_a_loader_of_the_same_cost_brings_nothing_but_less_spinning():
    gain = changed(step_cores=1.0).gain_of_cheaper_loading(times=1.0)

    assert (gain.low, gain.high) == pytest.approx((1.0, 1.0))


def test_a_step_in_one_thread_spins_for_no_other():
    one, two = changed(step_cores=1.0), changed(step_cores=1.4)

    assert one.gain_of_cheaper_loading().high < two.gain_of_cheaper_loading().high


def test_how_a_range_is_said():
    assert str(Range(1.31, 1.74)) == "about 1.3 to 1.7 times"
    assert str(Range(1.97, 2.03)) == "about 2.0 times"
