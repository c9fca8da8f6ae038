"""Keeping to some of the cores."""

import os
import sys
import threading

import pytest

from penstock.usable_cores import pinned_to, usable_cores

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system cannot pin")


def test_threads_that_are_there_already_are_pinned_too():
    is_over = threading.Event()
    older = threading.Thread(target=is_over.wait)
    older.start()
    allowed = os.sched_getaffinity(0)
    try:
        with pinned_to(1):
            assert usable_cores() == 1
            assert len(os.sched_getaffinity(older.native_id)) == 1
        assert os.sched_getaffinity(older.native_id) == allowed
    finally:
        is_over.set()
        older.join()


def test_an_error_inside_gives_the_cores_back():
    allowed = os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="inside"), pinned_to(1):
        raise ValueError("inside")

    assert os.sched_getaffinity(0) == allowed
