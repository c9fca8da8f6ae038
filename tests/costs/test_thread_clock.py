import threading
import time

import pytest

from penstock.costs.interpreter import lock_share
from penstock.costs.thread_clock import Spent, StageClock


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
