"""Computing, sleeping and queueing are told apart, and calls are timed right, however short."""

import threading
import time
from itertools import count

import pytest

from clocks import TickingClock
from penstock.costs import clocks
from penstock.costs.clocks import CallTimer, Spent, StageClock, lock_share
from penstock.costs.dataset_costs import measure_transform
from penstock.costs.ops import Arguments


def spin(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_sleeping_and_computing_are_told_apart():
    clock = StageClock()
    with clock.stage("asleep"):
        time.sleep(0.05)
    with clock.stage("busy"):
        spin(0.05)
    clock.close()

    asleep, busy = clock.spent["asleep"], clock.spent["busy"]
    assert asleep.blocked_s > 0.04 > asleep.cpu_s
    assert busy.cpu_s > 0.04 > busy.blocked_s


def test_inner_stage_is_not_the_outer_ones():
    clock = StageClock()
    with clock.stage("outer"), clock.stage("inner"):
        spin(0.05)
    clock.close()

    assert clock.spent["inner"].cpu_s > 0.04 > clock.spent["outer"].cpu_s


def test_stage_ends_with_an_error():
    clock = StageClock()
    with pytest.raises(ValueError, match="odd"), clock.stage("failing"):
        raise ValueError("odd")
    with clock.stage("next"):
        pass
    clock.close()

    assert set(clock.spent) == {"failing", "next"}


def test_other_threads_pass_uncounted():
    clock = StageClock()

    def other():
        with clock.stage("theirs"):
            pass

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    clock.close()

    assert not clock.spent


def test_blocked_is_never_negative():
    assert Spent(wall=1, cpu=5, queued=5).blocked_s == 0


def test_python_holds_the_lock():
    assert lock_share(lambda: sum(range(20_000))) > 0.25


def test_native_code_lets_go_of_the_lock():
    numbers = bytes(4_000_000)
    import hashlib

    assert lock_share(lambda: hashlib.sha256(numbers).digest()) < 0.25


def test_error_of_the_function_is_raised():
    def fail():
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        lock_share(fail)


@pytest.fixture
def clock(monkeypatch):
    clock = TickingClock()
    monkeypatch.setattr(clocks, "perf_counter", clock)
    monkeypatch.setattr(clocks, "_preemptions", lambda: 0)
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
    monkeypatch.setattr(clocks, "_preemptions", lambda: next(switches))
    durations_s = iter([0.9, 0.2])

    took_s, _ = CallTimer().time(lambda: clock.sleep(next(durations_s)))

    assert took_s == pytest.approx(0.2)


def test_the_quickest_counts_where_all_are_disturbed(clock, monkeypatch):
    monkeypatch.setattr(clocks, "_preemptions", count().__next__)
    durations_s = iter([0.9, 0.2, 0.4])

    assert CallTimer().time_single(lambda: clock.sleep(next(durations_s))) == pytest.approx(0.2)


def spin_for(microseconds):
    """An op of known length: of CPU time, or of any where reading that clock takes too long."""
    clock = time.thread_time if microseconds >= 100 else time.perf_counter

    def op(image):
        end_s = clock() + microseconds * 1e-6
        while clock() < end_s:
            pass
        return image

    return op


@pytest.mark.quiet
def test_ops_of_known_length_are_timed_right():
    """A call itself takes some tenths of a microsecond, and belongs to the op."""
    lengths = [5, 20, 100, 1000]
    ops = [spin_for(length) for length in lengths]
    found = measure_transform(ops, [Arguments((None,))] * 12)

    for op, length in zip(found.as_op_costs(), lengths, strict=True):
        assert length <= op.microseconds <= 1.03 * length + 0.5
