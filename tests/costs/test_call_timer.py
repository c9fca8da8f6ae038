"""Calls are timed right, be they short, long or disturbed."""

from itertools import count
from time import perf_counter

import pytest

from clocks import TickingClock
from penstock.costs import call_timer
from penstock.costs.call_timer import CallTimer
from penstock.costs.ops import time_ops
from penstock.costs.steps import Arguments


@pytest.fixture
def clock(monkeypatch):
    clock = TickingClock()
    monkeypatch.setattr(call_timer, "perf_counter", clock)
    monkeypatch.setattr(call_timer, "_preemptions", lambda: 0)
    return clock


@pytest.mark.parametrize("seconds", [0.2e-6, 5e-6, 99e-6, 101e-6, 0.02])
def test_the_clock_takes_no_part(seconds, clock):
    took_s, _ = CallTimer().time(lambda: clock.sleep(seconds))

    assert took_s == pytest.approx(seconds, rel=1e-3)


def test_short_calls_are_repeated_and_long_ones_are_not(clock):
    calls = []
    CallTimer().time(lambda: (calls.append(1), clock.sleep(10e-6)))
    short = len(calls)
    CallTimer().time(lambda: (calls.append(1), clock.sleep(1e-3)))

    assert short == 51
    assert len(calls) == short + 1


def test_a_disturbed_call_is_timed_again(clock, monkeypatch):
    switches = iter([0, 1, 1, 1])
    monkeypatch.setattr(call_timer, "_preemptions", lambda: next(switches))
    durations_s = iter([0.9, 0.2])

    took_s, _ = CallTimer().time(lambda: clock.sleep(next(durations_s)))

    assert took_s == pytest.approx(0.2)


def test_the_quickest_counts_where_all_are_disturbed(clock, monkeypatch):
    monkeypatch.setattr(call_timer, "_preemptions", count().__next__)
    durations_s = iter([0.9, 0.2, 0.4])

    assert CallTimer().time_single(lambda: clock.sleep(next(durations_s))) == pytest.approx(0.2)


def spin(microseconds):
    def op(image):
        end_s = perf_counter() + microseconds * 1e-6
        while perf_counter() < end_s:
            pass
        return image

    return op


@pytest.mark.quiet
def test_ops_of_known_length_are_timed_right():
    """A call itself takes some tenths of a microsecond, and belongs to the op."""
    lengths = [5, 20, 100, 1000]
    found = time_ops([spin(length) for length in lengths], [Arguments((None,))] * 12)

    for op, length in zip(found, lengths, strict=True):
        assert length <= op.microseconds <= 1.03 * length + 0.5
