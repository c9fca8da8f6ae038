"""Loaders in processes of their own: answers, failures and farewells."""

import time

import pytest

from fake_loaders import FakeSide, UnmakeableSide
from penstock.demo.loaders import Work
from penstock.demo.passes import LoaderProcess, Pass
from penstock.errors import LoaderError

WORK = Work("folder", "photos.pen", 64)


def test_calls_are_answered() -> None:
    with LoaderProcess("fake", FakeSide, WORK) as process:
        assert process.call("run_pass", 2) == Pass(100, 0.5, 0.25)
        assert process.call("run_pass", 1) == Pass(100, 1.0, 0.25)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("penstock", "fake: class_0/1.jpg: not an image."),
        ("die", r"fake: its process ended by itself \(exit code 7\)"),
        ("divide", "fake: stopped with ZeroDivisionError: division by zero"),
    ],
)
def test_failures_name_the_loader(how: str, message: str) -> None:
    with (
        LoaderProcess("fake", FakeSide, WORK) as process,
        pytest.raises(LoaderError, match=message),
    ):
        process.call("fail", how)


def test_a_loader_that_cannot_be_made_says_why() -> None:
    with (
        pytest.raises(LoaderError, match="fake: stopped with ImportError: No module named 'torch'"),
        LoaderProcess("fake", UnmakeableSide, WORK),
    ):
        pass


def test_an_interrupt_ends_a_busy_process() -> None:
    started_s = time.monotonic()
    process = LoaderProcess("fake", FakeSide, WORK)
    with pytest.raises(KeyboardInterrupt), process:
        _interrupt(process)
    assert not process._process.is_alive()
    assert time.monotonic() - started_s < 30


def _interrupt(process: LoaderProcess) -> None:
    process._connection.send(("sleep", (60,)))
    raise KeyboardInterrupt
